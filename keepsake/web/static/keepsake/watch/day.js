/* What an agent does and will do: lines for what is due, what is next and where it is, and a table for each date. */

import { formatter } from "./clock.js";
import { el, personLink, seconds } from "./dom.js";
import { secretFlag } from "./next_plan.js";

const hour = formatter({ hour: "2-digit", minute: "2-digit" });
const TITLES = ["Hours of today", "Hours of tomorrow"];
/** Milliseconds without anything known from which on that is said. */
const LEAST = 60000;

/** The first lines: what is due, what is next and where it is. `at` is the present time, in milliseconds. */
export function dayLines({ place: here, due, now, next }, at = Date.now()) {
  return [
    due.map((each) => boxed(each, dueLine(each, at))),
    next
      ? boxed(
          next,
          [el("b", {}, next.plan ? "Next: " : "Usually next: "), when(next, at), ", "],
          unknown(now, next, at),
        )
      : el(
          "p",
          { class: "next", "data-row": true, tabindex: "-1" },
          "Nothing is known of what comes next.",
        ),
    present(here, now),
  ];
}

/** The time line of each date. */
export function dayTables({ usual, dates }, at = Date.now()) {
  const known = dates.some(({ parts }) => parts.length);
  return [
    known ? dates.map(({ parts }, i) => timeLine(TITLES[i], parts, at)) : usualDay(usual),
    known && usual
      ? el(
          "p",
          { class: "dim" },
          "Rows that are no plan are habits: they know nothing of what was said today. A plan that is due comes before them. Who is in a talk, asleep or with guests stays.",
        )
      : null,
  ];
}

/** Its hours of tomorrow in a few words: `06:00 at The Office, 13:00 with Bram`; empty if they are not known. */
export function usualHours({ usual, dates }) {
  const parts = (dates[1]?.parts ?? []).filter(({ plan }) => !plan);
  const hours = parts.map(({ since, place: where, whom, does: deeds }) => {
    const there = [where && `at ${where}`, whom && `with ${whom}`].filter(Boolean);
    return [clock(since), (there.length ? there : deeds.slice(0, 1)).join(" ")];
  });
  // Where it stays, it may do several things.
  const moves = hours.filter(([, there], i) => there !== hours[i - 1]?.[1]);
  return moves.map((each) => each.join(" ")).join(", ") || usual.replace(/\.$/, "");
}

/** Of hours before what is next that the game says nothing about; null if there are none. */
function unknown(now, next, at) {
  const from = Math.max(now ? Date.parse(now.until) : at, at);
  if (Date.parse(next.since) - from < LEAST) return null;
  return el("small", {}, ` (nothing is known ${now ? `from ${clock(now.until)} ` : ""}until then)`);
}

/** The part of a day that a line of its own shows, after the words that lead to it. */
function boxed(part, leading, following = null) {
  return el(
    "p",
    { class: kindOf(part), "data-row": true, tabindex: "-1" },
    leading,
    ...place(part),
    part.private ? [secretFlag(part.private), " "] : null,
    does(part),
    following,
  );
}

/** How a line stands out: a plan most, and what is only usual at that hour not at all. */
function kindOf({ plan, private: isPrivate }) {
  if (!plan) return "next usual";
  return isPrivate ? "next whisper" : "next";
}

/** A plan whose time has come: `Now: since 20:05 (begun), `. */
function dueLine({ since, begun }, at) {
  return begun
    ? [el("b", {}, "Now: "), `since ${clock(since)} (begun), `]
    : [el("b", {}, "Due: "), `since ${clock(since)}, ${late(since, at)} ago, not begun, `];
}

function late(since, at) {
  return seconds((at - Date.parse(since)) / 1000);
}

/** Where it is, which is a fact, and what it usually does at this hour, which may not be so today. */
function present(here, now) {
  if (!here && !now) return null;
  return el(
    "p",
    { class: "now" },
    here ? ["Here now: ", el("bdi", {}, here), ". "] : null,
    now ? [el("b", {}, "Usually"), ` until ${clock(now.until)}: `, ...place(now), does(now)] : null,
  );
}

/** Of a game that says how a day goes, but not hour by hour. */
function usualDay(usual) {
  return usual
    ? [el("h3", {}, "The usual day"), el("p", { class: "profile", dir: "auto" }, usual)]
    : null;
}

function timeLine(title, parts, at) {
  const shown = parts.filter(({ until }) => !until || Date.parse(until) > at);
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
      part.plan ? el("span", { class: "flag" }, planWords(part, at)) : null,
      " ",
      does(part),
    ),
  );
}

function planWords({ since, begun, private: hidden }, at) {
  const state = begun ? "begun" : Date.parse(since) <= at ? "due" : "";
  return ["plan", state, hidden].filter(Boolean).join(", ");
}

/** What it does, and on what that depends. */
function does({ does: deeds, only_if: given, unless }) {
  const only = given.length
    ? `if the almanac says ${given.map(quoted).join(" and ")}`
    : unless.length && `unless the almanac says ${unless.map(quoted).join(" or ")}`;
  return [
    el("bdi", {}, deeds.join("; then ")),
    only ? [" ", el("span", { class: "flag" }, only)] : null,
  ];
}

/** A word of the almanac, which need not fit into a sentence: `clear`. */
const quoted = (word) => `“${word}”`;

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
