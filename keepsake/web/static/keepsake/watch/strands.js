/* What was said of typed words: each line that stands for others, with who knows it. */

import { count, el, fill, many, moment } from "./dom.js";
import { Way } from "./kinds.js";
import { inWords } from "./sentences.js";

/** The most lines that are shown; the others are folded. */
const SHOWN = 6;
/** The most agents that are named below a line. */
const NAMED = 8;
/** The most agents whose first hearing is shown. */
const MOST_FIRST = 12;
/** How an agent first came to know of it, where it was not told openly. */
const FIRST = {
  [Way.SAID]: "said it, from whom is not recorded",
  [Way.OVERHEARD]: "overheard",
  [Way.WHISPERED]: "in private",
  [Way.SAW]: "saw it",
};
/** How an agent came to know of it, where it was not told. */
const HOW = {
  [Way.SAID]: "said it",
  [Way.OVERHEARD]: "overheard",
  [Way.SAW]: "saw it",
};

/** Draw into a section who knows of typed words, and what was said of them; it is hidden if all of it is one fact.
 *
 * `ignorant`: the names of the agents that know nothing of it.
 */
export function drawStrands(section, fact, ignorant) {
  const { strands, knowers } = fact;
  const likely = strands.filter((each) => each.likely);
  const others = strands.filter((each) => !each.likely);
  section.hidden = strands.length < 2;
  if (section.hidden) return;
  const [shown, more] = [likely.slice(0, SHOWN), likely.slice(SHOWN)];
  fill(
    section,
    likely.length > 1
      ? [
          el("h2", {}, "Who has heard of it, and from whom"),
          el("p", { class: "hearings" }, chips(fact, likely), and(knowers)),
          ignorant.length
            ? el(
                "p",
                { class: "dim" },
                `Not found with ${inWords(ignorant)}, who may have it in other words.`,
              )
            : null,
        ]
      : null,
    el("h2", {}, "What was said of it"),
    el("ol", { class: "strands" }, shown.map(row)),
    folded(`${count(more.length)} more`, more),
    folded(`Perhaps of something else: ${many(others.length, "line")}`, others),
  );
}

/**
 * Who knows of it, each by the likeliest line that it knows: of the likeliest fact, or of others
 * that have all words. Whoever knows only lines in which the words may mean something else is in doubt.
 */
function chips({ knowers, tellings }, likely) {
  const best = (id) => {
    const knows = (strand) => strand.knowers.some((each) => each.id === id);
    const sure = likely.find((strand, i) => (!i || strand.written) && knows(strand));
    const strand = sure ?? likely.find(knows);
    return { strand, doubtful: !sure };
  };
  return knowers
    .map((knower) => ({ knower, ...best(knower.id) }))
    .toSorted((a, b) => a.doubtful - b.doubtful)
    .slice(0, MOST_FIRST)
    .map(({ knower, strand, doubtful }) => chip(knower, strand, doubtful, tellings));
}

/** How an agent came to know a line: from whom, and when. */
function chip({ id, agent, path }, strand, doubtful, tellings) {
  const known = strand?.knowers.find((each) => each.id === id);
  const { n, way, source } = known ?? { ...path.at(-1), way: "", source: "" };
  const telling = tellings.find(({ hearings }) =>
    hearings.some((each) => each.id === id && each.n === n),
  );
  const from = source ? `from ${source}` : "";
  const began = way === Way.SAID && tellings[0]?.id === id;
  const how = began ? "said it first" : [FIRST[way] ?? "", from].filter(Boolean).join(" ");
  return el(
    "a",
    {
      href: `/agents/${id}/#memory/${n}`,
      class: doubtful ? "doubtful" : way,
      title: telling?.text ?? strand?.text,
      dir: "auto",
    },
    doubtful ? `${agent} ?` : agent,
    el("small", {}, ` ${how}, `, moment(telling?.time ?? path.at(-1).time)),
  );
}

function and(knowers) {
  const rest = knowers.length - MOST_FIRST;
  return rest > 0 ? el("small", {}, `and ${count(rest)} more`) : null;
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
  const { id, n, text, private: hidden, knowers } = strand;
  const named = knowers.slice(0, NAMED);
  const rest = knowers.length - named.length;
  return el(
    "li",
    { class: hidden ? "whispered" : "", "data-row": true, tabindex: "-1" },
    el("a", { href: `/agents/fact?agent=${id}&n=${n}`, "data-opens": true, dir: "auto" }, text),
    " ",
    el("small", {}, from(strand)),
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
  return [hidden ? "in private, " : "", `${speaker}${whom}, `, moment(time), lines];
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
