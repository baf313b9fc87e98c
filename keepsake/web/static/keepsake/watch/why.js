/* Why an agent did something: an act, and all that led to it, down to the raw memories. */

import { bar } from "./agent_state.js";
import { builders, get } from "./api.js";
import { AskAgain } from "./aside.js";
import { prose } from "./book.js";
import { cachedShare, count, el, fill, many, percent, seconds, time, whereLink } from "./dom.js";
import { elsewhereStep, groundRows } from "./grounds.js";
import { ImpulseKind, ThoughtOutcome } from "./kinds.js";
import { memoryRows, row, TIERS } from "./memories.js";
import { author, partName } from "./plain_words.js";
import { KEPT, privacyMark } from "./privacy.js";
import { inWords, sentence } from "./sentences.js";
import { answerOf } from "./why_answer.js";

/** The recalled memories, and the parts of a prompt, that are shown; the others are folded. */
const SHOWN = 5;
/** The sentences of a summary that are shown. */
const TOLD = 3;

/** The section "Why" of an agent's page: `#why/3` is the third-last act, `#why/m17` that of memory 17, `#why/h…`
 * the one that others perceived as that happening. */
export class Why {
  #asked = 0;

  constructor(root, id) {
    this.id = id;
    this.view = root;
  }

  load() {
    return this.show(1);
  }

  async show(at) {
    const [, way, which] = /^([mh])([\d-]+)$/.exec(at ?? "") ?? [];
    const nth = Math.max(Number(at) || 1, 1);
    const asked = ++this.#asked;
    let refused = "";
    const query = {
      n: nth,
      memory: way === "m" ? which : null,
      happening: way === "h" ? which : null,
    };
    const why = await get(`agents/${this.id}/why`, query).catch((problem) => {
      if (problem.status !== 404) throw problem;
      refused = problem.message;
      return null;
    });
    if (asked !== this.#asked) return;
    if (why) this.#draw(why, why.nth);
    else if (way) fill(this.view, el("p", { class: "empty" }, refused));
    else this.#nothing(nth);
  }

  /** Say that there is no such act; a new agent may have none at all. */
  #nothing(nth) {
    fill(
      this.view,
      nth === 1
        ? el("p", { class: "empty" }, "Nothing was done yet.")
        : [
            el("p", { class: "empty" }, "No earlier act is known."),
            el(
              "p",
              { class: "tools turns" },
              el("a", { href: `#why/${nth - 1}` }, "the act after it →"),
            ),
          ],
    );
  }

  #draw(why, nth) {
    const again = askAgain(this.id, why);
    const asked = !why.by_rule; // without a model there was no prompt, and nothing of one is shown
    const others = el(
      "p",
      { class: "dim" },
      "For any other act: “why?” beside it, in ",
      el("a", { href: "#live" }, "Live"),
      " and ",
      el("a", { href: "#memory" }, "Memory"),
      ".",
    );
    fill(
      this.view,
      answerOf(why),
      turns(nth),
      el(
        "ol",
        { class: "chain" },
        step(
          `What ${why.agent} did`,
          asked ? null : el("p", {}, "Done by rule; no model was asked."),
          act(why),
        ),
        step("What set it off", cause(why)),
        why.plan
          ? step(
              "The plan it belongs to",
              el("ul", { class: "pins" }, plan(why.plan)),
              unshown(why),
            )
          : null,
        why.grounds.length
          ? step("Lines of the prompt that have its words", groundRows(why.grounds))
          : null,
        why.elsewhere ? step("Not from its prompt", elsewhereStep(why)) : null,
        why.promises.length ? step("Promises in the prompt", memories(why.promises)) : null,
        why.quoted.length
          ? folded(
              `What ${why.agent} has noted of whom this answers`,
              count(why.quoted.length),
              memories(why.quoted),
            )
          : null,
        asked || why.recalled.length
          ? step("What had to be recalled", recalled(why, again), again?.node)
          : null,
        why.rests.length ? alsoBecause(why) : null,
        why.bearing.length && !why.grounds.length && !why.motive ? guess(why) : null,
        why.before.length
          ? folded("What came just before", count(why.before.length), memories(why.before))
          : null,
        asked
          ? folded(
              "Plans in the prompt",
              why.plans ? count(why.plans.length) : "not known",
              plans(why),
            )
          : null,
        asked
          ? folded(
              "Summaries in the prompt",
              count(why.summaries.length),
              summaries(why),
              window(why),
            )
          : null,
        why.thought && asked ? folded("What the prompt was made of", "", parts(why.thought)) : null,
        why.thought && asked ? folded("What it cost", "", cost(why.thought)) : null,
        why.missing.length
          ? step(
              "What is not known",
              why.missing.map((each) => el("p", {}, each)),
            )
          : null,
      ),
      turns(nth),
      others,
    );
  }
}

