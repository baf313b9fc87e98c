/* What became of each memory that a compaction summarised, and of each sentence of the summaries before. */

import { act, builders, get } from "./api.js";
import { count, el, fill, many, whereLink } from "./dom.js";
import { Kept, LossSort, SummaryAuthor, Tier } from "./kinds.js";
import { passingFold } from "./memories.js";
import { stillHeld } from "./elsewhere.js";
import { inWords, sentence } from "./sentences.js";
import { FORMS, WHISPERED } from "./standings.js";

/** The rows of a kind that are shown, those that tell most. The others are folded. */
const FEW = 5;

/** How it is known what a summary tells. */
const NAMES = "The writer of the summary named the memories that each sentence tells.";
const QUOTES = "The summary was made by rules and quotes memories.";
const ASK = "Ask the model which memories it tells";
/** Milliseconds until a model that reads a summary and its memories counts as silent. */
const LONGEST_READING = 600000;
const KEPT = {
  [Kept.GONE]: "No sentence tells them.",
  [Kept.UNSURE]: "A sentence has some of their words. Compare the two.",
  [Kept.WHISPERED]: `Private: ${WHISPERED}, so no prompt has it but by recall.`,
  [Kept.LIKELY]: "A sentence has several of their words, and names who was there.",
  [Kept.SHORTER]: "Or in other words. The words that are missing are marked.",
  [Kept.VERBATIM]: "All their words are there, in their order.",
};
/** Where the writer of a summary did not name the memories that it tells, the words say only this. */
const GUESSED = { [Kept.GONE]: ["probably lost", "No sentence has enough of their words."] };

/** What the marked words of lost memories are. */
const BOLD = " What tells most stands first; bold: names and figures that no summary has.";

/** The name of a kind, and what it means. */
function kind(kept, named) {
  return (!named && GUESSED[kept]) || [FORMS[kept], KEPT[kept]];
}

/** Fill in what each step lost, and the account of both. */
export async function compare(id, made, account, steps) {
  const { number } = made;
  try {
    const found = await get(`agents/${id}/compactions/${number}/losses`);
    for (const { lost, of, noun, row } of steps)
      fill(lost, groups(found[of], found.named, noun, row));
    fill(
      account,
      steps.map(({ of, noun, node }, i) => [
        i
          ? wayTo(node, lostOf(found[of], found.named, noun))
          : lostOf(found[of], found.named, noun),
        sortsOf(found[of]),
        keptOf(found[of], found.named),
      ]),
      found.losses.some(isGone) ? "The archive has all of it: recall may find it. " : "",
      found.named
        ? el(
            "small",
            {},
            made.after.recent?.model === SummaryAuthor.EXTRACTIVE ? QUOTES : NAMES,
            " ",
          )
        : [
            el("b", {}, "A guess by words: the writer of the summary did not say what it tells. "),
            askModel(id, number, () => compare(id, made, account, steps)),
          ],
      found.complete ? "" : "There are more, which were not compared.",
    );
    for (const old of account.parentElement.querySelectorAll(".too-much")) old.remove();
    account.after(...notInMemories(found.unfounded));
  } catch (problem) {
    account.className = "problem";
    fill(account, problem.message);
  }
}

/** A model that reads memories and summary knows what words do not say. Its answer is kept. */
function askModel(id, number, then) {
  const button = el(
    "button",
    {
      type: "button",
      on: {
        click: async () => {
          button.disabled = true;
          fill(button, "The model reads …");
          const done = await act(id, `compactions/${number}/sources`, null, LONGEST_READING);
          fill(button, ASK);
          button.disabled = false;
          if (done) await then();
        },
      },
    },
    ASK,
  );
  return builders(button);
}

function isGone({ kept }) {
  return kept === Kept.GONE;
}

/** How much is lost: 3 of 9 memories are lost. 2 private ones stand in no summary and are not lost. */
function lostOf(found, named, noun) {
  if (!found.length) return "There is nothing to compare. ";
  const gone = found.filter(isGone);
  const hidden = found.filter(isWhispered).length;
  const [title] = kind(Kept.GONE, named);
  const number = gone.length ? count(gone.length) : "None";
  const verb = gone.length === 1 || found.length === 1 ? "is" : "are";
  const lost = `${number} of ${many(found.length, ...noun)} ${verb} ${title}. `;
  if (!hidden) return lost;
  const [stand, are, them] = hidden === 1 ? ["stands", "is", "it"] : ["stand", "are", "them"];
  const kept = `the archive keeps ${them}, and recall finds ${them}`;
  return `${lost}${many(hidden, "private one")} ${stand} in no summary and ${are} not lost: ${kept}. `;
}

