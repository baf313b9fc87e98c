/* How somebody has a fact, in words: the same on all pages. */

import { Kept, Standing } from "./kinds.js";

/** How much of a text somebody, or a summary, has. */
export const FORMS = {
  [Kept.VERBATIM]: "word for word",
  [Kept.SHORTER]: "told shorter",
  [Kept.UNSURE]: "perhaps told",
  [Kept.WHISPERED]: "whispered",
  [Kept.GONE]: "lost",
};
export const WHISPERED = "kept in the archive, never summarised";
/** Where somebody has a fact. */
export const WHERE = {
  [Standing.WINDOW]: "in the window",
  [Standing.RECENT]: "in the short-term summary",
  [Standing.LONGTERM]: "in the long-term summary",
};

/**
 * How an agent has a fact: knows it word for word; has it told shorter, in the short-term summary.
 * `typed`: whether words were typed, so that what each heard is a sentence of its own.
 */
export function stands({ standing, kept }, typed) {
  if (kept === Kept.WHISPERED) return `was told in private: ${WHISPERED}`;
  if (standing === Standing.LOST) return "has lost it: only the archive and recall have it";
  if (typed) return `${kept === Kept.UNSURE ? "may have" : "has"} these words ${WHERE[standing]}`;
  if (standing === Standing.WINDOW) return `knows it ${FORMS[kept]}`;
  return kept === Kept.UNSURE
    ? `may have it, ${WHERE[standing]}`
    : `has it ${FORMS[kept]}, ${WHERE[standing]}`;
}
