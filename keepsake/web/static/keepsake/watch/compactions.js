/* Compactions, newest first: what each lost in its two steps, with the texts before and after. */

import { act, actButton, builders, get } from "./api.js";
import { prose } from "./book.js";
import { count, el, fill, many, percent, seconds, time, whereLink } from "./dom.js";
import { Kept, LossSort, QuestionKind, SummaryAuthor, Tier } from "./kinds.js";
import { memoriesFold, passingFold, TIERS, writtenAt } from "./memories.js";
import { outcome, reason } from "./plain_words.js";
import { stillHeld } from "./elsewhere.js";
import { lead } from "./short_answer.js";
import { inWords, sentence } from "./sentences.js";
import { FORMS, WHISPERED } from "./standings.js";

const LIMIT = 20;
/** The rows of a kind that are shown, those that tell most. The others are folded. */
const FEW = 5;
const LAST = "last";

/** The section "Compactions" of an agent's page. */
export class Compactions {
  #oldest = null;
  #newest = Infinity;
  #last = 0; // the number of the last that stands

  constructor(root, id) {
    this.id = id;
    this.newer = el(
      "button",
      { type: "button", hidden: true, on: { click: () => this.#try(() => this.load()) } },
      "Show the new compaction",
    );
    // Apart from the answer and below what it changes: who only reads does not hit it.
    this.undo = el(
      "div",
      { class: "tools changes", hidden: true },
      actButton(
        "Undo the last",
        "Sure? Its memories return to the window",
        () => act(id, "undo"),
        () => this.load(),
      ),
    );
    this.answer = el("div", {});
    this.list = el("ol", { class: "compactions" });
    this.note = el("p", { class: "dim" });
    const more = async () =>
      this.#add(await get(`agents/${id}/compactions`, { limit: LIMIT, before: this.#oldest }));
    this.older = el(
      "button",
      { type: "button", hidden: true, on: { click: () => this.#try(more) } },
      "Show older ones",
    );
    fill(
      root,
      this.answer,
      el("div", { class: "tools" }, this.newer),
      this.list,
      this.note,
      el("div", { class: "tools" }, this.older),
      this.undo,
    );
  }

  /** Offer a new compaction by a button, so that an open one is not closed while somebody reads it. */
  outdated({ number = 0 }) {
    if (number > this.#newest) this.newer.hidden = false;
  }

  async load() {
    const found = await get(`agents/${this.id}/compactions`, { limit: LIMIT });
    this.newer.hidden = this.undo.hidden = true;
    this.#newest = found[0]?.number ?? 0;
    this.#last = found.find((made) => !made.undone)?.number ?? 0;
    fill(
      this.answer,
      this.#last
        ? [el("h3", {}, "What the last compaction lost"), lead(this.id, QuestionKind.LOST)]
        : null,
    );
    fill(this.list);
    this.#add(found);
  }

  /** Open one, by its number, or the last that stands: `#compactions/last`. */
  async show(at) {
    await this.load();
    const wanted = [...this.list.children].find(({ dataset }) =>
      at === LAST ? "stands" in dataset : dataset.number === at,
    );
    if (!wanted) return;
    wanted.querySelector("details").open = true;
    wanted.querySelector("summary").focus({ preventScroll: true });
    // What the last one lost stands at the top, in short.
    if (Number(wanted.dataset.number) !== this.#last) wanted.scrollIntoView({ block: "start" });
  }

  #add(compactions) {
    const led = (made) => made.number === this.#last;
    this.list.append(...compactions.map((made) => compaction(this.id, made, led(made))));
    this.#oldest = compactions.at(-1)?.number ?? this.#oldest;
    const shown = this.list.childElementCount;
    this.older.hidden = compactions.length < LIMIT;
    if (compactions.some((made) => !made.undone)) this.undo.hidden = false;
    this.note.className = "dim";
    fill(
      this.note,
      shown
        ? `${many(shown, "compaction")}`
        : "None yet: its prompts have all its memories word for word.",
    );
  }

  async #try(work) {
    try {
      await work();
    } catch (problem) {
      this.note.className = "problem";
      fill(this.note, problem.message);
    }
  }
}

/** A compaction, folded; `led`: whether what it lost stands above the list in short. */
function compaction(id, made, led) {
  const saved = made.tokens_before ? 1 - made.tokens_after / made.tokens_before : 0;
  const folded = made.covered ? ` · memories ${made.covered.map(count).join("–")} summarised` : "";
  const details = el(
    "details",
    {
      "data-agent": id,
      "data-led": led,
      on: { toggle: () => details.open && show(details, made) },
    },
    el(
      "summary",
      { "data-opens": true },
      el("b", {}, `Compaction ${made.number}`),
      made.undone ? el("span", { class: "badge paused" }, "undone") : null,
      el("span", {}, outcome(made.outcome)),
      saved > 0 || !made.tokens_before ? null : el("span", { class: "problem" }, "saved nothing"),
      el("span", { class: "dim" }, reason(made.reason)),
      made.tokens_before === 0
        ? null
        : el(
            "span",
            { class: "figure" },
            `summaries and window ${count(made.tokens_before)} → ${count(made.tokens_after)} tokens (${saved < 0 ? "+" : "−"}${percent(Math.abs(saved))})`,
          ),
      el(
        "small",
        {},
        writtenAt(begun(made), made.time),
        ` · ${seconds(made.seconds)} · ${many(made.calls, "model call")}${folded}`,
      ),
    ),
    el("div", { class: "change" }),
  );
  return el(
    "li",
    {
      "data-row": true,
      tabindex: "-1",
      class: made.undone ? "undone" : "",
      "data-number": made.number,
      "data-stands": !made.undone,
    },
    details,
  );
}

/** When the writing of a compaction began. Its own time is when it was archived, from when on prompts had it. */
function begun({ time: iso, seconds: took }) {
  return new Date(Date.parse(iso) - took * 1000).toISOString();
}

/** Fill a compaction when it is first opened: to compare all memories at once takes too long. */
function show(details, made) {
  const holder = details.querySelector(".change");
  if (holder.hasChildNodes()) return;
  const id = details.dataset.agent;
  const account = el("p", { class: "dim" }, "Comparing …");
  const steps = [memoriesStep(id, made), summariesStep(made)].filter(Boolean);
  fill(
    holder,
    el("h3", {}, "What it lost"),
    "led" in details.dataset ? null : lead(id, QuestionKind.LOST, String(made.number)),
    account,
    steps.map(({ node }) => node),
  );
  compare(id, made, account, steps);
}

/** The first step: memories become the new short-term summary. */
function memoriesStep(id, { covered, after }) {
  if (!covered) return null;
  const lost = el("div", {});
  const into = TIERS[after.recent?.tier ?? after.longterm.tier].toLowerCase();
  return {
    lost,
    of: "losses",
    noun: ["memory", "memories"],
    row: (each) => memoryRow(id, each),
    node: el(
      "section",
      {},
      el("h4", {}, `Memories ${covered.map(count).join("–")}, into the ${into}`),
      lost,
      memoriesFold(id, ...covered),
      whole(after.recent ?? after.longterm),
    ),
  };
}

/** The second step: the summaries of before become the new long-term summary. Null if none was written anew. */
function summariesStep(made) {
  const anew = Object.values(made.before).filter(
    (each) => each?.tier && heir(made.after, each) && heir(made.after, each).text !== each.text,
  );
  if (!anew.length) return null;
  const heirs = [...new Set(anew.map((each) => heir(made.after, each)))];
  const lost = el("div", {});
  const { longterm: before } = made.before;
  const { longterm: after } = made.after;
  const changed = el(
    "details",
    {
      on: {
        toggle: () =>
          changed.open && changed.children.length < 2 && changed.append(changes(before, after)),
      },
    },
    el("summary", {}, "The long-term summary, change by change"),
  );
  return {
    lost,
    of: "sentences",
    noun: ["sentence of earlier summaries", "sentences of earlier summaries"],
    row: sentenceRow,
    node: el(
      "section",
      {},
      el(
        "h4",
        {},
        `Earlier summaries, into the ${heirs.map(({ tier }) => TIERS[tier].toLowerCase()).join(" and the ")}`,
      ),
      lost,
      el(
        "div",
        { class: "both" },
        el("div", {}, el("h5", {}, "Before"), anew.map(whole)),
        el("div", {}, el("h5", {}, "After"), heirs.map(whole)),
      ),
      before && after && before.text !== after.text ? changed : null,
    ),
  };
}

/** The summary afterwards that covers the memories of one before. */
function heir(after, { first, last }) {
  return (
    [after.recent, after.longterm].find(
      (each) => each && each.first <= first && last <= each.last,
    ) ?? null
  );
}

function whole({ tier, first, last, text }) {
  return [
    el("small", {}, `${TIERS[tier]} of memories ${count(first)}–${count(last)}`),
    prose(text),
  ];
}

// -- what became of each memory that was summarised, and of each sentence of the summaries before

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
async function compare(id, made, account, steps) {
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
        sortsOf(found[of].filter(isGone)),
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

/** Of what sorts lost memories are, in a sentence; empty if all are of one. */
function sortsOf(found) {
  const parts = Object.entries(SORTS).map(([sort, words]) => {
    const number = found.filter((each) => sortOf(each) === sort).length;
    return number ? `${count(number)} ${words}` : null;
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

function memoryRow(id, { memory, kept, missing, told, named, elsewhere, times }) {
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

function sentenceRow({ tier, text, kept, missing, told }) {
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

// -- the changes of the long-term summary

/** Markdown without its marks, in which two versions are compared word by word. */
function plain(text) {
  return text
    .replace(/\[([^\]]+)\]\(#[^)]*\)/g, "$1")
    .replace(/^[ ]*[-*] /gm, "• ")
    .replaceAll("*", "");
}

function changes(before, after) {
  const [old, now] = [before, after].map((each) => plain(each?.text ?? ""));
  const parts = wordDiff(old, now);
  if (parts === null)
    return [el("p", { class: "dim" }, "Too long to compare. The new text:"), text(after)];
  if (parts.every(([how]) => how === "same"))
    return [el("p", { class: "dim" }, "No change."), text(after)];
  const tags = { same: "span", gone: "del", new: "ins" };
  return el(
    "pre",
    { class: "text prose diff", dir: "auto" },
    parts.map(([how, words]) => el(tags[how], {}, words)),
  );
}

// -- the difference of two texts, word by word

/** The most pairs of words that are compared. */
const MOST = 4e6;

/** `[["same" | "gone" | "new", text], …]`, or null if the texts are too long. The space beside a word, and the bullet
 * before it, are shown as they are after the change, and are no difference. */
export function wordDiff(before, after) {
  const [a, b] = [before, after].map((text) => text.match(/(?:• )?\S+\s*|\s+/g) ?? []);
  if (a.length * b.length > MOST) return null;
  const [bare, other] = [a, b].map((words) => words.map((word) => word.replace(/^• /, "").trim()));
  const parts = [];
  const add = (how, text) => {
    if (parts.at(-1)?.[0] === how) parts.at(-1)[1] += text;
    else parts.push([how, text]);
  };
  const common = lengths(bare, other);
  const wide = b.length + 1;
  for (let i = 0, j = 0; i < a.length || j < b.length;) {
    if (i < a.length && j < b.length && bare[i] === other[j]) {
      add("same", b[j++]);
      i++;
    } else if (
      j === b.length ||
      (i < a.length && common[(i + 1) * wide + j] >= common[i * wide + j + 1])
    )
      add("gone", a[i++]);
    else add("new", b[j++]);
  }
  return parts;
}

/** For each i and j, the length of the longest common subsequence of `a` from i and `b` from j. */
function lengths(a, b) {
  const wide = b.length + 1;
  const common = new Uint16Array((a.length + 1) * wide);
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      common[i * wide + j] =
        a[i] === b[j]
          ? common[(i + 1) * wide + j + 1] + 1
          : Math.max(common[(i + 1) * wide + j], common[i * wide + j + 1]);
    }
  }
  return common;
}
