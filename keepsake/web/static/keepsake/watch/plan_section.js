/* The section "Plans" of an agent's page: what is next, its plans and promises, what it said, and its days. */

import { get } from "./api.js";
import { onDay } from "./clock.js";
import { dayLines, dayTables } from "./day.js";
import { count, el, fill, sameDay } from "./dom.js";
import { fileEditor } from "./editor.js";
import { PlanState } from "./kinds.js";
import { memoryRows } from "./memories.js";

const MARKS = {
  [PlanState.OPEN]: "",
  [PlanState.DOING]: "begun",
  [PlanState.DONE]: "done",
  [PlanState.DROPPED]: "given up",
  [PlanState.MISSED]: "missed",
};

/** What an agent means to do, and what became of its last plans. */
export class PlanSection {
  constructor(root, id) {
    this.id = id;
    this.list = el("ul", { class: "pins", "aria-label": "Plans" });
    this.ended = el("ul", { class: "pins", "aria-label": "Plans that have ended" });
    this.past = el("details", {}, el("summary", {}, "Plans that have ended"), this.ended);
    this.head = el("div", {});
    this.promises = el("div", {});
    this.said = el("div", {});
    this.days = el("div", {});
    // What it means to do stands before its habits.
    fill(
      root,
      this.head,
      el("h3", {}, "Plans"),
      this.list,
      this.promises,
      this.said,
      this.days,
      this.past,
      el(
        "p",
        { class: "dim" },
        "Plans come from the model, or from a line that you write into the file: “- [ ] tomorrow noon, the Quay, Anneke: show her the ferry”.",
      ),
      fileEditor(id, "plans", "plans.md", "Edit the plans", () => this.load()),
    );
  }

  async load() {
    const [plans, day, kept] = await Promise.all([
      get(`agents/${this.id}/plans`),
      get(`agents/${this.id}/day`),
      get(`agents/${this.id}/book`, { of: "kept" }),
    ]);
    const open = plans.filter(({ state }) => [PlanState.OPEN, PlanState.DOING].includes(state));
    const ended = plans.filter((each) => !open.includes(each)).reverse();
    fill(
      this.list,
      open.length
        ? open.map(plan)
        : el("li", { class: "dim", "data-row": true, tabindex: "-1" }, "No plan is open."),
    );
    fill(this.head, dayLines(day));
    fill(this.said, alsoSaid(day.said ?? []));
    fill(this.days, dayTables(day));
    fill(this.promises, promised(kept));
    fill(this.ended, ended.map(plan));
    this.past.hidden = !ended.length;
  }
}

/** Its own words about tomorrow: it may mean them, planned or not. */
function alsoSaid(said) {
  return said.length
    ? [
        el("h3", {}, "Also said about tomorrow"),
        el("ol", { class: "memories", "aria-label": "Said about tomorrow" }, memoryRows(said)),
      ]
    : null;
}

/** What it has promised, which has no time of its own and so no place in its days. */
function promised(pages) {
  const rows = pages.flatMap(({ promises, private: hidden }) =>
    promises.map(({ text, memory }) => ({ line: text, memory, private: hidden.includes(memory) })),
  );
  return rows.length
    ? [
        el("h3", {}, "Promises, and rules that it follows"),
        el("ul", { class: "pins", "aria-label": "Promises" }, rows.map(plan)),
      ]
    : null;
}

/** Today or tomorrow, if a time is then; else empty. */
function day(at) {
  if (sameDay(at, Date.now())) return "Today";
  return sameDay(at, onDay(Date.now(), 24)) ? "Tomorrow" : "";
}

function plan({ line, state, why, memory, private: hidden, at = null }) {
  const soon = at && !MARKS[state] ? day(at) : "";
  return el(
    "li",
    { "data-row": true, tabindex: "-1", class: hidden ? "whisper" : "" },
    hidden ? el("span", { class: "flag" }, "in private") : null,
    soon ? el("b", {}, `${soon}: `) : null,
    el("bdi", {}, line),
    MARKS[state]
      ? el("span", { class: "badge" }, why ? `${MARKS[state]}: ${why}` : MARKS[state])
      : null,
    memory
      ? el(
          "a",
          { class: "where", href: `#memory/${memory}`, "data-opens": true },
          `memory ${count(memory)}`,
        )
      : null,
  );
}
