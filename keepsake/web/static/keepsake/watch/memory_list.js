/* Memories in rows, with where, who and why. */

import { el } from "./dom.js";
import { time } from "./words.js";

const TIERS = {
  longterm: "long-term summary", recent: "short-term summary", window: "window", cleared: "cleared",
};

/** Rows for memories; `mark` is the number of the one to point at, `ids` for the page's own list. */
export function memoryRows(memories, { mark = 0, ids = false } = {}) {
  return memories.map((memory) => el("li", {
    class: `memory ${memory.kind} ${memory.n === mark ? "marked" : ""}`, id: ids ? `memory-${memory.n}` : null,
    tabindex: "-1", "data-row": true,
  },
  el("a", { class: "number", href: `#memory/${memory.n}`, title: TIERS[memory.tier] }, String(memory.n)),
  el("span", { class: "what", dir: "auto" }, memory.kind === "act" ? `> ${memory.text}` : memory.text),
  memory.times > 1 ? el("b", { title: "so often in a row" }, `×${memory.times}`) : null,
  el("small", {}, time(memory.at), ...about(memory))));
}

function about(memory) {
  const told = [memory.place && `at ${memory.place}`, memory.source && `by ${memory.source}`,
    memory.reason && `because: ${memory.reason}`];
  return told.filter(Boolean).map((each) => [" · ", el("bdi", {}, each)]);
}
