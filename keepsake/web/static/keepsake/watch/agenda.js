/* What an agent will do, by time: now, today, tomorrow, later, when something happens, at any time; then what it has
 * done. Each plan with who asked for it. */

import { datesBetween, formatter, onDay } from "./clock.js";
import { count, el, many, personLink, time, whyOf } from "./dom.js";
import { HappeningKind, PlanState } from "./kinds.js";
import { asPlans, dueTime, hour, partner, planTime, saidOn, secretFlag } from "./next_plan.js";
import { sentence } from "./sentences.js";

/** What became of a plan, in words; empty for one that is open. */
export const MARKS = {
  [PlanState.OPEN]: "",
  [PlanState.DOING]: "begun",
  [PlanState.DONE]: "done",
  [PlanState.DROPPED]: "given up",
  [PlanState.MISSED]: "missed",
};
/** Milliseconds that a plan may be late without a word. */
const LATE = 60000;

const weekday = formatter({ weekday: "long", day: "numeric", month: "long" });

/** The groups of plans, those that come first first. */
const NOW = "Now";
const TODAY = "Today";
const TOMORROW = "Tomorrow";
const LATER = "After tomorrow";
const WAITING = "When that happens";
const ANY = "At any time";
const PROMISED = "Promised, for no certain time";
const GROUPS = [NOW, TODAY, TOMORROW, LATER, WAITING, ANY, PROMISED];
/** How plans end, the usual way first. */
const ENDS = [PlanState.DONE, PlanState.DROPPED, PlanState.MISSED];
/** The plans that have ended that are shown before the others are folded. */
const SHOWN = 12;

/** The group of a plan, or of a promise as a plan; `now`: in milliseconds. */
function groupOf({ at, state, waits_for: waits, whole_day: whole }, now) {
  if (state === PlanState.DOING) return NOW;
  if (!at) return waits ? WAITING : ANY;
  const dates = datesBetween(now, at);
  if (whole ? dates < 0 : Date.parse(at) <= now) return NOW;
  if (dates === 0) return TODAY;
  return dates === 1 ? TOMORROW : LATER;
}

/** How many plans are open and how many have ended, in a sentence that begins the answer. */
export function account({ plans, ended, promises }, name, now = Date.now()) {
  const tomorrows = plans.filter((each) => groupOf(each, now) === TOMORROW).length;
  const open = plans.length ? many(plans.length, "open plan") : "no open plan";
  const undated = promises.filter(({ at }) => !at).length;
  const which_of = undated === promises.length ? "" : `, ${count(undated)} of them`;
  const dateless = undated ? `${which_of} for no certain time` : "";
  const promised = promises.length ? ` and ${many(promises.length, "promise")}${dateless}` : "";
  const which = tomorrows === plans.length ? (tomorrows > 1 ? "all" : "it is") : count(tomorrows);
  return [
    `${name} has ${open}${tomorrows ? `, ${which} for tomorrow` : ""}${promised}.`,
    ends(ended),
  ];
}

/** How the last plans ended, in a sentence; empty if none has. */
function ends(ended) {
  if (ended.length < 2) return ended.map(({ state }) => ` The last one was ${MARKS[state]}.`);
  const ways = ENDS.map((state) => {
    const number = ended.filter((each) => each.state === state).length;
    return number ? `${count(number)} ${MARKS[state]}` : null;
  });
  return ` Of the last ${count(ended.length)} that have ended: ${ways.filter(Boolean).join(", ")}.`;
}

/** The lists of what an agent will do.
 *
 * `plans`: those that have not ended. `promises`: for a certain day or for none. `said`: its own words about tomorrow, and
 * `said_today`: its older ones about today. `usual`: its hours of tomorrow in words; empty if they are not known.
 */
