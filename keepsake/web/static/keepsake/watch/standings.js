/* How somebody has a fact, in words: the same on all pages. */

import { Kept, Standing } from "./kinds.js";

/** How much of a text somebody, or a summary, has. */
export const FORMS = {
  [Kept.VERBATIM]: "word for word",
  [Kept.SHORTER]: "told shorter",
  [Kept.LIKELY]: "probably told",
  [Kept.UNSURE]: "perhaps told",
  [Kept.WHISPERED]: "private",
  [Kept.GONE]: "lost",
};
/** What is not known, because the writer of the summary did not say which memories it tells. */
const GUESSES = { [Kept.UNSURE]: "may have", [Kept.LIKELY]: "probably has" };
export const WHISPERED = "word for word in the archive, never summarised";
/** Where somebody has a fact. */
export const WHERE = {
  [Standing.WINDOW]: "among the newest memories",
  [Standing.RECENT]: "in the short-term summary",
  [Standing.LONGTERM]: "in the long-term summary",
};

/**
 * How an agent has a fact: knows it word for word; has it told shorter, in the short-term summary.
 * `typed`: whether words were typed, so that what each heard is a sentence of its own; `several`:
 * whether these are of several facts, so that another line may have them still than what is asked about.
 */
export function stands({ standing, kept }, typed, several = false) {
  if (kept === Kept.WHISPERED) return `keeps it private: ${WHISPERED}`;
  if (standing === Standing.LOST) return "has it only by recall: it is in no prompt otherwise";
  const guess = GUESSES[kept];
  if (typed && standing === Standing.WINDOW)
    return kept === Kept.VERBATIM
      ? `still has ${several ? "a line with " : ""}these words, word for word`
      : `told it on in words of its own, ${WHERE[standing]}`;
  if (typed) return `${guess ?? "has"} these words ${WHERE[standing]}`;
  if (standing === Standing.WINDOW) return `knows it ${FORMS[kept]}`;
  return guess ? `${guess} it, ${WHERE[standing]}` : `has it ${FORMS[kept]}, ${WHERE[standing]}`;
}