/** Words that lead to a step further down. */
function wayTo(node, words) {
  const go = (event) => {
    event.preventDefault();
    node.scrollIntoView({ block: "start" });
  };
  return [el("a", { href: "#compactions", on: { click: go } }, words.trim()), " "];
}

function isWhispered({ kept }) {
  return kept === Kept.WHISPERED;
}

/** What became of the others: 5 told shorter, 2 perhaps told. */
function keptOf(found, named) {
  const others = found.filter((each) => !isGone(each) && !isWhispered(each));
  return others.length ? `The others: ${tallyOf(others, named)}. ` : "";
}

/** How many there are of each kind: 5 told shorter, 3 lost. */
export function tallyOf(found, named) {
  const told = Object.keys(KEPT)
    .reverse()
    .map((kept) => {
      const of = found.filter((each) => each.kept === kept);
      return of.length ? `${count(of.length)} ${kind(kept, named)[0]}` : null;
    });
  return told.filter(Boolean).join(", ");
}

/** What a row is: something that others said or did, what they asked to be done, an own act, or something seen in
 * passing. */
const SORTS = {
  [LossSort.OTHERS]: "that others told or gave",
  [LossSort.ERRANDS]: "that asked for something to be done",
  [LossSort.OWN]: "own words and deeds",
  [LossSort.PASSING]: "comings, goings and gestures",
};

/** A sentence of a summary has no sort: it tells something. */
function sortOf({ sort = LossSort.OTHERS }) {
  return sort;
}

/** Of what sorts lost memories are, each of how many, in a sentence; empty if all are of one. */
function sortsOf(found) {
  const parts = Object.entries(SORTS).map(([sort, words]) => {
    const all = found.filter((each) => sortOf(each) === sort);
    const lost = all.filter(isGone);
    return lost.length ? `${count(lost.length)} of ${count(all.length)} ${words}` : null;
  });
  const some = parts.filter(Boolean);
  return some.length > 1 ? `Lost: ${some.join(", ")}. ` : "";
}

/** What is lost, and beside it what only recall brings back; the other kinds below them, folded. */
function groups(found, named, noun, row) {
  const [lost, hidden, ...others] = [
    Kept.GONE,
    Kept.WHISPERED,
    ...Object.keys(KEPT).filter((kept) => ![Kept.GONE, Kept.WHISPERED].includes(kept)),
  ].map((kept) => group(kept, found, named, noun, row));
  return [lost && hidden ? el("div", { class: "ahead" }, lost, hidden) : lost || hidden, others];
}

function group(kept, found, named, noun, row) {
  const [title, words] = kind(kept, named);
  const of = found.filter((each) => each.kept === kept);
  if (!of.length) return null;
  return el(
    "details",
    { open: [Kept.GONE, Kept.WHISPERED].includes(kept), "data-kept": kept },
    el(
      "summary",
      {},
      el("b", {}, title[0].toUpperCase() + title.slice(1)),
      ` ${many(of.length, ...noun)}. `,
      el("small", {}, words, kept === Kept.GONE && of.some(isNamed) ? BOLD : ""),
    ),
    sorted(of, row),
  );
}

/** What others told stands first. What they asked for, what the agent said itself and what it saw in passing is folded
 * below it. */
function sorted(found, row) {
  const of = (sort) => found.filter((each) => sortOf(each) === sort);
  const [others, asked, own] = [of(LossSort.OTHERS), of(LossSort.ERRANDS), of(LossSort.OWN)];
  const [first, ...rest] = [
    [others, "Told by others"],
    [asked, "Asked to be done"],
    [own, "Its own words and deeds"],
  ].filter(([some]) => some.length);
  return [
    first && rows(once(first[0]), row),
    rest.map(([some, title]) =>
      el(
        "details",
        {},
        el("summary", {}, `${title}: ${count(some.length)}`),
        rows(once(some), row),
      ),
    ),
    passingFold(once(of(LossSort.PASSING)).map(row), of(LossSort.PASSING).length),
  ];
}

function isNamed({ named }) {
  return Boolean(named?.length);
}

