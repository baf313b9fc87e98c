/* What one agent knows of a person, as a card. */

import { byTheClock, formatter } from "./clock.js";
import { count, el, many, sameDay, tick, time, whereLink } from "./dom.js";
import { By, MemoryKind } from "./kinds.js";
import { TIERS } from "./memories.js";
import { KEPT, privacyMark } from "./privacy.js";
import { PHONE } from "./questions.js";
import { told } from "./sentences.js";

/** The most lines of a card that are shown before the others are folded. */
const SHOWN = PHONE.matches ? 3 : 6;
const date = formatter({ day: "numeric", month: "long", year: "numeric" });
const day = (iso) => date.format(new Date(iso));

/** The card of an agent; `known` is of the API's answer `person`, `name` the person's name. `short`: all that it knows
 * is folded, and made when it is first opened. */
export function personCard(known, name, short = false) {
  const here = `/agents/${known.id}/`;
  const all = () => [
    known.portrait ? el("p", { class: "portrait", dir: "auto" }, known.portrait) : null,
    known.remarks ? el("p", { dir: "auto" }, known.remarks) : null,
    kept(known, name),
    confided(known, name),
    said(known, name),
    mentions(known, "In summaries and the journal"),
    others(known, name),
    ownWords(known, name),
  ];
  return el(
    "li",
    { class: "known", id: `knows-${known.id}`, "data-row": true, tabindex: "-1" },
    el("h3", {}, el("a", { href: here, "data-opens": true, dir: "auto" }, known.agent)),
    el("p", { class: "dim" }, met(known, name)),
    short ? later(sums(known), all) : all(),
  );
}

/** A fold whose content is made when it is first opened. */
function later(title, make) {
  const fold = el("details", { class: "folded" }, el("summary", {}, title));
  fold.addEventListener("toggle", () => fold.append(...el("div", {}, make()).childNodes), {
    once: true,
  });
  return fold;
}

/** How much an agent knows, in numbers. */
function sums({ pins, notes, promises, plans, lines, mentions: passages }) {
  const hidden = lines.filter((each) => each.private).length;
  const parts = [
    [lines.length - hidden, "line"],
    [hidden, "line in private", "lines in private"],
    [pins.length + notes.length, "note"],
    [promises.length + plans.length, "plan"],
    [passages.length, "passage", "passages of summaries"],
  ];
  const said = parts.filter(([number]) => number).map((each) => many(...each));
  return said.join(", ") || "What it remembers";
}

/** Its pins, notes, promises and plans about somebody. */
export function kept(known, name) {
  return [
    part(
      "Pinned",
      known.pins.map((each) => row(each.text, each.numbers, each, known.id)),
    ),
    part(
      `Notes about ${name}`,
      known.notes.map((each) => row(`${each.title}: ${each.text}`, each.numbers, each, known.id)),
    ),
    part(
      "Promises",
      known.promises.map((each) =>
        row(each.text, each.memory ? [each.memory] : [], each, known.id),
      ),
    ),
    part(
      "Plans",
      known.plans.map((each) => row(byTheClock(each.line), [], each, known.id)),
    ),
  ];
}

/** What its summaries and its journal say of somebody. */
export function mentions(known, title) {
  return part(
    title,
    newestFirst(known.mentions).map((each) =>
      row(
        inParts(each),
        each.numbers,
        each,
        known.id,
        each.tier ? TIERS[each.tier].toLowerCase() : "journal",
      ),
    ),
  );
}

/** What it was told in private. */
function confided(known, name) {
  const lines = newestFirst(known.lines.filter((each) => each.private));
  return part(
    `Told ${known.agent} in private`,
    lines.map((each) => lineRow(each, known, name)),
  );
}

/** What somebody said to it openly and did: of a long list first what tells most, whatever is newest. */
function said(known, name) {
  const lines = newestFirst(known.lines.filter((each) => !each.private).toReversed());
  const rows = (some) => some.map((each) => lineRow(each, known, name));
  const title = `Said to ${known.agent} and done (${count(lines.length)})`;
  if (lines.length <= SHOWN) return part(`${title}, the newest first`, rows(lines));
  const most = lines.toSorted((a, b) => b.weight - a.weight).slice(0, SHOWN);
  return [
    el("h4", {}, `${title}: what tells most`),
    el("ul", { class: "kept" }, rows(most)),
    folded(`All ${count(lines.length)}, the newest first`, rows(lines)),
  ];
}

export function lineRow(line, { id }, name) {
  return row(shown(line, name), line.numbers, line, id);
}

function isOwn({ kind }) {
  return kind === MemoryKind.ACT;
}