function turns(nth) {
  const later = nth > 1 ? el("a", { href: `#why/${nth - 1}` }, "the act after it →") : null;
  const which = nth === 1 ? "the last act" : many(nth - 1, "newer act");
  return el(
    "p",
    { class: "tools turns" },
    el("a", { href: `#why/${nth + 1}` }, "← the act before it"),
    el("span", {}, which),
    later,
  );
}

function step(title, ...children) {
  return el("li", { "data-row": true, tabindex: "-1" }, el("h3", {}, title), children);
}

/** A step of which only the title is shown, and beside it how much there is. */
function folded(title, much, ...children) {
  return el(
    "li",
    { "data-row": true, tabindex: "-1" },
    el(
      "details",
      {},
      el(
        "summary",
        { "data-opens": true },
        el("h3", {}, title),
        much ? [" ", el("small", {}, much)] : null,
      ),
      children,
    ),
  );
}

function memories(found) {
  return el("ol", { class: "memories" }, memoryRows(found));
}

function none(words) {
  return el("p", { class: "dim" }, words);
}

function link(memory) {
  return el(
    "a",
    { href: `#memory/${memory.number}`, "data-opens": true },
    `memory ${memory.number}`,
  );
}

/** A link to the prompt that was sent for the act. */
function sent({ seq, thought }) {
  if (!thought?.prompt) return null;
  return [" ", el("a", { href: `#prompt/${seq}`, "data-opens": true }, "the prompt")];
}

function act(why) {
  return [
    el("p", {}, el("bdi", {}, sentence(why.act)), " ", el("small", {}, time(why.time))),
    (why.thought?.outcome ?? ThoughtOutcome.ACTED) === ThoughtOutcome.ACTED
      ? null
      : el(
          "p",
          { class: "problem", dir: "auto" },
          `${why.thought.outcome}: ${why.thought.problem}`,
        ),
    why.reason && !why.by_rule ? el("p", { dir: "auto" }, `The reason given: ${why.reason}`) : null,
    el(
      "p",
      {},
      link(why.act),
      sent(why),
      " ",
      whereLink(document.body.dataset.agent, why.act.number),
    ),
  ];
}

/** A kind of impulse in words, and who or what it came from: of a plan, with whom it is. */
function impulse({ trigger, thought }) {
  const from = thought?.source;
  if (trigger === ImpulseKind.PLAN) return from ? `its own plan, with ${from}` : "its own plan";
  const kind = trigger === ImpulseKind.OTHER ? "something seen" : trigger;
  return from ? `${kind} by ${from}` : kind;
}

function cause(why) {
  const { cause: found, thought, trigger, plan: own } = why;
  if (!found && own && !trigger)
    return el("p", {}, "Its own plan, as the archive says. Who spoke then is not known.");
  // What was said before the prompt was sent is answered, too.
  const since = found && thought?.cause && thought.cause !== found.number;
  const began = trigger ? impulse(why) : found ? "By the archive, it answers:" : "";
  return [
    since
      ? el("p", {}, "It answers what was said meanwhile:")
      : el("p", {}, began || "That is no longer known."),
    found ? el("p", {}, link(found), ": ", el("bdi", {}, sentence(found))) : null,
    since ? el("p", { class: "dim" }, `The thought began with: ${began}.`) : null,
  ];
}