export function agenda(
  { plans, promises, said, said_today: before = [], usual = "" },
  now = Date.now(),
) {
  const inTime = [...plans, ...asPlans(promises)].toSorted(
    (a, b) => Date.parse(a.at ?? 0) - Date.parse(b.at ?? 0),
  );
  return GROUPS.map((title) => {
    const rows = inTime
      .filter((each) => groupOf(each, now) === title)
      .map((each) => row(each, now));
    if (title === PROMISED)
      rows.push(...promises.filter(({ at, plan }) => !at && !plan).map(promise));
    if (title === TOMORROW) return tomorrow(rows, said, usual, now);
    const told = title === TODAY ? before : [];
    if (!rows.length && !told.length) return null;
    return [
      el("h3", {}, title, title === TODAY ? el("small", {}, ` ${weekday.format(now)}`) : null),
      rows.length ? list(title, rows) : null,
      folded("today", told),
    ];
  });
}

function list(title, rows) {
  return el("ul", { class: "pins", "aria-label": title }, rows);
}

/** What it said aloud or whispered about a day, which may bind it; null for nothing. */
function saidAbout(day, said, rows) {
  if (!said.length) return null;
  return [
    el("h4", {}, rows.length ? `It also said about ${day}` : `It said about ${day}`),
    el("ul", { class: "pins", "aria-label": `Said about ${day}` }, said.map(ownWords)),
  ];
}

/** Its older words that name a day, folded: some of them are no plan. */
function folded(day, said) {
  if (!said.length) return null;
  return el(
    "details",
    {},
    el("summary", {}, `Earlier words of its own that name ${day}: ${count(said.length)}`),
    el("ul", { class: "pins", "aria-label": `Said about ${day}` }, said.map(ownWords)),
  );
}

/** Tomorrow is always answered: by plans, by what it said itself, or by habit alone. */
function tomorrow(rows, said, usual, now) {
  // What it told somebody may bind it, so it stands first.
  const nothing = said.length ? "Nothing else is planned" : "Nothing is planned";
  const plain = rows.length ? "Else its usual day" : `${nothing}. Its usual day`;
  return [
    el("h3", {}, TOMORROW, el("small", {}, ` ${weekday.format(onDay(now, 24))}`)),
    rows.length ? list(TOMORROW, rows) : null,
    saidAbout("tomorrow", said, rows),
    usual ? el("p", {}, `${plain}: ${usual}.`) : rows.length ? null : el("p", {}, `${nothing}.`),
  ];
}

function ownWords(memory) {
  return el(
    "li",
    { "data-row": true, tabindex: "-1", class: memory.confidants ? "plan whisper" : "plan" },
    el("bdi", {}, sentence(memory)),
    el(
      "small",
      { class: "asked" },
      time(memory.time),
      memory.place ? ` · at ${memory.place}` : null,
      " · ",
      wayTo(memory.number),
      " · ",
      whyOf(document.body.dataset.agent, memory),
    ),
  );
}

function row(plan, now) {
  if (plan.promised && !plan.begun)
    return promise({ text: plan.what, ...plan }, whenWords(plan, now));
  return planRow(plan, whenWords(plan, now), MARKS[plan.state]);
}

/** The plans that have ended, the last first, as those that are open, and how each ended. */
export function endedPlans(plans, now = Date.now()) {
  if (!plans.length) return null;
  const rows = plans.map((plan) => {
    const { at, state, why } = plan;
    const how = why ? `${MARKS[state]}: ${why}` : MARKS[state];
    return planRow(plan, at ? planTime(at, now) : "", how);
  });
  const rest = rows.slice(SHOWN);
  return [
    el("h3", {}, ENDED, el("small", {}, " the last first")),
    list(ENDED, rows.slice(0, SHOWN)),
    rest.length
      ? el(
          "details",
          {},
          el("summary", {}, `${count(rest.length)} more`),
          list("Earlier plans", rest),
        )
      : null,
  ];
}

