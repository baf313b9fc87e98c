/* The plans of all agents: what is due next, what waits, and what became of the last ones. */

import { get } from "./api.js";
import {
  bindKeys,
  byId,
  count,
  el,
  fill,
  many,
  personLink,
  rowKeys,
  time,
} from "./dom.js";
import { HappeningKind, PlanState } from "./kinds.js";
import { distance, nextPlan, planLine, planTime } from "./next_plan.js";

/** Plans change rarely, and each answer reads the books of all agents. */
const POLL = 15000;
/** Milliseconds that a plan may be late; later it is missed. */
const LATE = 60000;
/** The states that a plan ends in, in words. */
const ENDED = {
  [PlanState.DONE]: "done",
  [PlanState.MISSED]: "missed",
  [PlanState.DROPPED]: "given up",
};
const STATES = { [PlanState.OPEN]: "open", [PlanState.DOING]: "begun", ...ENDED };
/** The tables of the page: a title, and which plans stand in it. */
const PARTS = [
  ["Due", isDue],
  ["Later", (plan) => plan.at && !(plan.state in ENDED) && !isDue(plan)],
  [
    "Waiting for somebody or something",
    ({ at, waits_for: waits, state }) => !at && waits && !(state in ENDED),
  ],
  ["At any time", ({ at, waits_for: waits, state }) => !at && !waits && !(state in ENDED)],
  ["Ended lately", ({ state }) => state in ENDED],
];
const HEADS = ["Who", "When", "Plan", "Where", "With", "Asked by", "State"];

/** Whether the time of a plan has come, and it has not ended. */
function isDue({ at, state }) {
  return at && !(state in ENDED) && Date.parse(at) <= Date.now();
}

const filter = byId("filter");
let plans = null;

async function refresh() {
  if (document.hidden) return;
  try {
    plans = await get("plans", { ended: true });
    byId("trouble-here").hidden = true;
    draw();
  } catch (problem) {
    byId("trouble-here").hidden = false;
    fill(byId("trouble-here"), problem.message);
  }
}

function draw() {
  if (plans === null) return;
  const wanted = filter.value.trim().toLowerCase();
  const shown = plans.filter((plan) => !wanted || words(plan).toLowerCase().includes(wanted));
  fill(byId("summary"), summary(shown));
  drawNext(shown);
  fill(
    byId("lists"),
    PARTS.map(([title, belongs]) => {
      const rows = shown.filter(belongs);
      return rows.length ? table(title, rows) : null;
    }),
    shown.length
      ? null
      : el("p", { class: "empty" }, plans.length ? "No plan matches." : "Nobody has made a plan."),
  );
}

/** Everything of a plan that can be searched. */
function words({ agent, line, place, whom, state, why, cause }) {
  return [agent, line, place, whom, cause?.source, STATES[state], why].join(" ");
}

function summary(shown) {
  const open = shown.filter(({ state }) => !(state in ENDED)).length;
  const ended = Object.entries(ENDED).map(
    ([state, said]) => `${count(shown.filter((each) => each.state === state).length)} ${said}`,
  );
  const due = shown.filter(isDue).length;
  const all = open > 1 ? ", all due" : ", due";
  const ofThem = due ? (due === open ? all : `, ${count(due)} of them due`) : "";
  return `${many(open, "open plan")}${ofThem}. Of the last that have ended: ${ended.join(", ")}.`;
}

/** The plan that is due next; those whose time has come stand in the first table. */
function drawNext(shown) {
  const next = nextPlan(shown);
  byId("next").hidden = !next;
  byId("next").classList.toggle("whisper", Boolean(next?.private));
  if (next) fill(byId("next"), el("b", {}, "Next: "), planLine(next));
}

function table(title, rows) {
  return [
    el("h2", {}, title, " ", el("small", {}, count(rows.length))),
    el(
      "table",
      { class: "plans", "aria-label": title },
      el(
        "thead",
        {},
        el(
          "tr",
          {},
          HEADS.map((head) => el("th", { scope: "col" }, head)),
        ),
      ),
      el("tbody", {}, rows.map(row)),
    ),
  ];
}

function row(plan) {
  const { what, at, waits_for: waits, place, whom, state, why, memory, id, private: hidden } = plan;
  return el(
    "tr",
    { "data-row": true, tabindex: "-1", class: hidden ? "whisper" : "" },
    el("td", { class: "who" }, agentLink(plan)),
    el("td", { class: "when" }, at ? [time(at, planTime), due(plan)] : waits),
    el(
      "td",
      { class: "what" },
      hidden ? el("span", { class: "flag" }, "in private ") : null,
      el("bdi", {}, what),
      " ",
      memory
        ? el(
            "a",
            { class: "where", href: `/agents/${id}/#memory/${memory}` },
            `memory ${count(memory)}`,
          )
        : null,
    ),
    el("td", {}, place && el("bdi", {}, place)),
    el("td", { class: "whom" }, whom ? personLink(whom) : null),
    el("td", { class: "asked-by" }, askedBy(plan)),
    el(
      "td",
      {},
      el("span", { class: `badge ${state}` }, STATES[state]),
      why ? el("small", { class: "why", dir: "auto" }, why) : null,
    ),
  );
}

/** Who said what led to a plan, and when, with the way to the words; empty if nobody said anything. */
function askedBy({ id, cause }) {
  if (!cause?.source || cause.form !== HappeningKind.SPEECH) return null;
  return [
    personLink(cause.source, { key: cause.source_id }),
    " ",
    el("a", { class: "where", href: `/agents/${id}/#memory/${cause.number}` }, time(cause.time)),
  ];
}

/** How far away the time of an open plan is. */
function due({ at, state }) {
  if (state in ENDED) return null;
  const late = Date.now() - Date.parse(at);
  return el("small", { class: late > LATE ? "overdue" : null }, ` ${distance(at)}`);
}

function agentLink({ id, agent }) {
  return el("a", { href: `/agents/${id}/#plans`, "data-opens": true, dir: "auto" }, agent);
}

filter.addEventListener("input", draw);
document.addEventListener("visibilitychange", refresh);
bindKeys([
  ["/", "filter the plans", () => filter.focus()],
  ...rowKeys(() => byId("lists")),
  ["u", "up to all agents", () => byId("up").click()],
]);
setInterval(refresh, POLL);
refresh();
