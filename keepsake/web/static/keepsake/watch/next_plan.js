/* The plan of all agents that is due next, in a line. */

import { formatter } from "./clock.js";
import { el, personLink, sameDay, seconds, time } from "./dom.js";
import { PlanState } from "./kinds.js";

/** The time of day, to the minute. */
export const hour = formatter({ hour: "2-digit", minute: "2-digit" });
const dayHour = formatter({
  weekday: "short",
  day: "numeric",
  month: "short",
  hour: "2-digit",
  minute: "2-digit",
});

/** The time of a plan, to the minute; with the day if it is not today. */
export function planTime(iso, now = Date.now()) {
  return (sameDay(iso, now) ? hour : dayHour).format(new Date(iso));
}

/** The open plan whose time comes next; undefined for none. */
export function nextPlan(plans) {
  const open = plans.filter(({ state }) => [PlanState.OPEN, PlanState.DOING].includes(state));
  const ahead = open.filter(({ at }) => at && Date.parse(at) > Date.now());
  return ahead.toSorted((a, b) => Date.parse(a.at) - Date.parse(b.at))[0];
}

/** Whose plan it is, when, where, with whom, and what: `Mira, 07:00 (in 10 h), at the Loft: …`. */
export function planLine({ id, agent, at, what, place, whom, private: hidden }) {
  return [
    el("a", { href: `/agents/${id}/#plans`, "data-opens": true, dir: "auto" }, agent),
    ", ",
    time(at, planTime),
    ` (${distance(at)})`,
    place ? [", at ", el("bdi", {}, place)] : null,
    whom ? [", with ", personLink(whom)] : null,
    ": ",
    hidden ? el("span", { class: "flag" }, "in private ") : null,
    el("bdi", {}, what),
  ];
}

/** How far away a time is: `in 10 h`, `3 min ago`. */
export function distance(at) {
  const left = (Date.parse(at) - Date.now()) / 1000;
  return left < 0 ? `${seconds(-left)} ago` : `in ${seconds(left)}`;
}
