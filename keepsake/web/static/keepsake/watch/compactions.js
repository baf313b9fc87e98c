/* Compactions, newest first: the summaries before and after each, and the words that changed. */

import { act, actButton, get } from "./api.js";
import { prose } from "./book.js";
import { count, el, fill, many, percent, seconds, time, whereLink } from "./dom.js";
import { Kept } from "./kinds.js";
import { memoriesFold, TIERS } from "./memories.js";
import { outcome, reason } from "./plain_words.js";
import { sentence } from "./sentences.js";

const LIMIT = 20;

/** The section "Compactions" of an agent's page. */
export class Compactions {
  #oldest = null;
  #newest = Infinity;

  constructor(root, id) {
    this.id = id;
    this.newer = el("button", { type: "button", hidden: true, on: { click: () => this.#try(() => this.load()) } },
      "Show the new compaction");
    this.undo = el("span", { hidden: true },
      actButton("Undo the last", "Sure? Its memories return to the window", () => act(id, "undo"), () => this.load()));
    this.list = el("ol", { class: "compactions" });
    this.note = el("p", { class: "dim" });
    const more = async () => this.#add(await get(`agents/${id}/compactions`, { limit: LIMIT, before: this.#oldest }));
    this.older = el("button", { type: "button", hidden: true, on: { click: () => this.#try(more) } }, "Show older ones");
    fill(root, el("div", { class: "tools" }, this.newer, this.undo), this.list, this.note, el("div", { class: "tools" }, this.older));
  }

  /** Offer a new compaction by a button, so that an open one is not closed while somebody reads it. */
  outdated({ number = 0 }) {
    if (number > this.#newest) this.newer.hidden = false;
  }

  async load() {
    const found = await get(`agents/${this.id}/compactions`, { limit: LIMIT });
    this.newer.hidden = this.undo.hidden = true;
    this.#newest = found[0]?.number ?? 0;
    fill(this.list);
    this.#add(found);
  }

  #add(compactions) {
    this.list.append(...compactions.map((made) => compaction(this.id, made)));
    this.#oldest = compactions.at(-1)?.number ?? this.#oldest;
    const shown = this.list.childElementCount;
    this.older.hidden = compactions.length < LIMIT;
    if (compactions.some((made) => !made.undone)) this.undo.hidden = false;
    this.note.className = "dim";
    fill(this.note, shown ? `${many(shown, "compaction")}` : "None yet: all its memories are in the window.");
  }

  async #try(work) {
    try {
      await work();
    } catch (problem) {
      this.note.className = "problem";
      fill(this.note, problem.message);
    }
  }
}

function compaction(id, made) {
  const saved = made.tokens_before ? 1 - made.tokens_after / made.tokens_before : 0;
  const folded = made.covered ? ` · memories ${made.covered.map(count).join("–")} summarised` : "";
  const details = el("details", { "data-agent": id, on: { toggle: () => details.open && show(details, made) } },
    el("summary", { "data-opens": true },
      el("b", {}, `Compaction ${made.number}`), made.undone ? el("span", { class: "badge paused" }, "undone") : null,
      el("span", {}, outcome(made.outcome)), saved > 0 ? null : el("span", { class: "problem" }, "saved nothing"), el("span", { class: "dim" }, reason(made.reason)),
      el("span", { class: "figure" }, `${count(made.tokens_before)} → ${count(made.tokens_after)} tokens (${saved < 0 ? "+" : "−"}${percent(Math.abs(saved))})`),
      el("small", {}, time(made.time), ` · ${seconds(made.seconds)} · ${many(made.calls, "model call")}${folded}`)),
    el("div", { class: "change" }));
  return el("li", { "data-row": true, tabindex: "-1", class: made.undone ? "undone" : "" }, details);
}

/** Fill a compaction when it is first opened: to compare all memories at once takes too long. */
function show(details, made) {
  const holder = details.querySelector(".change");
  if (holder.hasChildNodes()) return;
  const raw = made.covered ? memoriesFold(details.dataset.agent, ...made.covered) : null;
  const lost = el("div", {}, made.covered ? el("p", { class: "dim" }, "Comparing …") : null);
  fill(holder, lost, Object.keys(TIERS).map((kind) => change(kind, made)), raw);
  if (made.covered) losses(lost, details.dataset.agent, made.number);
}

// -- what became of each memory that was summarised

const KEPT = {
  [Kept.GONE]: ["Gone", "None of their telling words are in a summary."],
  [Kept.PARTLY]: ["Told shorter", "The words that no summary has are marked."],
  [Kept.WHOLE]: ["Told whole", "All their telling words are in a summary."],
};

async function losses(holder, id, number) {
  try {
    const { losses: found, complete } = await get(`agents/${id}/compactions/${number}/losses`);
    fill(holder, el("h3", {}, "What it lost"), Object.entries(KEPT).map(([kept, [title, words]]) => {
      const of = found.filter((each) => each.kept === kept);
      if (!of.length) return null;
      return el("details", { open: kept === Kept.GONE }, el("summary", {}, el("b", {}, title), ` ${many(of.length, "memory", "memories")}. `, el("small", {}, words)),
        el("ol", { class: "memories" }, of.map((each) => lossRow(id, each))));
    }), complete ? null : el("p", { class: "dim" }, "Only the first of its memories were compared."));
  } catch (problem) {
    fill(holder, el("p", { class: "problem", role: "alert" }, problem.message));
  }
}

function lossRow(id, { memory, kept, missing }) {
  const words = new Set(kept === Kept.PARTLY ? missing.map((word) => word.toLowerCase()) : []);
  const text = sentence(memory).split(/([\p{L}\p{N}\p{M}'’]+)/u).map((part) => (words.has(part.toLowerCase()) ? el("del", {}, part) : part));
  return el("li", { class: `memory ${memory.kind}${memory.confidants ? " whisper" : ""}`, "data-row": true, tabindex: "-1" },
    el("a", { class: "number", href: `#memory/${memory.number}`, "data-opens": true }, String(memory.number)),
    el("span", { class: "what", dir: "auto" }, text), el("small", {}, whereLink(id, memory.number)));
}

/** A summary before and after. A new short-term summary is of other memories than the one before, so only its text is shown. */
function change(kind, made) {
  const [before, after] = [made.before[kind], made.after[kind]];
  if (!before && !after) return null;
  const other = before && after && before.first !== after.first;
  const said = (summary) => (summary ? `${count(summary.first)}–${count(summary.last)}` : "nothing");
  return el("section", {}, el("h3", {}, TIERS[kind]),
    el("small", {}, other ? `of memories ${said(after)}; the one before, of ${said(before)}, went into the long-term summary`
      : `of memories ${said(before)}, then ${said(after)}`),
    el("div", { class: "words" }, other ? text(after) : changes(before, after)));
}

function text(summary) {
  if (!summary) return el("p", { class: "empty" }, "There was none.");
  return prose(summary.text);
}

/** Markdown without its marks, in which two versions are compared word by word. */
function plain(text) {
  return text.replace(/\[([^\]]+)\]\(#[^)]*\)/g, "$1").replace(/^[ ]*[-*] /gm, "• ").replaceAll("*", "");
}

function changes(before, after) {
  const [old, now] = [before, after].map((each) => plain(each?.text ?? ""));
  const parts = wordDiff(old, now);
  if (parts === null) return [el("p", { class: "dim" }, "Too long to compare. The new text:"), text(after)];
  if (parts.every(([how]) => how === "same")) return [el("p", { class: "dim" }, "No change."), text(after)];
  const tags = { same: "span", gone: "del", new: "ins" };
  return el("pre", { class: "text prose diff", dir: "auto" }, parts.map(([how, words]) => el(tags[how], {}, words)));
}

// -- the difference of two texts, word by word

/** The most pairs of words that are compared. */
const MOST = 4e6;

/** `[["same" | "gone" | "new", text], …]`, or null if the texts are too long. The space beside a word, and the bullet
 * before it, are shown as they are after the change, and are no difference. */
export function wordDiff(before, after) {
  const [a, b] = [before, after].map((text) => text.match(/(?:• )?\S+\s*|\s+/g) ?? []);
  if (a.length * b.length > MOST) return null;
  const [bare, other] = [a, b].map((words) => words.map((word) => word.replace(/^• /, "").trim()));
  const parts = [];
  const add = (how, text) => {
    if (parts.at(-1)?.[0] === how) parts.at(-1)[1] += text;
    else parts.push([how, text]);
  };
  const common = lengths(bare, other);
  const wide = b.length + 1;
  for (let i = 0, j = 0; i < a.length || j < b.length;) {
    if (i < a.length && j < b.length && bare[i] === other[j]) {
      add("same", b[j++]);
      i++;
    } else if (j === b.length || (i < a.length && common[(i + 1) * wide + j] >= common[i * wide + j + 1])) add("gone", a[i++]);
    else add("new", b[j++]);
  }
  return parts;
}

/** For each i and j, the length of the longest common subsequence of `a` from i and `b` from j. */
function lengths(a, b) {
  const wide = b.length + 1;
  const common = new Uint16Array((a.length + 1) * wide);
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      common[i * wide + j] = a[i] === b[j]
        ? common[(i + 1) * wide + j + 1] + 1
        : Math.max(common[(i + 1) * wide + j], common[i * wide + j + 1]);
    }
  }
  return common;
}
