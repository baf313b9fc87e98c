/* Where an agent's books have a fact: it knows it from there, whatever its summaries say. */

import { count, el, time } from "./dom.js";
import { EditableBook } from "./kinds.js";

const PLACES = {
  [EditableBook.PINS]: () => "its pins, in all its prompts",
  [EditableBook.PROMISES]: (whom) => `its promise${whom && ` to ${whom}`}, in all its prompts`,
  [EditableBook.PLANS]: () => "its plans, in all its prompts",
  [EditableBook.PEOPLE]: (name) => `its page of ${name}, in its prompts while ${name} is there`,
  [EditableBook.NOTES]: (title) => `its note “${title}”, which recall finds`,
  [EditableBook.JOURNAL]: () => "its journal",
};
/** The places that are shown before the others are folded. */
const SHOWN = 2;

/** The place of a line in words: `its page of Anneke, in its prompts while Anneke is there`. */
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
      ? el("details", {}, el("summary", {}, `${count(rest.length)} more in its books`), list(rest))
      : null,
  ];
}

function row(line) {
  const { id, text, numbers, time: at, private: hidden } = line;
  return el(
    "li",
    { class: hidden ? "whisper" : "" },
    hidden ? el("small", { class: "flag" }, "in private ") : null,
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