/** What else it rests on: mostly what stood around what it answers. So it is folded: the answer names what counts. */
function alsoBecause({ rests, grounds }) {
  const known = new Set(grounds.map(({ memory }) => memory?.number));
  const others = rests.filter(({ number }) => !known.has(number));
  return others.length
    ? folded("Also because of", many(others.length, "line"), memories(others))
    : null;
}

/** That a plan did not stand in the prompt: others might have learnt of it, or it was made in the answer. */
function unshown({ plan: own, plans: shown }) {
  const there = shown === null || shown.some(({ number }) => number === own.number);
  return there ? null : none("The prompt did not have it in these words.");
}

/** The memories of the window that share most words with it. None is known to count, so none is quoted beside the title. */
function guess({ bearing: found }) {
  return folded(
    "Guesses by words",
    many(found.length, "memory of the prompt", "memories of the prompt"),
    none("They share words with the act. Nothing says that they led to it."),
    memories(found),
  );
}

/** Only words can be asked for again: what was said to it, and its answer. */
function askAgain(id, { cause, act: done, recalled: hits }) {
  const said = cause?.what.words;
  const first = hits.find(({ memory }) => memory)?.memory ?? cause;
  return first
    ? new AskAgain(id, {
        question: said ?? "",
        without: [first.number],
        spoken: done.what.words ?? "",
      })
    : null;
}

/** Where an act could come from without recall: nothing recalled is no fault if the prompt had it anyway. */
function unrecalled(why) {
  if (!why.thought) return none("Not known: older than the event log.");
  if (why.elsewhere) return none("Nothing was recalled.");
  const [first, last] = why.window ?? [0, -1];
  const stands = ({ number }) => number >= first && number <= last;
  const because = [why.cause, ...why.rests].filter(Boolean);
  const had = [
    why.quoted.length ? "it stands in the notes above" : null,
    because.length && because.every(stands)
      ? `what is known to have led to it is among what ${why.agent} still remembered word for word`
      : null,
  ].filter(Boolean);
  if (had.length) return none(`Nothing had to be recalled: ${had.join(", and ")}.`);
  const known = because.length || why.promises.length || why.plan;
  return none(
    known ? "Nothing was recalled." : "What it rests on is not known; nothing was recalled.",
  );
}

function recalled(why, again) {
  const { recalled: hits, explaining } = why;
  if (!hits.length) return [unrecalled(why), window(why)];
  const most = Math.max(...hits.map((hit) => hit.score), 0);
  const list = (some) =>
    el(
      "ol",
      { class: "hits" },
      some.map((hit) => withAgain(row(hit, most), hit, again)),
    );
  const shown = hits.slice(0, Math.min(explaining, SHOWN));
  const rest = hits.slice(shown.length);
  const more = shown.length ? `${count(rest.length)} more` : `${count(rest.length)} recalled`;
  return [
    shown.length ? list(shown) : none("Nothing that was recalled has words of it."),
    rest.length ? el("details", {}, el("summary", { "data-opens": true }, more), list(rest)) : null,
  ];
}

/** A row with a button that asks again without its memory. */
function withAgain(shown, { memory }, again) {
  if (memory && again)
    shown.append(
      builders(
        el(
          "button",
          {
            type: "button",
            class: "plain where",
            on: { click: () => again.open([memory.number]) },
          },
          "ask again without it",
        ),
      ),
    );
  return shown;
}

function plans({ plans: shown, plan: own }) {
  if (shown === null) return none("Not known: the event log does not have the prompt.");
  if (!shown.length) return none("There was no plan in the prompt.");
  return el(
    "ul",
    { class: "pins" },
    shown.map((each) => plan(each, each.number === own?.number)),
  );
}

