/* Memories in rows, summaries folded to a line with the memories under them, and recall's hits. */

import { bar } from "./agent_state.js";
import { act, actForm, field, get } from "./api.js";
import { prose } from "./book.js";
import {
  announce,
  count,
  el,
  fill,
  many,
  moment,
  personLink,
  time,
  whereLink,
  whyOf,
} from "./dom.js";
import { HappeningKind, KnownVerb, RecalledKind, Tier } from "./kinds.js";
import { author } from "./plain_words.js";
import { remarks, sentence } from "./sentences.js";

const PAGE = 50;
const LIMIT = 20;
/** The most characters of an edited summary; none is that long. */
const LONGEST = 60000;
export const TIERS = { [Tier.LONGTERM]: "Long-term summary", [Tier.RECENT]: "Short-term summary" };

/** What only shows who is there, and what they look like. */
const SEEN = [HappeningKind.POSE, HappeningKind.SIGHT];
const LOOKS = [KnownVerb.LOOK, KnownVerb.EXAMINE];
const STEPS = [KnownVerb.GO, KnownVerb.WALK, KnownVerb.FOLLOW, KnownVerb.STAY, KnownVerb.WAIT];

/** Whether a memory is of who came or went, of a gesture or a sight: nothing that somebody told, gave or promised. */
export function isPassing({ form, what }) {
  return (
    SEEN.includes(form) ||
    STEPS.includes(what.verb) ||
    (isResult({ form }) && !isOutcome({ form, what }))
  );
}

/** Whether a memory is what came of own words and deeds: a plan that was noted, words that were refused. What a look
 * showed, and results whose verb is not known, are seen in passing. */
export function isOutcome({ form, what }) {
  return (
    isResult({ form }) &&
    Boolean(what.verb) &&
    !LOOKS.includes(what.verb) &&
    !STEPS.includes(what.verb)
  );
}

function isResult({ form }) {
  return form === HappeningKind.RESULT;
}

/** Rows of what was seen in passing, or of another sort, as one line with a count; null if there are none. */
export function passingFold(rows, number, title = "Comings, goings and gestures") {
  if (!rows.length) return null;
  return el(
    "details",
    { class: "passing" },
    el("summary", {}, `${title}: ${count(number)}`),
    el("ol", { class: "memories" }, rows),
  );
}

/** When the writing of a summary began and, if that is later, from when on prompts had it. */
export function writtenAt(begun, since) {
  const later = Date.parse(since) > Date.parse(begun) && moment(since) !== moment(begun);
  return later ? ["written ", time(begun), ", in effect from ", time(since)] : time(begun);
}

/** A summary of the agent with that id, as the compaction left it; `change` runs after an edit, and allows it.
 *
 * `since`: from when on prompts had it.
 */
export function summaryFold(id, summary, { compaction, since }, change = null) {
  const under = el("div", { class: "under" });
  const make = () =>
    under.hasChildNodes() || fill(under, memoriesFold(id, summary.first, summary.last));
  // What is shown has links to memories, and the text itself has none.
  let was = "";
  const plain = async () => {
    was = (await get(`agents/${id}/summary`, { tier: summary.tier })).text;
    return field("Text", "text", { lines: 12, most: LONGEST, value: was });
  };
  const edit =
    change &&
    actForm(
      "Edit this summary",
      plain,
      ({ text }) => act(id, "edit-summary", { tier: summary.tier, text, was }),
      change,
    );
  const details = el(
    "details",
    {
      open: true,
      class: "summary",
      "data-row": true,
      tabindex: "-1",
      "data-range": `${summary.first}-${summary.last}`,
      on: { toggle: () => details.open && make() },
    },
    el(
      "summary",
      { "data-opens": true },
      el(
        "b",
        {},
        `${TIERS[summary.tier]} of memories ${count(summary.first)}–${count(summary.last)}`,
      ),
      " ",
      el(
        "small",
        {},
        writtenAt(summary.time, since),
        ` · compaction ${compaction} · ${many(summary.tokens_after, "token")}`,
        summary.model ? ` · ${author(summary.model)}` : "",
      ),
    ),
    prose(summary.text || "(empty)"),
    edit,
    under,
  );
  return details;
}

/** Memories word for word, folded to a line, and loaded when it is opened. */
export function memoriesFold(id, first, last) {
  const list = el("ol", { class: "memories" });
  const load = async (from) => {
    const memories = await get(`agents/${id}/memories`, {
      first: from,
      last: Math.min(from + PAGE - 1, last),
    });
    list.append(...memoryRows(memories));
    const next = (memories.at(-1)?.number ?? last) + 1;
    return next > last ? null : more(`More, from ${count(next)} on`, () => load(next));
  };
  const words =
    first === last ? `Memory ${count(first)}` : `Memories ${count(first)}–${count(last)}`;
  const inside = el("div", { class: "under" });
  const details = el(
    "details",
    {
      on: {
        toggle: () => {
          if (details.open && !inside.hasChildNodes())
            fill(
              inside,
              list,
              step(() => load(first)),
            );
        },
      },
    },
    el("summary", { "data-opens": true }, `${words}, word for word`),
    inside,
  );
  return details;
}

/** An element that shows that it loads, and then the result of `load`, or the error and a button. */
function step(load) {
  const place = el("div", {}, el("p", { class: "dim" }, "Loading …"));
  load().then(
    (found) => fill(place, found),
    (problem) =>
      fill(
        place,
        el(
          "p",
          { class: "problem", role: "alert" },
          problem.message,
          " ",
          el(
            "button",
            { type: "button", on: { click: () => place.replaceWith(step(load)) } },
            "Try again",
          ),
        ),
      ),
  );
  return place;
}

