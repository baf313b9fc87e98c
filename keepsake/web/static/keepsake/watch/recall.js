/* Recall tried by hand: what the agent's own search finds, and by which parts of its score. */

import { bar } from "./agent_state.js";
import { get } from "./api.js";
import { announce, el, fill } from "./dom.js";
import { many, seconds } from "./words.js";

const LIMIT = 20;

/** The section "Recall" of an agent's page. */
export class Recall {
  #asked = 0;

  constructor(root, id) {
    this.id = id;
    this.question = el("input", {
      type: "search", required: true, maxlength: "500", placeholder: "Where does Edwin mend nets?", "aria-label": "Question",
    });
    this.view = el("div", {});
    fill(root,
      el("p", { class: "dim" }, "Searches what has left its window, as it does itself, with summaries and notes. It learns nothing of it."),
      el("form", { class: "tools", on: { submit: (event) => this.#ask(event) } }, this.question, el("button", {}, "Recall")),
      this.view);
  }

  /** There is nothing to load before somebody asks. */
  async load() {
    this.question.focus();
  }

  async #ask(event) {
    event.preventDefault();
    const asked = ++this.#asked;
    fill(this.view, el("p", { class: "dim" }, "Searching …"));
    try {
      const found = await get(`agents/${this.id}/recall`, { q: this.question.value, limit: LIMIT });
      if (asked === this.#asked) this.#draw(found);
    } catch (problem) {
      if (asked === this.#asked) fill(this.view, el("p", { class: "problem", role: "alert" }, problem.message));
    }
  }

  #draw(found) {
    const none = found.hits.length ? "" : ". What stands in its prompt word for word is not searched: see Memory";
    const words = `${many(found.hits.length, "hit")} for “${found.question}” in ${seconds(found.seconds)}${none}`;
    const most = Math.max(...found.hits.map((hit) => hit.score), 0);
    fill(this.view,
      found.problem ? el("p", { class: "problem", role: "alert" }, found.problem) : el("p", {}, words),
      el("ol", { class: "hits" }, found.hits.map((hit) => row(hit, most))));
    announce(found.problem || words);
  }
}

/** Where a hit stands among the memories; null for what stands elsewhere, as notes do. */
function placeOf(hit) {
  if (hit.kind === "note") return null;
  return `#memory/${hit.kind === "summary" ? hit.title.replace("memories ", "") : hit.n}`;
}

function titleOf({ kind, n, title }) {
  if (kind === "note") return `note: ${title}`;
  if (kind === "summary") return `short-term summary ${n} (${title})`;
  return kind === "memory" ? `memory ${n}` : `memory ${n}, ${kind}`;
}

/** A hit, with its score against the best one's; also of what a thought recalled. */
export function row(hit, most) {
  const href = placeOf(hit);
  const title = href ? el("a", { href, "data-opens": true }, titleOf(hit)) : el("b", { dir: "auto" }, titleOf(hit));
  return el("li", { "data-row": true, tabindex: "-1" },
    el("div", { class: "hit" }, title, bar(Math.max(hit.score, 0), most, hit.score.toFixed(2))),
    hit.text ? el("p", { class: "what", dir: "auto" }, hit.text) : null,
    hit.why ? el("small", { dir: "auto" }, hit.why) : null);
}
