/* The plans of all agents: what is due next, what waits, and what became of the last ones. */

import { get } from "./api.js";
import { bindKeys, byId, count, el, fill, many, personLink, rowKeys, time } from "./dom.js";
import { HappeningKind, PlanState } from "./kinds.js";
import { datesBetween } from "./clock.js";
import {
  asPlans,
  byTime,
  distance,
  dueTime,
  isNear,
  nextPlans,
  partner,
  planLine,
  saidOn,
  secretFlag,
  withPart,
} from "./next_plan.js";

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
  ["To come", (plan) => plan.at && !(plan.state in ENDED) && !isDue(plan)],
  [
    "Waiting for somebody or something",
    ({ at, waits_for: waits, state }) => !at && waits && !(state in ENDED),
  ],
  ["At any time", ({ at, waits_for: waits, state }) => !at && !waits && !(state in ENDED)],
  ["Ended lately", ({ state }) => state in ENDED],
];
const HEADS = ["Who", "When", "Plan", "Where", "With", "Asked by", "State"];
/** The table of what was promised for no certain day, which stands before the plans that have ended. */
const PROMISED = "Promised, for no certain time";
const PROMISE_HEADS = ["Who", "Promise", "To"];

/** Whether the time of a plan has come, and it has not ended. */
function isDue({ at, state, whole_day: whole }) {
  if (!at || state in ENDED) return false;
  return whole ? datesBetween(Date.now(), at) < 0 : Date.parse(at) <= Date.now();
}

const filter = byId("filter");
let plans = null;
let promises = [];

async function refresh() {
  if (document.hidden) return;
  try {
    [plans, promises] = await Promise.all([get("plans", { ended: true }), get("promises")]);
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
  const matches = (text) => !wanted || text.toLowerCase().includes(wanted);
  const shown = plans.filter((plan) => matches(words(plan)));
  const promised = promises.filter(({ agent, whom, text }) => matches(`${agent} ${whom} ${text}`));
  const undated = promised.filter(({ at, plan }) => !at && !plan);
  fill(byId("summary"), summary(shown, promised, undated));
  drawNext(shown, promised);
  const dated = asPlans(promised);
  const all = dated.length ? inTime([...shown, ...dated]) : shown;
  const tables = PARTS.map(([title, belongs]) => {
    const rows = all.filter(belongs);
    return rows.length ? table(title, HEADS, rows.map(row)) : null;
  });
  // What is still to be done stands before what has ended.
  if (undated.length) tables.splice(-1, 0, table(PROMISED, PROMISE_HEADS, undated.map(promiseRow)));
  const nothing = plans.length + promises.length ? "No plan matches." : "Nobody has made a plan.";
  fill(
    byId("lists"),
    tables,
    shown.length + promised.length ? null : el("p", { class: "empty" }, nothing),
  );
}

/** Open plans by time, those without one after them; those that have ended stay as they are. */
function inTime(plans) {
  return [
    ...plans.filter(({ state }) => !(state in ENDED)).toSorted(byTime),
    ...plans.filter(({ state }) => state in ENDED),
  ];
}

/** Everything of a plan that can be searched. */
function words({ agent, line, place, whom, state, why, cause, sender }) {
  return [agent, line, place, whom, cause?.source, sender, STATES[state], why].join(" ");
}

function summary(shown, promised, undated) {
  const open = shown.filter(({ state }) => !(state in ENDED)).length;
  const ends = Object.entries(ENDED).map(([state, said]) => {
    const number = shown.filter((each) => each.state === state).length;
    return number ? `${count(number)} ${said}` : null;
  });
  const ended = ends.filter(Boolean);
  const last = ended.length ? ` Of the last that have ended: ${ended.join(", ")}.` : "";
  const due = shown.filter(isDue).length;
  const all = open > 1 ? ", all due" : ", due";
  const ofThem = due ? (due === open ? all : `, ${count(due)} of them due`) : "";
  const which = undated.length < promised.length ? `, ${count(undated.length)} of them` : "";
  const dateless = undated.length ? `${which} for no certain time` : "";
  const also = promised.length ? ` ${many(promised.length, "promise")}${dateless}.` : "";
  return `${many(open, "open plan")}${ofThem}.${also}${last}`;
}

/** The plan that is due next; those whose time has come stand in the first table. */
function drawNext(shown, promised) {
  const [next] = nextPlans(shown, promised);
  byId("next").hidden = !next;
  byId("next").classList.toggle("whisper", Boolean(next?.private));
  if (next) fill(byId("next"), el("b", {}, "Next: "), planLine(next));
}

function table(title, heads, rows) {
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
          heads.map((head) => el("th", { scope: "col" }, head)),
        ),
      ),
      el("tbody", {}, rows),
    ),
  ];
}

