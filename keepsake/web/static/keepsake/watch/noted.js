/* Where an agent's books have a fact: it knows it from there, whatever its summaries say. */

import { count, el, time } from "./dom.js";
import { EditableBook } from "./kinds.js";
import { privacyMark } from "./privacy.js";

const PLACES = {
  [EditableBook.PINS]: () => "the pins, in all prompts",
  [EditableBook.PROMISES]: (whom) => `the promise${whom && ` to ${whom}`}, in all prompts`,
  [EditableBook.PLANS]: () => "the plans, in all prompts",
  [EditableBook.PEOPLE]: (name) => `the page of ${name}, in the prompts while ${name} is there`,
  [EditableBook.NOTES]: (title) => `the note “${title}”, which recall finds`,
  [EditableBook.JOURNAL]: () => "the journal",
};
/** The places that are shown before the others are folded. */
const SHOWN = 2;

/** The place of a line in words: `the page of Anneke, in the prompts while Anneke is there`. */
export function placeOf({ book, title }) {
  return PLACES[book](title);
}

/** A list of the lines of an agent's books that have a fact; null for none. */
export function notedList(noted) {
  if (!noted.length) return null;
  const list = (some) => el("ul", { class: "noted" }, some.map(row));
  const rest = noted.slice(SHOWN);
  return [
    list(noted.slice(0, SHOWN)),
    rest.length
      ? el("details", {}, el("summary", {}, `${count(rest.length)} more in the books`), list(rest))
      : null,
  ];
}

function row(line) {
  const { id, text, numbers, time: at, private: hidden } = line;
  return el(
    "li",
    { class: hidden ? "whisper" : "" },
    hidden ? [privacyMark(hidden), " "] : null,
    el("small", {}, `In ${placeOf(line)}: `),
    el("q", { dir: "auto" }, text),
    " ",
    el(
      "small",
      {},
      at ? time(at) : null,
      numbers
        .slice(0, 2)
        .map((number) => [
          " · ",
          el("a", { href: `/agents/${id}/#memory/${number}` }, `memory ${count(number)}`),
        ]),
    ),
  );
}
