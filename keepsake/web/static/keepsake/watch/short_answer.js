/* The short answer to a question about an agent: a few lines, each with what it is. */

import { get } from "./api.js";
import { count, el, fill, many } from "./dom.js";
import { QuestionKind } from "./kinds.js";
import { privacyMark } from "./privacy.js";

/** The most characters of a text that is shown whole everywhere: five lines of a phone; and of one that is shown whole
 * where there is room: two lines of a desk. Of a longer one the part that tells most stands for it. */
const WHOLE = 200;
const WHOLE_WIDE = 240;
/** The most words of a long answer that are seen at once, but for its first two lines: at four words a second they are
 * read in ten seconds. */
const GLANCE = 40;
/** The answers that are long, and how many of their lines are seen in any case. Of a time it is one of each kind: what
 * was meant, kept secret, and heard last. */
const LEAST = { [QuestionKind.KNOWS]: 2, [QuestionKind.THEN]: 3, [QuestionKind.LOST]: 2 };
const inWords = new Intl.Segmenter(undefined, { granularity: "word" });

/** The lines of a short answer of the API, at most `most` of them; null for none. `linked`: with ways to memories. */
export function answerLines({ id, lines }, { most = Infinity, linked = true } = {}) {
  if (!lines.length) return null;
  return el(
    "dl",
    { class: "short-answer" },
    lines
      .slice(0, most)
      .map((line, i, all) => row(id, line, line.label === all[i - 1]?.label, linked)),
  );
}

/** Two elements of a list; a label that is the same as above is not repeated for the eye. */
function row(id, line, repeated, linked) {
  const { label, aside, private: hidden, number } = line;
  return [
    el("dt", {}, repeated ? el("span", { class: "unseen" }, label) : label),
    el(
      "dd",
      { class: hidden ? "hidden-part" : null },
      words(line),
      aside || (linked && number) ? " " : null,
      el(
        "small",
        {},
        hidden ? [privacyMark(hidden), " "] : null,
        aside,
        linked && number
          ? [
              aside ? " · " : null,
              el(
                "a",
                { class: "where", href: `/agents/${id}/#memory/${number}` },
                `memory ${count(number)}`,
              ),
            ]
          : null,
      ),
    ),
  ];
}

/** What a line says: all of it if there is room, with what tells less in a paler colour; else the part that tells most. */
function words({ text, whole, part, brief }) {
  if (!whole || brief || whole.length > WHOLE_WIDE)
    return el("bdi", { title: whole || null }, text);
  const [before, ...after] = part ? whole.split(part) : [];
  const pale = (some) => (some ? el("span", { class: "pale" }, some) : null);
  const all = after.length ? [pale(before), part, pale(after.join(part))] : whole;
  if (whole.length <= WHOLE) return el("bdi", {}, all);
  return [
    el("bdi", { class: "in-brief", title: whole }, text),
    el("bdi", { class: "in-full" }, all),
  ];
}

/** The short answer to an offered question, by its agent's number; null for one about nobody in particular. */
export function answerTo(id, of, about) {
  return get(id === null ? "answer" : `agents/${id}/answer`, { of, about });
}

/** The essence of an answer: of the first line of each label, which tells most, and then of the others as many as are
 * read at a glance, at least `least`; the rest is folded. One of these that is too long is seen in brief. */
function essence({ id, lines }, least) {
  const isFirst = ({ label }, i) => lines.findIndex((each) => each.label === label) === i;
  const firsts = lines.filter(isFirst);
  const seen = new Map();
  let room = GLANCE;
  for (const line of [...firsts, ...lines.filter((each) => !firsts.includes(each))]) {
    const isFull = length(line) <= room;
    if (seen.size >= least && !isFull) continue;
    const shown = isFull ? line : { ...line, brief: true };
    seen.set(line, shown);
    room -= length(shown);
  }
  const rest = lines.filter((line) => !seen.has(line));
  return [
    answerLines({ id, lines: lines.flatMap((line) => seen.get(line) ?? []) }),
    rest.length ? folded(id, rest) : null,
  ];
}

/** The other lines of an answer, folded. */
function folded(id, rest) {
  return el(
    "details",
    { class: "more-lines" },
    el("summary", {}, many(rest.length, "more line")),
    answerLines({ id, lines: rest }),
  );
}

/** How many words of a line are seen where there is room. */
function length({ label, text, whole, aside, brief }) {
  const shown = whole && !brief && whole.length <= WHOLE_WIDE ? whole : text;
  const all = [...inWords.segment(`${label} ${shown} ${aside}`)];
  return all.filter(({ isWordLike }) => isWordLike).length;
}

/** A place on a page for a short answer, which is asked for at once. It stays empty if there is none: the page says more.
 *
 * `of`: what is asked; `about`: whom or what about.
 */
export function lead(id, of, about = "") {
  return answerIn(el("div", { class: "lead" }), id, of, about);
}

/** Fill a place with a short answer, as soon as it comes; return the place. */
export function answerIn(place, id, of, about) {
  fill(place, el("span", { class: "dim" }, "…"));
  answerTo(id, of, about)
    .then((found) => {
      fill(place, of in LEAST ? essence(found, LEAST[of]) : answerLines(found));
    })
    .catch(() => fill(place)); // what stands below answers, too, or says what is wrong
  return place;
}

/** The first lines of an answer without ways to elsewhere, as they stand below a question: at most `most` lines, and those
 * after the first only if they are read at a glance. */
export function answerWords(found, most) {
  if (!found.length) return el("span", { class: "line dim" }, "Nothing is known of it.");
  let room = GLANCE;
  return found
    .slice(0, most)
    .filter((line, i) => {
      const long = length({ ...line, brief: true });
      const isSeen = !i || long <= room;
      if (isSeen) room -= long;
      return isSeen;
    })
    .map(({ label, text, aside, private: hidden }) =>
      el(
        "span",
        { class: hidden ? "line hidden-part" : "line" },
        el("small", {}, label ? `${label}: ` : ""),
        el("bdi", {}, text),
        hidden ? el("small", {}, " ", privacyMark(hidden)) : null,
        aside ? el("small", {}, ` ${aside}`) : null,
      ),
    );
}
