/* Lines near in meaning to typed words: a click says which of them is meant, ticks say which several are. */

import { get } from "./api.js";
import { el, fill, many, moment } from "./dom.js";
import { drawUnknowing } from "./fact_answer.js";
import { box, choices, takeIn, takeTicked } from "./fact_choice.js";
import { chosen, page } from "./fact_state.js";
import { inWords } from "./sentences.js";

/** The most lines that are shown: of more, nobody reads all. */
const MOST = 5;
let asked = 0;

/** Ask for the lines near to the words of the address, or to its chosen lines; nothing if it has no words. */
export async function near() {
  const q = page.parameters.get("q");
  if (!q) return [];
  try {
    return await get("fact/near", { q, also: page.parameters.get("also") });
  } catch {
    // Without an index the words alone have to do; the page says what it found by them.
    return [];
  }
}

/** Draw into a section the lines that are near and do not count, once they have been found. */
export async function drawMeant(section, found, follow) {
  asked += 1;
  const now = asked;
  section.hidden = true;
  const lines = (await found).filter((each) => !isKnown(each)).slice(0, MOST);
  if (now !== asked) return;
  page.near = lines;
  drawUnknowing(); // who heard one of these may know it
  section.hidden = !lines.length && !chosen();
  const none = page.fact.tellings.every(({ asks }) => asks);
  fill(section, choices(follow), lines.length ? offered(lines, none, follow) : null);
}

/** The lines: as a question if nothing tells it, else folded, as nothing may be missing. */
function offered(lines, asks, follow) {
  const list = el("ol", { class: "strands near" });
  const several = takeTicked(list, follow);
  list.append(...lines.map((each) => row(each, several.update)));
  const all = [list, lines.length > 1 ? el("p", {}, several.button, " that I ticked") : null];
  return asks
    ? [el("h2", {}, "Which of these lines do you mean? One, or several"), all]
    : el(
        "details",
        { open: chosen() }, // who has chosen one may want more
        el(
          "summary",
          { "data-opens": true },
          page.parameters.has("also")
            ? `The same, perhaps, in other words: ${many(lines.length, "line")}, not counted`
            : `${many(lines.length, "line")} near in meaning, not counted`,
        ),
        all,
      );
}

/** Whether a line is followed already, or was left out. */
function isKnown({ happenings }) {
  const { tellings, strands } = page.fact;
  const known = [
    ...tellings.map((each) => each.happening),
    ...strands.flatMap((each) => each.happenings),
  ];
  return happenings.some((each) => known.includes(each));
}

/** A line, which is a link that chooses it, and a box; below, who said it to whom, and when. */
function row(line, ticked) {
  const { speaker, to, private: hidden, text, time } = line;
  const whom = to.length ? ` to ${inWords(to)}` : "";
  return el(
    "li",
    { class: hidden ? "whispered" : "", "data-row": true, tabindex: "-1" },
    box(line, ticked),
    " ",
    takeIn(line, text),
    " ",
    el(
      "small",
      {},
      el("span", { dir: "auto" }, speaker || "somebody", whom),
      hidden ? `, ${hidden}` : "",
      `, ${moment(time)}`,
    ),
  );
}
