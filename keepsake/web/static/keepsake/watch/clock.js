/* The one clock of the pages: the world's. All times are shown and typed by it; the reader's own time is in titles. */

const HOUR = 3600000;
const DAY = 24 * HOUR;

/** The world's time zone, which the page names; UTC if this browser does not know it. */
export const ZONE = known(document.documentElement.dataset.zone);
const READERS = new Intl.DateTimeFormat().resolvedOptions().timeZone;

function known(zone) {
  try {
    return new Intl.DateTimeFormat("en-GB", { timeZone: zone }).resolvedOptions().timeZone;
  } catch {
    return "UTC";
  }
}

/** The zones that the world lived by before, oldest first: until when, in milliseconds, and the name. */
const EARLIER = (document.documentElement.dataset.zones ?? "")
  .split(" ")
  .filter(Boolean)
  .map((each) => each.split("="))
  .map(([until, zone]) => [Number(until) * 1000, known(zone)]);

/** The zone that the world lived by at a moment: what was said then speaks of its hours. */
function zoneAt(moment) {
  return EARLIER.find(([until]) => moment < until)?.[1] ?? ZONE;
}

/** A formatter of times by the world's clock of then, or by that of another zone. */
export function formatter(options, zone = "") {
  const made = new Map();
  const at = (moment) => {
    const name = zone || zoneAt(moment);
    if (!made.has(name))
      made.set(name, new Intl.DateTimeFormat("en-GB", { ...options, timeZone: name }));
    return made.get(name);
  };
  return {
    format: (moment) => at(moment).format(moment),
    formatToParts: (moment) => at(moment).formatToParts(moment),
  };
}

const WHOLE = {
  year: "numeric",
  month: "numeric",
  day: "numeric",
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
  hourCycle: "h23",
};
const DAYTIME = { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" };
const worlds = formatter(WHOLE);
const worldsDaytime = formatter(DAYTIME);
const readersDaytime = formatter(DAYTIME, READERS);

/** What the world's clock shows at a moment, as the milliseconds since 1970 at which a clock in UTC shows the same. */
function shown(moment) {
  const of = Object.fromEntries(
    worlds.formatToParts(moment).map(({ type, value }) => [type, Number(value)]),
  );
  return Date.UTC(of.year, of.month - 1, of.day, of.hour, of.minute, of.second);
}

/** The moment at which the world's clock shows that. Clocks skip an hour in spring: then a moment beside it. */
function momentOf(face) {
  const near = face - (shown(face) - face);
  return new Date(face - (shown(near) - near));
}

/** The moment at which it is `hour` o'clock on the world's day of a moment; 30 is six o'clock on the day after. */
export function onDay(moment, hour = 0) {
  return momentOf(Math.floor(shown(moment) / DAY) * DAY + hour * HOUR);
}

/** How many dates of the world's clock lie between two moments: 1 if the second is on the day after. */
export function datesBetween(one, other) {
  return Math.floor(shown(new Date(other)) / DAY) - Math.floor(shown(new Date(one)) / DAY);
}

/** A moment as the value of a field for date and time, to the second. */
export function toField(moment) {
  return new Date(shown(moment)).toISOString().slice(0, 19);
}

/** The moment that somebody typed into such a field. */
export function fromField(value) {
  return momentOf(Date.parse(`${value}Z`));
}

/** The moment of a day and a time of day that somebody typed: `2026-05-01` and `6:30`. */
export function fromDay(day, hour) {
  return fromField(`${day}T${hour.replace(/^\d:/, "0$&")}`);
}

/** A moment by the reader's own clock; empty if that shows the same as the world's. */
export function byReader(moment) {
  const own = readersDaytime.format(moment);
  return own === worldsDaytime.format(moment) ? "" : `${own} by your clock (${READERS})`;
}

/** How a plan's line begins that has a time, by the world's clock. */
const DATED = /^(\d{4})-(\d\d)-(\d\d) (\d\d:\d\d)/;

/** A plan's line with its time as people say it: `29 Nov, 19:35, at Pump Square: …`. */
export function byTheClock(line) {
  return line.replace(DATED, (_, year, month, date, hour) => {
    const day = new Date(Date.UTC(year, month - 1, date));
    const format = { day: "numeric", month: "short", timeZone: "UTC" };
    return `${day.toLocaleDateString("en-GB", format)}, ${hour}`;
  });
}
