/* What was said of typed words: each line that stands for others, with who knows it, and whether it is counted. */

import { count, el, fill, many, moment } from "./dom.js";
import { leaveOut, takeIn } from "./fact_choice.js";
import { page } from "./fact_state.js";
import { Way } from "./kinds.js";
import { inWords } from "./sentences.js";

/** The most agents that are named below a line. */
const NAMED = 8;
/** How an agent came to know of it, where it was not told. */
const HOW = {
  [Way.SAID]: "said it",
  [Way.OVERHEARD]: "overheard",
  [Way.DID]: "did it",
  [Way.GOT]: "got it",
  [Way.SAW]: "saw it",
};

/** Draw into a section what was said with the typed words; it is hidden if all of it is one fact. */
export function drawStrands(section) {
  const { strands } = page.fact;
  const likely = strands.filter((each) => each.likely);
  const refused = strands.filter((each) => each.refused);
  section.hidden = strands.length < 2 && !refused.length;
  if (section.hidden) return;
  fill(
    section,
    folded(
      `Counted as of it: ${many(likely.length, "thing")} that ${likely.length === 1 ? "was" : "were"} said`,
      likely,
    ),
    folded(`Left out: ${count(refused.length)}`, refused),
  );
}

function folded(title, strands) {
  return strands.length
    ? el(
        "details",
        {},
        el("summary", { "data-opens": true }, title),
        el("ol", { class: "strands" }, strands.map(row)),
      )
    : null;
}

function row(strand) {
  const { id, n, text, private: hidden, likely, knowers } = strand;
  const named = knowers.slice(0, NAMED);
  const rest = knowers.length - named.length;
  return el(
    "li",
    { class: hidden ? "whispered" : "", "data-row": true, tabindex: "-1" },
    el("a", { href: `/agents/fact?agent=${id}&n=${n}`, "data-opens": true, dir: "auto" }, text),
    " ",
    el("small", {}, from(strand), " · ", likely ? leaveOut(strand) : takeIn(strand)),
    el(
      "p",
      { class: "hearings" },
      named.map((each) => knower(each, strand)),
      rest ? el("small", {}, `and ${count(rest)} more`) : null,
    ),
  );
}

/** Who said it to whom, and when; how many lines belong to it. */
function from({ speaker, to, private: hidden, time, tellings }) {
  const whom = to.length ? ` to ${inWords(to)}` : "";
  const lines = tellings > 1 ? ` · with ${many(tellings - 1, "other line")}` : "";
  return [hidden ? `${hidden}, ` : "", `${speaker}${whom}, `, moment(time), lines];
}

/** An agent that knows it; how and from whom, where that is not plain from the line. */
function knower({ id, agent, n, way, source }, { speaker }) {
  const how = HOW[way] ?? (source && source !== speaker ? `from ${source}` : "");
  return el(
    "a",
    { href: `/agents/${id}/#memory/${n}`, class: way, dir: "auto" },
    agent,
    how ? el("small", {}, ` ${how}`) : null,
  );
}