function row(plan) {
  const { what, at, waits_for: waits, place, whom, state, why, private: hidden, promised } = plan;
  const kind = [hidden && "whisper", promised && "promised"].filter(Boolean).join(" ");
  return el(
    "tr",
    { "data-row": true, tabindex: "-1", class: kind },
    el("td", { class: "who" }, agentLink(plan)),
    el(
      "td",
      { class: at ? "when" : "when waits" },
      at ? [time(at, () => whenWords(plan)), due(plan)] : waits,
    ),
    whatOf(plan, what),
    el("td", {}, place && el("bdi", {}, place)),
    el("td", { class: "whom" }, whom ? partner(plan) : null),
    saidOn(plan) ? el("td", {}, saidOn(plan)) : el("td", { class: "asked-by" }, askedBy(plan)),
    el(
      "td",
      {},
      el("span", { class: `badge ${state}` }, isPromise(plan) ? "promised" : STATES[state]),
      why ? el("small", { class: "why", dir: "auto" }, why) : null,
    ),
  );
}

/** What is planned or promised, in a cell, with the way to the memory that it rests on. */
function whatOf({ id, memory, private: hidden }, words) {
  const way = `/agents/${id}/#memory/${memory}`;
  return el(
    "td",
    { class: "what" },
    hidden ? [secretFlag(hidden), " "] : null,
    el("bdi", {}, words),
    " ",
    memory ? el("a", { class: "where", href: way }, `memory ${count(memory)}`) : null,
  );
}

function promiseRow(promise) {
  const { whom, text, private: hidden } = promise;
  return el(
    "tr",
    { "data-row": true, tabindex: "-1", class: hidden ? "whisper" : "" },
    el("td", { class: "who" }, agentLink(promise)),
    whatOf(promise, text),
    el("td", { class: "whom" }, whom ? partner(promise) : null),
  );
}

/** Whether it is only a promise so far. */
function isPromise({ promised, state }) {
  return promised && state === PlanState.OPEN;
}

/** Who said what led to a plan, and when, with the way to the words; empty if nobody said anything. */
function askedBy({ id, cause, sender, sender_id: key }) {
  if (!cause?.source || cause.form !== HappeningKind.SPEECH) return null;
  const said = personLink(cause.source, { key: cause.source_id });
  return [
    sender ? [personLink(sender, { key }), el("small", {}, " through ", said)] : said,
    " ",
    el("a", { class: "where", href: `/agents/${id}/#memory/${cause.number}` }, time(cause.time)),
  ];
}

/** When it is due; a whole day that is near by a word, which `due` need not say again. */
function whenWords(plan) {
  return isNear(plan) ? withPart(distance(plan), plan.part) : dueTime(plan);
}

/** How far away the time of an open plan is. */
function due(plan) {
  if (plan.state in ENDED || isNear(plan)) return null;
  const late = isDue(plan) && Date.now() - Date.parse(plan.at) > LATE;
  return el("small", { class: late ? "overdue" : null }, ` ${distance(plan)}`);
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