/** What others mean to do with an agent, by their own plans; `plans`: theirs that have not ended. */
export function othersPlans(plans, name, now = Date.now()) {
  if (!plans.length) return null;
  const title = `What others mean to do with ${name}`;
  const rows = plans.map(({ id, agent, at, waits_for: waits, what, place, private: hidden }) =>
    el(
      "li",
      { "data-row": true, tabindex: "-1", class: hidden ? "plan whisper" : "plan" },
      el("b", { class: "when" }, at ? planTime(at, now) : ""),
      secretFlag(hidden),
      el("a", { href: `/agents/${id}/#plans`, "data-opens": true, dir: "auto" }, agent),
      at || !waits ? null : el("span", {}, `${waits}:`),
      el("bdi", {}, what),
      place ? el("span", { class: "dim" }, ["at ", el("bdi", {}, place)]) : null,
    ),
  );
  return [el("h3", {}, title), list(title, rows)];
}

const ENDED = "Plans that have ended";

/** A plan in a line: when, what, where, with whom, what became of it; below it who asked for it. */
function planRow(plan, when, mark) {
  const { what, at, waits_for: waits, place, whom, private: hidden } = plan;
  const where = [place && ["at ", el("bdi", {}, place)], whom && ["with ", partner(plan)]];
  return el(
    "li",
    { "data-row": true, tabindex: "-1", class: hidden ? "plan whisper" : "plan" },
    el("b", { class: "when" }, when),
    secretFlag(hidden),
    at || !waits ? null : el("span", {}, `${waits}:`),
    el("bdi", {}, what),
    where.filter(Boolean).map((each) => el("span", { class: "dim" }, each)),
    mark ? el("span", { class: `badge ${plan.state}` }, mark) : null,
    askedBy(plan),
  );
}

/** When it is due, as its group leaves it open. */
function whenWords({ at, state, whole_day: whole, part }, now) {
  if (!at) return "";
  const then = Date.parse(at);
  const dates = datesBetween(now, at);
  const due = dueTime({ at, whole_day: whole, part }, now);
  if (whole && dates < 0) return `was for ${due}`;
  const near = dates === 0 || dates === 1;
  if (whole) return near ? part : due;
  const words = near ? hour.format(new Date(at)) : planTime(at, now);
  const late = state !== PlanState.DOING && now - then > LATE;
  return then <= now ? `${late ? "due" : "since"} ${words}` : words;
}

/** Who asked for it, in which words and when, with the way there. */
function askedBy({ cause, memory, sender, sender_id: senderKey }) {
  if (!cause) {
    const nobody = "nobody is known to have asked · ";
    return el("small", { class: "asked" }, memory ? [nobody, wayTo(memory)] : "written by hand");
  }
  const { source, source_id: key, what, form } = cause;
  const asked = source && form === HappeningKind.SPEECH && what.words;
  return el(
    "small",
    { class: "asked" },
    asked
      ? [
          "asked by ",
          sender ? [el("b", {}, personLink(sender, { key: senderKey })), " through "] : null,
          el(sender ? "span" : "b", {}, personLink(source, { key })),
          `: “${what.words}” `,
        ]
      : ["because ", el("bdi", {}, sentence(cause)), " "],
    time(cause.time),
    " · ",
    wayTo(cause.number),
  );
}

function wayTo(number) {
  return el(
    "a",
    { class: "where", href: `#memory/${number}`, "data-opens": true },
    `memory ${number}`,
  );
}

/** A promise in a line; `when`: its day, if its group does not say it. */
function promise(row, when = "") {
  const { text, dated, whom, memory, private: hidden } = row;
  return el(
    "li",
    { "data-row": true, tabindex: "-1", class: hidden ? "plan whisper" : "plan" },
    when ? el("b", { class: "when" }, when) : null,
    secretFlag(hidden),
    el("span", { class: "dim" }, whom ? ["promised to ", partner(row), ":"] : "promised:"),
    el("bdi", {}, dated || text),
    el("small", { class: "asked" }, saidOn(row), memory ? [" ", wayTo(memory)] : null),
  );
}
