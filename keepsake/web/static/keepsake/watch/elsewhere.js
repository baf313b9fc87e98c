/* Who still has what a compaction lost: the agent's books, and other agents. */

import { el } from "./dom.js";
import { EditableBook, Standing } from "./kinds.js";

const BOOKS = {
  [EditableBook.PEOPLE]: (title) => `on its page of ${title}`,
  [EditableBook.NOTES]: (title) => `in its note “${title}”`,
  [EditableBook.PINS]: () => "pinned",
  [EditableBook.PROMISES]: () => "among its promises",
  [EditableBook.PLANS]: () => "among its plans",
  [EditableBook.JOURNAL]: () => "in its journal",
};

/** A line for below a lost memory; null if nobody has it any more. */
export function stillHeld(places) {
  if (!places?.length) return null;
  const names = (wanted) =>
    places.filter(({ standing }) => wanted(standing)).map(({ title }) => title);
  const word = names((standing) => standing === Standing.WINDOW);
  const told = names((standing) => standing && standing !== Standing.WINDOW);
  const own = places.filter(({ book }) => book).map(({ book, title }) => BOOKS[book](title));
  const parts = [
    own.length ? `still ${own.join(", ")}` : "",
    word.length ? `${word.join(", ")} still ${word.length > 1 ? "have" : "has"} it` : "",
    told.length ? `in the summary of ${told.join(", ")}` : "",
  ];
  return el("small", { class: "told still", dir: "auto" }, parts.filter(Boolean).join("; "));
}
