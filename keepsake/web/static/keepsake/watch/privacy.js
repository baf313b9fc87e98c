/* How something is private, in the same words and colour on all pages: whispered, alone with Bob, keeps it for Bob. */

import { el } from "./dom.js";

/** For words that only who spoke and who was addressed could hear. */
export const WHISPERED = "whispered";
/** For what rests on private memories, where nobody is named who may know of it. */
export const KEPT = "keeps it private";

/** The mark of what is private; null if anybody may know it. `how`: in words, as the API has it; true if nobody is
 * named who may know. */
export function privacyMark(how) {
  return how ? el("span", { class: "flag private" }, how === true ? KEPT : how) : null;
}
