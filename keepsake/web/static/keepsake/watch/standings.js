/* How somebody has a fact, in words: the same on all pages. */

import { Kept, Standing } from "./kinds.js";

/** How much of a text somebody, or a summary, has. */
export const FORMS = {
  [Kept.VERBATIM]: "word for word", [Kept.SHORTER]: "told shorter", [Kept.WHISPERED]: "whispered", [Kept.GONE]: "lost",
};
export const WHISPERED = "kept in the archive, never summarised";
const WHERE = { [Standing.WINDOW]: "", [Standing.RECENT]: ", in its short-term summary", [Standing.LONGTERM]: ", in its long-term summary" };

/**
 * How an agent has a fact: knows it word for word; has it told shorter, in its short-term summary.
 * `typed`: whether words were typed, so that what each heard is a sentence of its own.
 */
export function stands({ standing, kept }, typed) {
  if (kept === Kept.WHISPERED) return `was told in private: ${WHISPERED}`;
  if (standing === Standing.LOST) return "has lost it: only its archive and recall have it";
  const how = typed ? "has a sentence with these words" : standing === Standing.WINDOW ? "knows it" : "has it";
  return `${how} ${FORMS[kept]}${WHERE[standing]}`;
}
