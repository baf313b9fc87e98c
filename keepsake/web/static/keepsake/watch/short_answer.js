/* The short answer to a question about an agent: a few lines, each with what it is. */

import { get } from "./api.js";
import { count, el, fill } from "./dom.js";
import { QuestionKind } from "./kinds.js";
import { privacyMark } from "./privacy.js";

/** The questions that are answered in plain lines: what is long is cut, and whole on hover. */
const PLAIN = [QuestionKind.KNOWS, QuestionKind.NEXT, QuestionKind.THEN];

/** The lines of a short answer of the API, at most `most` of them; null for none. `linked`: with ways to memories. */
export function answerLines({ id, lines, asked }, { most = Infinity, linked = true } = {}) {
  if (!lines.length) return null;
  return el(
    "dl",
    { class: PLAIN.includes(asked) ? "short-answer plain" : "short-answer" },
    lines
      .slice(0, most)
      .map((line, i, all) => row(id, line, line.label === all[i - 1]?.label, linked)),
  );
}

/** Two elements of a list; a label that is the same as above is not repeated for the eye. */
function row(id, { label, text, whole, aside, private: hidden, number }, repeated, linked) {
  return [
    el("dt", {}, repeated ? el("span", { class: "unseen" }, label) : label),
    el(
      "dd",
      { class: hidden ? "hidden-part" : null },
      el("bdi", { title: whole || text }, text),
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

/** The short answer to an offered question, by its agent's number; null for one about nobody in particular. */
export function answerTo(id, of, about) {
  return get(id === null ? "answer" : `agents/${id}/answer`, { of, about });
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
    .then((found) => fill(place, answerLines(found)))
    .catch(() => fill(place)); // what stands below answers, too, or says what is wrong
  return place;
}

/** The first lines of an answer without ways to elsewhere, as they stand below a question. */
export function answerWords(found, most) {
  if (!found.length) return el("span", { class: "line dim" }, "Nothing is known of it.");
  return found
    .slice(0, most)
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
