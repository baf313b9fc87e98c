/* Memories in rows, and summaries, folded to a line. Opened, one shows its words, the memories under it, and what it was
 * made of: the summaries that stood before it, which open in the same way, down to the first one. */

import { act, actForm, field } from "./acting.js";
import { get } from "./api.js";
import { el, fill } from "./dom.js";
import { count, many, time } from "./words.js";

const PAGE = 50;
/** Compactions that are asked for at a time on the way back to the one that wrote a summary. */
const BACK = 10;

/** A summary of the agent with that number. */
export function summaryFold(id, summary, { open = false, changed = null } = {}) {
  const under = el("div", { class: "under" });
  const make = () => under.hasChildNodes() || fill(under, memoriesFold(id, summary.first, summary.last), originFold(id, summary));
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

function originFold(id, summary) {
  return lazy(el("span", {}, "What it was made of"), () => step(() => origin(id, summary)));
}

/** What the compaction that wrote a summary found: summaries of before, and raw memories. */
async function origin(id, summary) {
  const made = await writer(id, summary);
  if (!made) return el("p", { class: "dim" }, "That is not known any more: it was changed by hand, or its compaction is not in the archive.");
  const touches = (each) => each.first <= summary.last && each.last >= summary.first;
  const before = made.before.filter(touches);
  const [first, last] = [Math.max(made.first, summary.first), Math.min(made.last, summary.last)];
  const raw = made.first && first <= last ? memoriesFold(id, first, last) : null;
  return [el("p", { class: "dim" }, `Compaction ${made.number} wrote it, `, time(made.at), ", of:"),
    before.map((each) => summaryFold(id, each)), raw,
    before.length || raw ? null : el("p", { class: "dim" }, "nothing that the archive still tells of")];
}

/** The compaction after which a summary stood and before which it did not; null if none tells of it. */
async function writer(id, { kind, text, compaction }) {
  const stands = (all) => all.some((each) => each.kind === kind && each.text === text);
  for (let before = compaction + 1; before > 1;) {
    const { compactions } = await get(`agents/${id}/compactions`, { limit: BACK, before });
    const made = compactions.find((each) => stands(each.after) && !stands(each.before));
    if (made || !compactions.length) return made ?? null;
    before = compactions.at(-1).number;
  }
  return null;
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
