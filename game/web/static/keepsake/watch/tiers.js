/* The tiers from memory 1 to now, to scale; opened, a tier shows the memories under it. */

import { get } from "./api.js";
import { announce, byId, el, fill } from "./dom.js";
import { memoryRows, summaryFold } from "./memory_list.js";
import { count, many } from "./words.js";

const PAGE = 50;
const NAMES = {
  cleared: "cleared", longterm: "long-term summary", recent: "short-term summary", window: "window, word for word",
};

/** The section "Memory" of an agent's page. */
export class Tiers {
  #tiers = null;
  #at = 0;

  constructor(root, id) {
    this.id = id;
    this.newer = el("button", { type: "button", hidden: true, on: { click: () => this.load() } }, "Show what is new");
    this.line = el("div", { class: "timeline" });
    this.jump = el("input", { type: "number", min: "1", required: true, placeholder: "number" });
    const go = el("form", { class: "tools", on: { submit: (event) => this.#jumped(event) } },
      el("label", {}, "Go to memory ", this.jump), el("button", {}, "Go"), this.newer);
    this.page = el("div", { class: "page-of-memories" });
    fill(root, this.line, go, this.page);
  }

  /** Something was remembered; the timeline stays as it is until somebody wants it. */
  outdated() {
    this.newer.hidden = this.#tiers === null;
  }

  async load(memory = 0) {
    this.#tiers = await get(`agents/${this.id}/tiers`);
    this.newer.hidden = true;
    this.#draw();
    if (!this.#tiers.total) return;
    if (memory) await this.show(Math.min(memory, this.#tiers.total), true);
    else await this.#open(this.#parts().at(-1));
  }

  /** Open the page that holds a memory, and point at it. */
  async show(memory, again = false) {
    if (this.#tiers === null || (memory > this.#tiers.total && !again)) return this.load(memory);
    const part = this.#parts().find((each) => memory <= each.last) ?? this.#parts().at(-1);
    if (!part || memory < 1) return undefined;
    const first = part.first + Math.floor((Math.max(memory, part.first) - part.first) / PAGE) * PAGE;
    await this.#open(part, first, memory);
    byId(`memory-${memory}`)?.focus();
    return undefined;
  }

  /** The tiers that hold anything, oldest first, without a gap. */
  #parts() {
    const { first, total, longterm, recent, window_first: window } = this.#tiers;
    const parts = [
      { tier: "cleared", first: 1, last: first - 1 },
      longterm && { tier: "longterm", first: longterm.first, last: longterm.last, summary: longterm },
      recent && { tier: "recent", first: recent.first, last: recent.last, summary: recent },
      { tier: "window", first: window, last: total },
    ];
    return parts.filter((part) => part && part.last >= part.first);
  }

  #draw() {
    const { total, window_tokens: tokens } = this.#tiers;
    if (!total) {
      fill(this.line, el("p", { class: "empty" }, "It remembers nothing yet."));
      return;
    }
    const parts = this.#parts();
    fill(this.line,
      el("div", { class: "tiers", role: "group", "aria-label": "Tiers of memory, oldest first" },
        parts.map((part) => this.#part(part))),
      el("p", { class: "ends" }, el("span", {}, "memory 1"), el("span", {}, `now: memory ${count(total)}`)),
      el("ul", { class: "legend" }, parts.map((part) => el("li", {}, el("span", { class: `swatch ${part.tier}` }),
        `${NAMES[part.tier]}: ${count(part.first)}–${count(part.last)}`,
        part.summary ? `, ${many(part.summary.tokens, "token")}` : part.tier === "window" ? `, ${many(tokens, "token")}` : ""))));
    this.jump.max = String(total);
  }

  #part(part) {
    const number = part.last - part.first + 1;
    const words = `${NAMES[part.tier]}, ${many(number, "memory", "memories")}: ${part.first} to ${part.last}`;
    return el("button", {
      type: "button", class: `tier ${part.tier}`, title: words, "aria-label": `Open the ${words}`,
      "data-row": true, "data-tier": part.tier, "data-opens": true, vars: { "--size": String(number) },
      on: { click: (event) => this.#open(part, pointed(event, part)).catch((problem) => this.#failed(problem)) },
    }, el("span", { class: "cursor", "aria-hidden": "true" }));
  }

  async #open(part, first = null, mark = 0) {
    // The window is read from its end, a summary from its beginning.
    const start = first ?? (part.tier === "window" ? Math.max(part.first, part.last - PAGE + 1) : part.first);
    const last = Math.min(start + PAGE - 1, part.last);
    const asked = ++this.#at;
    const found = await get(`agents/${this.id}/memories`, { first: start, last });
    if (asked !== this.#at) return; // somebody opened another page meanwhile
    this.#mark(part, start, last);
    fill(this.page,
      el("h3", {}, `${NAMES[part.tier][0].toUpperCase()}${NAMES[part.tier].slice(1)}`),
      part.summary ? summaryFold(part.summary, { open: true }) : null,
      this.#turns(part, start, last),
      el("ol", { class: "memories" }, memoryRows(found.memories, mark)),
      this.#turns(part, start, last),
      this.#before(found.before));
    announce(`Memories ${start} to ${last}.`);
  }

  #mark(part, first, last) {
    for (const button of this.line.querySelectorAll(".tier")) {
      button.toggleAttribute("aria-current", button.dataset.tier === part.tier);
    }
    const cursor = this.line.querySelector(`[data-tier=${part.tier}] .cursor`);
    const size = part.last - part.first + 1;
    cursor.style.setProperty("--from", `${((first - part.first) / size) * 100}%`);
    cursor.style.setProperty("--width", `${((last - first + 1) / size) * 100}%`);
  }

  #turns(part, first, last) {
    const turn = (name, to, possible) => el("button", {
      type: "button", disabled: !possible,
      on: { click: () => this.#open(part, to).catch((problem) => this.#failed(problem)) },
    }, name);
    return el("div", { class: "tools turns" },
      turn("← Older", Math.max(part.first, first - PAGE), first > part.first),
      el("span", {}, `memories ${count(first)}–${count(last)} of ${count(part.first)}–${count(part.last)}`),
      turn("Newer →", last + 1, last < part.last));
  }

  #before(summaries) {
    if (!summaries.length) return null;
    return el("section", {}, el("h3", {}, "What stood before for these memories"),
      el("p", { class: "dim" }, "Summaries that covered some of them and were replaced, newest first."),
      summaries.map((each) => summaryFold(each)));
  }

  #jumped(event) {
    event.preventDefault();
    location.hash = `#memory/${this.jump.value}`;
  }

  #failed(problem) {
    fill(this.page, el("p", { class: "problem" }, problem.message));
  }
}

/** The page of a long tier that was pointed at; null for a key, which opens it as usual. */
function pointed(event, part) {
  const box = event.currentTarget.getBoundingClientRect();
  const size = part.last - part.first + 1;
  if (event.detail === 0 || size <= PAGE) return null;
  const share = Math.min(Math.max((event.clientX - box.left) / box.width, 0), 0.9999);
  return part.first + Math.floor((share * size) / PAGE) * PAGE;
}
