/* Memories in rows, and summaries, folded to a line. Opened, one shows its words and the memories under it. */

import { act, actForm, field } from "./acting.js";
import { get } from "./api.js";
import { el, fill } from "./dom.js";
import { count, many, time } from "./words.js";

const PAGE = 50;

/** A summary of the agent with that number. */
export function summaryFold(id, summary, { open = false, changed = null } = {}) {
  const under = el("div", { class: "under" });
  const make = () => under.hasChildNodes() || fill(under, memoriesFold(id, summary.first, summary.last));
  const details = el("details", {
    open, class: `summary ${summary.undone ? "undone" : ""}`, "data-row": true, tabindex: "-1",
    "data-range": `${summary.first}-${summary.last}`, on: { toggle: () => details.open && make() },
  },
  el("summary", { "data-opens": true }, el("b", {}, summaryTitle(summary)), " ",
    summary.undone ? el("span", { class: "badge paused" }, "taken back") : null,
    el("small", {}, time(summary.at), ` · compaction ${summary.compaction} · ${many(summary.tokens, "token")}`,
      summary.model ? ` · by ${summary.model}` : "")),
  el("pre", { class: "text prose", dir: "auto" }, summary.text || "(empty)"),
  changed ? editForm(id, summary, changed) : null, under);
  return details;
}

/** Other words for a summary that stands; the words of before stay in the archive. */
function editForm(id, { kind, at, text }, changed) {
  const words = () => field("Its words", "text", { lines: 12, value: text, most: 8000 });
  return actForm("Change this summary", words, (said) => act(id, "summary", { ...said, kind, at }), changed);
}

/** Which summary, of what. */
export function summaryTitle(summary) {
  const kind = summary.kind === "longterm" ? "Long-term" : "Short-term";
  return `${kind} summary of memories ${summary.first}–${summary.last}`;
}

/** Memories word for word, folded to a line, and asked for when it is opened. */
export function memoriesFold(id, first, last) {
  const list = el("ol", { class: "memories" });
  const load = async (from) => {
    const { memories } = await get(`agents/${id}/memories`, { first: from, last: Math.min(from + PAGE - 1, last) });
    list.append(...memoryRows(memories));
    const next = (memories.at(-1)?.number ?? last) + 1;
    return next > last ? null : more(`The next of them, from ${count(next)} on`, () => load(next));
  };
  const words = first === last ? `Memory ${count(first)}` : `Memories ${count(first)}–${count(last)}`;
  return lazy(el("span", {}, `${words}, word for word`), () => [list, step(() => load(first))]);
}

/** Details whose inside is made when they are opened for the first time. */
function lazy(title, make) {
  const inside = el("div", { class: "under" });
  const details = el("details", { on: { toggle: () => {
    if (details.open && !inside.hasChildNodes()) fill(inside, make());
  } } }, el("summary", { "data-opens": true }, title), inside);
  return details;
}

/** A place that says that it looks, and then shows what `load` found, or why it could not. */
function step(load) {
  const place = el("div", {}, el("p", { class: "dim" }, "Looking …"));
  load().then((found) => fill(place, found), (problem) => fill(place,
    el("p", { class: "problem", role: "alert" }, problem.message, " ",
      el("button", { type: "button", on: { click: () => place.replaceWith(step(load)) } }, "Try again"))));
  return place;
}

function more(words, load) {
  const button = el("button", { type: "button", on: { click: () => button.replaceWith(step(load)) } }, words);
  return button;
}

/** Rows for memories; `mark` is the number of the one to point at, `ids` for the page's own list. */
export function memoryRows(memories, { mark = 0, ids = false } = {}) {
  return memories.map((memory) => el("li", {
    class: `memory ${memory.kind} ${memory.number === mark ? "marked" : ""}`, id: ids ? `memory-${memory.number}` : null,
    tabindex: "-1", "data-row": true,
  },
  el("a", { class: "number", href: `#memory/${memory.number}` }, String(memory.number)),
  el("span", { class: "what", dir: "auto" }, memory.kind === "act" ? `> ${memory.text}` : memory.text),
  memory.repeats > 1 ? el("b", { title: "so often in a row" }, `×${memory.repeats}`) : null,
  el("small", {}, time(memory.time), ...about(memory))));
}

function about(memory) {
  const told = [memory.place && `at ${memory.place}`, memory.source && `by ${memory.source}`,
    memory.reason && `because: ${memory.reason}`];
  return told.filter(Boolean).map((each) => [" · ", el("bdi", {}, each)]);
}
