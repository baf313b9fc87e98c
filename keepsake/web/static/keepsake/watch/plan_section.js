/* The section "Plans" of an agent's page: its plans by time with who asked, also those that ended, and its usual hours. */

import { account, agenda, endedPlans, othersPlans } from "./agenda.js";
import { get } from "./api.js";
import { dayLines, dayTables, usualHours } from "./day.js";
import { el, fill } from "./dom.js";
import { fileEditor } from "./editor.js";
import { QuestionKind, PlanState } from "./kinds.js";
import { lead } from "./short_answer.js";

/** What an agent means to do, and what became of its last plans. */
export class PlanSection {
  constructor(root, id) {
    this.id = id;
    this.head = el("div", {});
    this.agenda = el("div", { class: "agenda" });
    this.days = el("div", { class: "habits" });
    fill(
      root,
      this.head,
      // What it means to do stands before its habits, or beside them.
      el("div", { class: "ahead" }, this.agenda, this.days),
      el(
        "p",
        { class: "dim" },
        "Plans come from the model, or from a line that you write into the file: “- [ ] tomorrow noon, the Quay, Anneke: show her the ferry”.",
      ),
      fileEditor(id, "plans", "plans.md", "Edit the plans", () => this.load()),
    );
  }

  async load() {
    const [all, day, promised, everybodys] = await Promise.all([
      get(`agents/${this.id}/plans`),
      get(`agents/${this.id}/day`),
      get("promises"),
      get("plans"),
    ]);
    const plans = all.filter(({ state }) => [PlanState.OPEN, PlanState.DOING].includes(state));
    const ended = all.filter((each) => !plans.includes(each)).reverse();
    const promises = promised.filter(({ id }) => id === Number(this.id));
    const name = document.body.dataset.name ?? "It";
    fill(
      this.head,
      lead(this.id, QuestionKind.NEXT),
      el("p", { class: "dim" }, account({ plans, ended, promises }, name)),
    );
    const { said = [], said_today } = day;
    const others = everybodys.filter(({ id, whom }) => whom === name && id !== Number(this.id));
    fill(
      this.agenda,
      agenda({ plans, promises, said, said_today, usual: usualHours(day) }),
      othersPlans(others, name),
      endedPlans(ended),
    );
    // The plans that are due are the first of the agenda.
    fill(this.days, dayLines({ ...day, due: [] }), dayTables(day));
  }
}