/** What the agent itself said and did is no knowledge of somebody: it is folded. */
export function ownWords(known, name) {
  const rows = known.memories.filter(isOwn).map((each) => memoryRow(each, known));
  return folded(`What it said and did itself about ${name}, the newest`, rows);
}

function memoryRow(memory, { id, agent }) {
  const about = { private: memory.privacy, time: memory.time };
  return row(asTold(memory, agent), [memory.number], about, id);
}

/** A memory with its subject: an own act has none. */
function asTold(memory, agent) {
  const { who, words } = told(memory, agent);
  return who ? `${who} ${words}` : words;
}

/** What else it heard of somebody: how much of it is shown, and where all is; `short`: folded. */
export function others(known, name, short = false) {
  const { id, more_memories: more, complete } = known;
  const heard = known.memories.filter((each) => !isOwn(each));
  const rows = heard.map((each) => memoryRow(each, known));
  const address = `/agents/search/?${new URLSearchParams({ agent: id, q: name, by: By.WORDS })}`;
  const total = `${complete ? "" : "at least "}${count(known.memories.length + more)}`;
  const number = more ? `${count(heard.length)} of ${total}` : count(heard.length);
  const title = `Other memories of ${name}: ${number}, the newest first`;
  const all = more || !complete ? el("a", { href: address }, "all") : null;
  // A link within a summary could not be reached by keyboard.
  if (short) return folded(title, all && rows.length ? [...rows, el("li", {}, all)] : rows);
  return part([title, all ? [" · ", all] : null], rows);
}

export function met({ meetings, first_met: first, last_met: last, agent, names }, name) {
  if (!first) return `${agent} has not met ${name}.`;
  const former = names.filter((each) => each !== name);
  const known = former.length ? ` ${agent} knows or knew them as ${former.join(", ")}.` : "";
  // Within an hour they may have met often: it is one meeting.
  const how = meetings === 1 ? "" : ` ${count(meetings)} times,`;
  return `Met${how} ${span(first, last)}.${known}`;
}

/** From when to when, in words. */
function span(first, last) {
  if (!sameDay(first, last))
    return `from ${day(first)}, ${tick(first)}, to ${day(last)}, ${tick(last)}`;
  const from = tick(first);
  const to = tick(last);
  return from === to ? `on ${day(first)} at ${from}` : `on ${day(first)} from ${from} to ${to}`;
}

/** A titled list; of a long one the rest, which is older, is folded. */
export function part(title, rows, most = SHOWN) {
  if (!rows.length) return null;
  const more = rows.slice(most);
  return [
    el("h4", {}, title),
    el("ul", { class: "kept" }, rows.slice(0, most)),
    more.length ? folded(`${count(more.length)} more`, more) : null,
  ];
}

export function folded(title, rows) {
  if (!rows.length) return null;
  return el("details", {}, el("summary", {}, title), el("ul", { class: "kept" }, rows));
}

/** In the order of time, whispers among the others. Lines of one moment, as those of one summary, keep their order. */
export function newestFirst(lines) {
  return lines.toSorted((a, b) => Date.parse(b.time) - Date.parse(a.time));
}

/** Words in quotation marks; a line of a game that does not say which part is speech, as it is. */
function shown({ text, said }, name) {
  if (text.startsWith(`${name} `)) return text;
  return said ? `“${text.replaceAll('"', "'")}”` : `${name} ${text}`;
}

/** A passage in which only those sentences are marked that rest on private words. */
function inParts({ text, private_sentences: hidden = [] }) {
  const parts = [];
  let rest = text;
  for (const sentence of hidden) {
    const at = rest.indexOf(sentence);
    if (at < 0) continue;
    parts.push(
      rest.slice(0, at),
      el("span", { class: "hidden-part" }, privacyMark(KEPT), " ", sentence),
    );
    rest = rest.slice(at + sentence.length);
  }
  return [...parts, rest];
}

export function row(words, numbers, { private: hidden, time: at }, id, from = "") {
  const memories = numbers
    .slice(0, 3)
    .map((number) =>
      el(
        "a",
        { class: "where", href: `/agents/${id}/#memory/${number}` },
        `memory ${count(number)}`,
      ),
    );
  const parts = [
    from,
    at ? time(at) : null,
    ...memories,
    numbers.length === 1 ? whereLink(id, numbers[0]) : null,
  ].filter(Boolean);
  return el(
    "li",
    { class: hidden ? "whisper" : "" },
    hidden ? [privacyMark(hidden), " "] : null,
    el("span", { dir: "auto" }, words),
    " ",
    el(
      "small",
      {},
      parts.map((each, i) => [i ? " · " : null, each]),
    ),
  );
}
