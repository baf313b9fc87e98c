/* Memories in rows, with where, who and why. */

import { el } from "./dom.js";
import { time } from "./words.js";

const TIERS = {
  longterm: "long-term summary", recent: "short-term summary", window: "window", cleared: "cleared",
};

/** Rows for memories; `mark` is the number of the one to point at. */
export function memoryRows(memories, mark = 0) {
  return memories.map((memory) => el("li", {
    class: `memory ${memory.kind} ${memory.n === mark ? "marked" : ""}`, id: `memory-${memory.n}`,
    tabindex: "-1", "data-row": true,
  },
  el("a", { class: "number", href: `#memory/${memory.n}`, title: TIERS[memory.tier] }, String(memory.n)),
  el("span", { class: "what" }, memory.kind === "act" ? `> ${memory.text}` : memory.text),
  memory.times > 1 ? el("b", { title: "so often in a row" }, `×${memory.times}`) : null,
  el("small", {}, time(memory.at), ...about(memory))));
}

function about(memory) {
  const told = [memory.place && `at ${memory.place}`, memory.source && `by ${memory.source}`,
    memory.reason && `because: ${memory.reason}`];
  return told.filter(Boolean).map((each) => ` · ${each}`);
}

/** A summary with what it covers, folded to a line. */
export function summaryFold(summary, { open = false } = {}) {
  return el("details", { open, class: "summary", "data-row": true, tabindex: "-1" },
    el("summary", { "data-opens": true }, el("b", {}, summaryTitle(summary)), " ",
      el("small", {}, time(summary.at), ` · compaction ${summary.compaction} · ${summary.tokens} tokens`,
        summary.model ? ` · by ${summary.model}` : "")),
    el("pre", { class: "text prose" }, summary.text || "(empty)"));
}

/** Which summary, of what. */
export function summaryTitle(summary) {
  const kind = summary.kind === "longterm" ? "Long-term" : "Short-term";
  return `${kind} summary of memories ${summary.first}–${summary.last}`;
}