function more(words, load) {
  const button = el(
    "button",
    { type: "button", on: { click: () => button.replaceWith(step(load)) } },
    words,
  );
  return button;
}

/** Rows for memories; `mark` is the number of the one to highlight, `ids` gives the rows ids. */
export function memoryRows(memories, { mark = 0, ids = false } = {}) {
  return memories.map((memory) =>
    el(
      "li",
      {
        class: [
          "memory",
          memory.kind,
          memory.confidants && "whisper",
          memory.number === mark && "marked",
        ]
          .filter(Boolean)
          .join(" "),
        id: ids ? `memory-${memory.number}` : null,
        tabindex: "-1",
        "data-row": true,
      },
      el("a", { class: "number", href: `#memory/${memory.number}` }, String(memory.number)),
      el("span", { class: "what", dir: "auto" }, sentence(memory)),
      memory.repeats > 1 ? el("b", { title: "times in a row" }, `×${memory.repeats}`) : null,
      el("small", {}, time(memory.time), ...about(memory), links(memory)),
    ),
  );
}

function links(memory) {
  const id = document.body.dataset.agent;
  return [whyOf(id, memory), whereLink(id, memory.number)]
    .filter(Boolean)
    .map((link) => [" · ", link]);
}

function about(memory) {
  const by = memory.source && ["by ", personLink(memory.source, { key: memory.source_id })];
  const facts = [
    memory.place && `at ${memory.place}`,
    by,
    ...remarks(memory),
    memory.reason && `because: ${memory.reason}`,
  ];
  return facts.filter(Boolean).map((each) => [" · ", el("bdi", {}, each)]);
}

// -- recall by hand: what the agent's own search finds, and the parts of each score

/** The section "Recall" of an agent's page. */
export class Recall {
  #asked = 0;

  constructor(root, id) {
    this.id = id;
    this.question = el("input", {
      type: "search",
      required: true,
      maxlength: "500",
      placeholder: "Where does Edwin mend nets?",
      "aria-label": "Question",
    });
    this.view = el("div", {});
    fill(
      root,
      el(
        "p",
        { class: "dim" },
        "Searches its older memories, summaries and notes, as the agent itself does. The agent does not notice.",
      ),
      el(
        "form",
        { class: "tools", on: { submit: (event) => this.#ask(event) } },
        this.question,
        el("button", {}, "Recall"),
      ),
      this.view,
    );
  }

  /** Focus the question; there is nothing to load yet. */
  async load() {
    this.question.focus();
  }

  async #ask(event) {
    event.preventDefault();
    const asked = ++this.#asked;
    fill(this.view, el("p", { class: "dim" }, "Searching …"));
    try {
      const question = this.question.value;
      const hits = await get(`agents/${this.id}/recall`, { q: question, limit: LIMIT });
      if (asked === this.#asked) this.#draw(question, hits);
    } catch (problem) {
      if (asked === this.#asked)
        fill(this.view, el("p", { class: "problem", role: "alert" }, problem.message));
    }
  }

  #draw(question, hits) {
    const none = hits.length ? "" : ". The memories of its window are not searched: see Memory";
    const words = `${many(hits.length, "hit")} for “${question}”${none}`;
    const most = Math.max(...hits.map((hit) => hit.score), 0);
    fill(
      this.view,
      el("p", {}, words),
      el(
        "ol",
        { class: "hits" },
        hits.map((hit) => row(hit, most)),
      ),
    );
    announce(words);
  }
}

/** The link of a hit to its place among the memories; null for a note. */
function placeOf(hit) {
  if (hit.kind === RecalledKind.NOTE) return null;
  return `#memory/${hit.first === hit.last ? hit.n : `${hit.first}-${hit.last}`}`;
}

function titleOf({ kind, n, title, first, last }) {
  if (kind === RecalledKind.NOTE) return `note: ${title}`;
  if (kind === RecalledKind.SUMMARY)
    return `short-term summary ${n}${last ? ` (memories ${first}–${last})` : ""}`;
  return `memory ${n}`;
}

/** How the agent's own search stands in a prompt; what it found has no score. */
const SEARCH = "> recall";

/** Why it was found: the parts of its score, or the words that the agent itself searched for. */
function reasonOf({ why }) {
  if (!why.startsWith(SEARCH)) return why;
  const words = why.slice(SEARCH.length).trim();
  return words ? `it searched for “${words}”` : "its own search found it";
}

/** A row for a hit, or for something that a thought recalled, with its score against the best score. */
export function row(hit, most) {
  const href = placeOf(hit);
  const title = href
    ? el("a", { href, "data-opens": true }, titleOf(hit))
    : el("b", { dir: "auto" }, titleOf(hit));
  return el(
    "li",
    { "data-row": true, tabindex: "-1" },
    el(
      "div",
      { class: "hit" },
      title,
      hit.score > 0 ? bar(hit.score, most, hit.score.toFixed(2)) : null,
    ),
    hit.text
      ? el("p", { class: "what", dir: "auto" }, hit.memory ? sentence(hit.memory) : hit.text)
      : null,
    el("small", { dir: "auto" }, reasonOf(hit), hit.memory ? links(hit.memory) : null),
  );
}
