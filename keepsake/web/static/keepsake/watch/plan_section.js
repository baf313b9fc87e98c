/* The section "Plans" of an agent's page: what it will do by time, its usual hours, and the plans that have ended. */

import { agenda, because, MARKS } from "./agenda.js";
import { get } from "./api.js";
import { dayLines, dayTables } from "./day.js";
import { el, fill } from "./dom.js";
import { fileEditor } from "./editor.js";
import { PlanState } from "./kinds.js";

/** What an agent means to do, and what became of its last plans. */
export class PlanSection {
  constructor(root, id) {
    this.id = id;
    this.head = el("div", {});
    this.agenda = el("div", { class: "agenda" });
    this.days = el("div", { class: "habits" });
    this.ended = el("ul", { class: "pins", "aria-label": "Plans that have ended" });
    this.past = el("details", {}, el("summary", {}, "Plans that have ended"), this.ended);
    fill(
      root,
      this.head,
      // What it means to do stands before its habits, or beside them.
      el("div", { class: "ahead" }, this.agenda, this.days),
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
    // The plans that are due are the first of the agenda.
    fill(this.head, dayLines({ ...day, due: [] }));
    const habits = Boolean(day.usual) || day.dates.some(({ parts }) => parts.length);
    const ahead = { plans: open, promises: promised(kept), said: day.said ?? [], habits };
    fill(this.agenda, agenda(ahead));
    fill(this.days, dayTables(day));
    fill(this.ended, ended.map(past));
    this.past.hidden = !ended.length;
  }
}

/** What it has promised, which has no time of its own. */
function promised(pages) {
  return pages.flatMap(({ promises, private: hidden }) =>
    promises.map(({ text, memory }) => ({ text, memory, private: hidden.includes(memory) })),
  );
}

/** A plan that has ended, in a line, and below it who asked for it. */
function past(plan) {
  const { line, state, why, private: hidden } = plan;
  return el(
    "li",
    { "data-row": true, tabindex: "-1", class: hidden ? "plan whisper" : "plan" },
    hidden ? el("span", { class: "flag" }, "in private") : null,
    el("bdi", {}, line),
    el("span", { class: "badge" }, why ? `${MARKS[state]}: ${why}` : MARKS[state]),
    because(plan),
  );
}