function plan({ line, private: hidden, aloud }, own = false) {
  return el(
    "li",
    { class: hidden && !aloud ? "whisper" : "" },
    hidden ? privacyMark(aloud ? `${KEPT}, and was asked aloud` : KEPT) : null,
    el("bdi", {}, line),
    own ? el("span", { class: "badge" }, "the act belongs to it") : null,
  );
}

/** Numbers in words, those in a row as one: 268, 273–274 and 278. */
function spans(numbers) {
  const rows = [];
  for (const n of numbers) {
    if (rows.at(-1)?.at(-1) === n - 1) rows.at(-1).push(n);
    else rows.push([n]);
  }
  return inWords(
    rows.map((row) => (row.length > 1 ? `${count(row[0])}–${count(row.at(-1))}` : count(row[0]))),
  );
}

/** Of which memories of the window the prompt had only that they were whispered. */
function masked(numbers) {
  if (!numbers) return "; whispers only if the prompt had their words, which is not known";
  if (!numbers.length) return "";
  const were = numbers.length > 1 ? "they were" : "it was";
  return `; of ${spans(numbers)} only that ${were} whispered`;
}

/** The way to the memories that its prompt had word for word. */
function window({ window: range, masked: whispers }) {
  const [first, last] = range ?? [0, 0];
  if (!first || last < first) return null;
  return el(
    "p",
    {},
    "Word for word in the prompt: ",
    el("a", { href: `#memory/${first}-${last}` }, `memories ${count(first)}–${count(last)}`),
    masked(whispers),
    ".",
  );
}

function summaries(why) {
  if (!why.summaries.length) return none("There was no summary in the prompt.");
  return why.summaries.map((each) => [
    each.told.length
      ? el(
          "p",
          {},
          `${TIERS[each.tier]}, nearest to the act: `,
          el("q", { dir: "auto" }, each.told.slice(0, TOLD).join(" … ")),
        )
      : null,
    el(
      "details",
      {},
      el(
        "summary",
        { "data-opens": true },
        el("b", {}, `${TIERS[each.tier]} of memories ${count(each.first)}–${count(each.last)}`),
        el(
          "small",
          {},
          `compaction ${each.compaction}${each.model ? ` · ${author(each.model)}` : ""}`,
        ),
      ),
      prose(each.text),
      el(
        "p",
        {},
        "It covers ",
        el(
          "a",
          { href: `#memory/${each.first}-${each.last}` },
          `memories ${count(each.first)}–${count(each.last)}`,
        ),
        ".",
      ),
    ),
  ]);
}

function cost(spent) {
  const server = spent.prompt_tokens
    ? `${many(spent.prompt_tokens, "token")}, ${cachedShare(spent.cached_tokens, spent.prompt_tokens)} of them cached; ` +
      `${count(spent.completion_tokens)} in the answer. `
    : "";
  const seed = spent.seed === null ? "a random seed" : `seed ${spent.seed}`;
  return el(
    "p",
    {},
    `${server}${spent.model || "No model"} answered after ${seconds(spent.latency)}, and ` +
      `${seconds(spent.wait)} in the queue; ${seed}, temperature ${spent.temperature}.`,
  );
}

/** The largest parts of its prompt with their shares; the others are folded. */
function parts({ sections }) {
  const found = Object.entries(sections).toSorted(([, a], [, b]) => b - a);
  const whole = found.reduce((sum, [, tokens]) => sum + tokens, 0);
  if (!whole) return none("Not known: the event log does not have it.");
  const list = (some) =>
    el(
      "ul",
      { class: "parts" },
      some.map(([name, tokens]) =>
        el("li", {}, el("span", {}, partName(name)), bar(tokens, whole, percent(tokens / whole))),
      ),
    );
  const rest = found.slice(SHOWN);
  return [
    list(found.slice(0, SHOWN)),
    rest.length
      ? el(
          "details",
          {},
          el(
            "summary",
            { "data-opens": true },
            `${count(rest.length)} smaller parts, together ${percent(rest.reduce((sum, [, tokens]) => sum + tokens, 0) / whole)}`,
          ),
          list(rest),
        )
      : null,
  ];
}
