/* What an agent will do today and tomorrow: a line for what is next, and a table for each date. */

import { formatter } from "./clock.js";
import { el, personLink, seconds } from "./dom.js";

const hour = formatter({ hour: "2-digit", minute: "2-digit" });
const weekday = formatter({ weekday: "long", day: "numeric", month: "long" });
const TITLES = ["Today", "Tomorrow"];

/** The first line, and the time line of each date. `at` is the present time, in milliseconds. */
export function dayLines({ usual, now, next, dates }, at = Date.now()) {
  const known = dates.some(({ parts }) => parts.length);
  return [
    el(
      "p",
      { class: "next", "data-row": true, tabindex: "-1" },
      next
        ? [el("b", {}, "Next: "), when(next, at), ", ", ...place(next), does(next)]
        : "Nothing is known of what comes next.",
    ),
    now
      ? el(
          "p",
          { class: "now" },
          el("b", {}, "Now"),
          ` until ${clock(now.until)}: `,
          ...place(now),
          does(now),
        )
      : null,
    known
      ? dates.map(({ date, parts }, i) =>
          timeLine(`${TITLES[i]}, ${weekday.format(new Date(date))}`, parts, at),
        )
      : usualDay(usual),
    known && usual
      ? el(
          "p",
          { class: "dim" },
          "A plan comes before the usual hours when it is due. Who is in a talk, asleep or with guests stays.",
        )
      : null,
  ];
}

/** Of a game that says how a day goes, but not hour by hour. */
function usualDay(usual) {
  return usual
    ? [el("h3", {}, "The usual day"), el("p", { class: "profile", dir: "auto" }, usual)]
    : null;
}

function timeLine(title, parts, at) {
  const shown = parts.filter(({ since, until }) => Date.parse(until ?? since) > at);
  if (!shown.length) return [el("h3", {}, title), el("p", { class: "dim" }, "Nothing more.")];
  return [
    el("h3", {}, title),
    el(
      "table",
      { class: "day", "aria-label": title },
      el(
        "thead",
        { class: "unseen" },
        el(
          "tr",
          {},
          ["From, to", "Where", "What"].map((head) => el("th", { scope: "col" }, head)),
        ),
      ),
      el(
        "tbody",
        {},
        shown.map((part) => row(part, at)),
      ),
    ),
  ];
}

function row(part, at) {
  const holds = part.until && Date.parse(part.since) <= at;
  const kind = [part.plan ? "planned" : "", part.private ? "whisper" : "", holds ? "holds" : ""]
    .filter(Boolean)
    .join(" ");
  return el(
    "tr",
    { class: kind || null, "data-row": true, tabindex: "-1" },
    el(
      "td",
      { class: "when" },
      part.until ? `${clock(part.since)} – ${clock(part.until)}` : clock(part.since),
    ),
    el("td", {}, bare(part)),
    el(
      "td",
      { class: "what" },
      part.plan ? el("span", { class: "flag" }, part.private ? "plan, in private" : "plan") : null,
      " ",
      does(part),
    ),
  );
}

/** What it does, and on what that depends. */
function does({ does: deeds, only_if: given, unless }) {
  const only = given.length ? given.join(" and ") : unless.map((each) => `no ${each}`).join(", ");
  return [
    el("bdi", {}, deeds.join("; then ")),
    only ? [" ", el("span", { class: "flag" }, `if ${only}, as the almanac says`)] : null,
  ];
}

function bare({ place: where, whom }) {
  return [
    where ? el("bdi", {}, where) : null,
    where && whom ? ", " : null,
    whom ? ["with ", personLink(whom)] : null,
  ];
}

function place(part) {
  return part.place || part.whom ? [part.place ? "at " : null, ...bare(part), ": "] : [];
}

/** `at 06:00, in 5 h`. */
function when({ since }, at) {
  return `at ${clock(since)}, in ${seconds((Date.parse(since) - at) / 1000)}`;
}

/** A time of day by the world's clock. */
function clock(iso) {
  return hour.format(new Date(iso));
}
