/* What an agent will do, by time: now, today, tomorrow, later, when something happens, at any time. Each plan with why. */

import { formatter, onDay } from "./clock.js";
import { el, personLink, sameDay, time, whyOf } from "./dom.js";
import { PlanState } from "./kinds.js";
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

const hour = formatter({ hour: "2-digit", minute: "2-digit" });
const dayHour = formatter({
  weekday: "short",
  day: "numeric",
  month: "short",
  hour: "2-digit",
  minute: "2-digit",
});
const weekday = formatter({ weekday: "long", day: "numeric", month: "long" });

/** The groups of plans, those that come first first. */
const NOW = "Now";
const TODAY = "Later today";
const TOMORROW = "Tomorrow";
const LATER = "After tomorrow";
const WAITING = "When that happens";
const ANY = "At any time";
const GROUPS = [NOW, TODAY, TOMORROW, LATER, WAITING, ANY];

/** The group of a plan; `now`: in milliseconds. */
function groupOf({ at, state, waits_for: waits }, now) {
  if (state === PlanState.DOING || (at && Date.parse(at) <= now)) return NOW;
  if (!at) return waits ? WAITING : ANY;
  if (sameDay(at, now)) return TODAY;
  return sameDay(at, onDay(now, 24)) ? TOMORROW : LATER;
}

/** The lists of what an agent will do.
 *
 * `plans`: those that have not ended. `promises`: without a time. `said`: its own words about tomorrow.
 * `habits`: whether its usual hours are known.
 */
export function agenda({ plans, promises, said, habits }, now = Date.now()) {
  const inTime = plans.toSorted((a, b) => Date.parse(a.at ?? 0) - Date.parse(b.at ?? 0));
  const groups = GROUPS.map((title) => {
    const rows = inTime.filter((each) => groupOf(each, now) === title).map((each) => row(each, now));
    if (title === ANY) rows.push(...promises.map(promise));
    if (title === TOMORROW) return tomorrow(rows, said, habits, now);
    return rows.length ? [el("h3", {}, title), list(title, rows)] : null;
  });
  return [
    plans.length ? null : el("p", {}, el("b", {}, "No plan is open.")),
    groups,
  ];
}

function list(title, rows) {
  return el("ul", { class: "pins", "aria-label": title }, rows);
}

/** Tomorrow is always answered: by plans, by what it said itself, or by habit alone. */
function tomorrow(rows, said, habits, now) {
  // What it told somebody may bind it, so it stands first.
  const nothing = said.length ? "Nothing else is planned" : "Nothing is planned";
  return [
    el("h3", {}, TOMORROW, el("small", {}, ` ${weekday.format(onDay(now, 24))}`)),
    rows.length ? list(TOMORROW, rows) : null,
    said.length
      ? [
          el("h4", {}, rows.length ? "It also said about tomorrow" : "It said about tomorrow"),
          el("ul", { class: "pins", "aria-label": "Said about tomorrow" }, said.map(ownWords)),
        ]
      : null,
    rows.length ? null : el("p", {}, habits ? `${nothing}: its usual day.` : `${nothing}.`),
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
  const { what, at, waits_for: waits, place, whom, state, private: hidden } = plan;
  const where = [place && ["at ", el("bdi", {}, place)], whom && ["with ", personLink(whom)]];
  return el(
    "li",
    { "data-row": true, tabindex: "-1", class: hidden ? "plan whisper" : "plan" },
    el("b", { class: "when" }, whenWords(plan, now)),
    hidden ? el("span", { class: "flag" }, "in private") : null,
    at || !waits ? null : el("span", {}, `${waits}:`),
    el("bdi", {}, what),
    where.filter(Boolean).map((each) => el("span", { class: "dim" }, each)),
    MARKS[state] ? el("span", { class: "badge" }, MARKS[state]) : null,
    because(plan),
  );
}

/** When it is due, as its group leaves it open. */
function whenWords({ at, state }, now) {
  if (!at) return "";
  const then = Date.parse(at);
  const near = sameDay(at, now) || sameDay(at, onDay(now, 24));
  const words = (near ? hour : dayHour).format(new Date(at));
  const late = state !== PlanState.DOING && now - then > LATE;
  return then <= now ? `${late ? "due" : "since"} ${words}` : words;
}

/** Who asked for it and when, with the way there. */
export function because({ cause, memory }) {
  if (cause)
    return el(
      "small",
      { class: "asked" },
      "because ",
      el("bdi", {}, sentence(cause)),
      " ",
      time(cause.time),
      " · ",
      wayTo(cause.number),
    );
  return el("small", { class: "asked" }, memory ? wayTo(memory) : "written by hand");
}

function wayTo(number) {
  return el(
    "a",
    { class: "where", href: `#memory/${number}`, "data-opens": true },
    `memory ${number}`,
  );
}

function promise({ text, memory, private: hidden }) {
  return el(
    "li",
    { "data-row": true, tabindex: "-1", class: hidden ? "plan whisper" : "plan" },
    hidden ? el("span", { class: "flag" }, "in private") : null,
    el("bdi", {}, text),
    memory ? el("small", { class: "asked" }, wayTo(memory)) : null,
  );
}
