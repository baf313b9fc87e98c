/* Numbers and times in words. Times are shown in the reader's zone, with UTC in the title. */

import { el } from "./dom.js";

const whole = new Intl.NumberFormat("en-GB", { maximumFractionDigits: 0 });
const date = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", year: "numeric" });
const short = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short" });
const clock = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", second: "2-digit" });
const hours = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" });

/** 12345 as 12,345. */
export function count(number) {
  return whole.format(number);
}

/** 0.427 as 43 %. */
export function percent(share) {
  return `${Math.round(share * 100)} %`;
}

/** How many of something: 1 memory, 2 memories. */
export function many(number, one, more = `${one}s`) {
  return `${count(number)} ${number === 1 ? one : more}`;
}

/** A duration, as exact as anybody needs it. */
export function seconds(value) {
  if (value < 1) return `${Math.round(value * 1000)} ms`;
  if (value < 10) return `${value.toFixed(1)} s`;
  if (value < 120) return `${Math.round(value)} s`;
  if (value < 7200) return `${Math.round(value / 60)} min`;
  return value < 172800 ? `${Math.round(value / 3600)} h` : `${Math.round(value / 86400)} days`;
}

/** How long ago, against the server's own clock where it is known. */
export function ago(iso, at = Date.now()) {
  const past = (at - Date.parse(iso)) / 1000;
  return past < 5 ? "just now" : `${seconds(Math.max(past, 1))} ago`;
}

/** The local time of day; with the date if it was not today. */
export function moment(iso) {
  const then = new Date(iso);
  return sameDay(then, Date.now()) ? clock.format(then) : `${date.format(then)}, ${hours.format(then)}`;
}

/** Whether two times are of the same local day. */
export function sameDay(one, other) {
  return date.format(new Date(one)) === date.format(new Date(other));
}

/** The hour and minute, with the day where a chart goes over several. */
export function tick(iso, long) {
  const then = new Date(iso);
  return long ? `${short.format(then)} ${hours.format(then)}` : hours.format(then);
}

/** The same instant in UTC, for a title. */
function utc(iso) {
  return `${new Date(iso).toISOString().replace("T", " ").slice(0, 19)} UTC`;
}

/** A `time` element; `how` makes its words. */
export function time(iso, how = moment) {
  return el("time", { datetime: iso, title: utc(iso) }, how(iso));
}
