/* The plans and promises of all agents that are due next, each in a line. */

import { datesBetween, formatter } from "./clock.js";
import { el, personLink, sameDay, seconds, time } from "./dom.js";
import { PlanState } from "./kinds.js";
import { privacyMark } from "./privacy.js";

/** The time of day, to the minute. */
export const hour = formatter({ hour: "2-digit", minute: "2-digit" });
const dayHour = formatter({
  weekday: "short",
  day: "numeric",
  month: "short",
  hour: "2-digit",
  minute: "2-digit",
});

const dayOf = formatter({ weekday: "short", day: "numeric", month: "short" });

/** The time of a plan, to the minute; with the day if it is not today. */
export function planTime(iso, now = Date.now()) {
  return (sameDay(iso, now) ? hour : dayHour).format(new Date(iso));
}

/** The time of a plan or promise, as `planTime`; without an hour its date, and the part of that day if it has one. */
export function dueTime({ at, whole_day: whole, part }, now = Date.now()) {
  return whole ? withPart(dayOf.format(new Date(at)), part) : planTime(at, now);
}

/** A day in words, with the part of it that was named: `tomorrow, morning`. */
export function withPart(day, part) {
  return [day, part].filter(Boolean).join(", ");
}

/** Promises for a certain day as plans; one that a plan will keep is left out. */
export function asPlans(promises) {
  return promises
    .filter(({ at, plan }) => at && !plan)
    .map((each) => ({
      ...each,
      what: each.dated || each.text,
      place: "",
      state: PlanState.OPEN,
      promised: true,
    }));
}

/** Order of plans by time; those without one come last, as they stood. */
export function byTime({ at: one }, { at: other }) {
  if (!one || !other) return Number(!one) - Number(!other);
  return Date.parse(one) - Date.parse(other);
}

/** The open plans, and promises for a certain day, whose time comes next; at most `most`. */
export function nextPlans(plans, promises, most = 1, now = Date.now()) {
  const open = plans.filter(({ state }) => [PlanState.OPEN, PlanState.DOING].includes(state));
  return [...open, ...asPlans(promises)]
    .filter(
      ({ at, whole_day: whole }) =>
        at && (whole ? datesBetween(now, at) >= 0 : Date.parse(at) > now),
    )
    .toSorted(byTime)
    .slice(0, most);
}

/** All that agents do for plans now, and then all that comes next, by the hour. */
export function begunAndNext(plans, promises, now = Date.now()) {
  const begun = plans.filter(({ state, at }) => state === PlanState.DOING && at);
  const next = nextPlans(plans, promises, Infinity, now);
  return [...begun, ...next.filter(({ state }) => state !== PlanState.DOING)];
}

/** The person of a plan or promise, with the way to them, and whether they are not in the game. */
export function partner({ whom, away }) {
  return [personLink(whom), away ? el("small", {}, " not in the game") : null];
}

/** Whose plan it is, when, where, with whom, and what: `Mira, 07:00 (in 10 h), at the Loft: …`; `Nell, today, …`. */
export function planLine(plan) {
  const { id, agent, at, what, place, whom, private: hidden, promised } = plan;
  return [
    el("a", { href: `/agents/${id}/#plans`, "data-opens": true, dir: "auto" }, agent),
    ", ",
    time(at, () =>
      isNear(plan) ? withPart(distance(plan), plan.part) : `${dueTime(plan)} (${distance(plan)})`,
    ),
    place ? [", at ", el("bdi", {}, place)] : null,
    whom ? [promised ? ", promised to " : ", with ", partner(plan)] : null,
    ": ",
    hidden ? [secretFlag(hidden), " "] : null,
    el("bdi", {}, what),
    promised ? saidOn(plan) : null,
  ];
}

/** Whether a whole day is told by a word: "today", "tomorrow". */
export function isNear({ at, whole_day: whole }) {
  return whole && [0, 1].includes(datesBetween(Date.now(), at));
}

/** On which day a promise was said, if not today, and the words that gave its hour, if not its own. */
export function saidOn({ said, when_said: words }, now = Date.now()) {
  const on = said && !sameDay(said, now) ? ` said on ${dayOf.format(new Date(said))}` : "";
  const hourWords = words ? `${on ? ":" : ""} “${words}”` : "";
  return on || hourWords ? el("small", {}, `${on}${hourWords}`) : null;
}

/** The mark of a plan or promise that the agent keeps from others, whether it was asked for in a whisper or aloud.
 * `hidden`: for whom it keeps it, in words of the API. */
export function secretFlag(hidden) {
  const mark = privacyMark(hidden);
  mark?.setAttribute("title", "The agent keeps it to who knows of it.");
  return mark;
}

/** How far away a time is: `in 10 h`, `3 min ago`, and from a day on by dates: `tomorrow`, `in 3 days`. */
export function distance({ at, whole_day: whole }, now = Date.now()) {
  const left = (Date.parse(at) - now) / 1000;
  if (!whole && Math.abs(left) < 86400)
    return left < 0 ? `${seconds(-left)} ago` : `in ${seconds(left)}`;
  const dates = datesBetween(now, at);
  if (Math.abs(dates) < 2) return ["yesterday", "today", "tomorrow"][dates + 1];
  return dates < 0 ? `${-dates} days ago` : `in ${dates} days`;
}