/** The greatest losses; the smaller ones are folded, so that what else became of memories is not far below. */
function rows(found, row) {
  const list = (some) => el("ol", { class: "memories" }, some.map(row));
  const rest = found.slice(FEW);
  return [
    list(found.slice(0, FEW)),
    rest.length
      ? el("details", {}, el("summary", {}, `${count(rest.length)} more`), list(rest))
      : null,
  ];
}

/** Each text once, with how often it was said or done: small talk repeats itself. */
function once(found) {
  const rows = new Map();
  for (const each of found) {
    const text = each.memory ? sentence(each.memory) : each.text;
    rows.set(text, { ...each, ...rows.get(text), times: (rows.get(text)?.times ?? 0) + 1 });
  }
  return [...rows.values()];
}

/** The sentences of the summary whose words no memory has: it says too much, or they were said in another language. */
function notInMemories(sentences) {
  const foreign = ({ languages = [] }) => languages.length > 0;
  const [told, too] = [sentences.filter(foreign), sentences.filter((each) => !foreign(each))];
  return [
    too.length
      ? sentencesIn("Knows too much", too, "No memory has the marked words.", ({ text, missing }) =>
          marked(text, missing, "mark"),
        )
      : null,
    told.length
      ? sentencesIn(
          "Told from another language",
          told,
          "Its words cannot be compared with those of the summary.",
          ({ text, languages }) => [
            text,
            " ",
            el("small", {}, `source is in ${inWords(languages.map(capital))}`),
          ],
        )
      : null,
  ].filter(Boolean);
}

function sentencesIn(title, sentences, words, row) {
  return el(
    "details",
    { class: "too-much", open: true },
    el(
      "summary",
      {},
      el("b", {}, title),
      ` ${many(sentences.length, "sentence")} of the summary. `,
      el("small", {}, words),
    ),
    el(
      "ol",
      { class: "memories" },
      sentences.map((each) =>
        el(
          "li",
          { class: "memory", "data-row": true, tabindex: "-1" },
          el("span", { class: "what", dir: "auto" }, row(each)),
        ),
      ),
    ),
  );
}

function capital(word) {
  return word[0].toUpperCase() + word.slice(1);
}

const TOLD = {
  [Kept.SHORTER]: "Told",
  [Kept.LIKELY]: "Probably",
  [Kept.UNSURE]: "Perhaps",
};

/** The sentences that tell a memory, or perhaps do, below it. */
function toldIn(kept, told) {
  return told && TOLD[kept]
    ? el("small", { class: "told", dir: "auto" }, `${TOLD[kept]}: “${told}”`)
    : null;
}

export function memoryRow(id, { memory, kept, missing, told, named, elsewhere, times }) {
  return el(
    "li",
    {
      class: `memory ${memory.kind}${memory.confidants ? " whisper" : ""}`,
      "data-row": true,
      tabindex: "-1",
    },
    el(
      "a",
      { class: "number", href: `#memory/${memory.number}`, "data-opens": true },
      String(memory.number),
    ),
    el(
      "span",
      { class: "what", dir: "auto" },
      kept === Kept.GONE
        ? marked(sentence(memory), named, "b")
        : markedMissing(sentence(memory), kept, missing),
      toldIn(kept, told),
      stillHeld(elsewhere),
    ),
    times > 1 ? el("b", { title: "so many memories" }, `×${count(times)}`) : null,
    el("small", {}, whereLink(id, memory.number)),
  );
}

export function sentenceRow({ tier, text, kept, missing, told }) {
  return el(
    "li",
    { class: "memory", "data-row": true, tabindex: "-1" },
    el("span", { class: "number" }, SHORT[tier]),
    el(
      "span",
      { class: "what", dir: "auto" },
      markedMissing(text, kept, missing),
      toldIn(kept, told),
    ),
  );
}

/** In which summary a sentence stood, as it fits beside it. */
const SHORT = { [Tier.LONGTERM]: "long", [Tier.RECENT]: "short" };

/** A text with the words marked that are not told any more. */
function markedMissing(text, kept, missing) {
  return marked(text, [Kept.SHORTER, Kept.LIKELY].includes(kept) ? missing : []);
}

/** A text with words marked, by an element of that tag. */
function marked(text, some, tag = "del") {
  const words = new Set(some.flatMap((word) => word.toLowerCase().split("-")));
  return text
    .split(/([\p{L}\p{N}\p{M}'’]+)/u)
    .map((part) => (words.has(part.toLowerCase()) ? el(tag, {}, part) : part));
}
