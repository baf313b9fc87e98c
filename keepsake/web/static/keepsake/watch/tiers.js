/* The tiers from memory 1 to now, on a scrubber; an open tier shows its memories. */

import { get } from "./api.js";
import { byTheClock, ZONE } from "./clock.js";
import { tallyOf } from "./losses.js";
import { announce, byId, count, el, fill, many, setAttribute, tick, time } from "./dom.js";
import { QuestionKind, HappeningKind, MemoryKind, MemoryOp, PlanState, Tier } from "./kinds.js";
import {
  isOutcome,
  isPassing,
  memoriesFold,
  memoryRows,
  passingFold,
  row as recalledRow,
  summaryFold,
} from "./memories.js";
import { MemoryLine } from "./memory_line.js";
import { secretFlag } from "./next_plan.js";
import { lead } from "./short_answer.js";
import { inWords } from "./sentences.js";

const PAGE = 50;
/** Of an earlier time: what people said and did last that is shown before the rest is folded. */
const TOLD = 6;
/** What was recalled that is shown. */
const RECALLED = 3;
/** The part of the screen below which a page of memories begins too low. */
const LOW = 0.6;
/** The parts of the timeline that are not summaries; also the names of their styles. */
const CLEARED = "cleared";
const WINDOW = "window";
/** Of an earlier time: the memories that had not come yet. */
const LATER = "later";
const NAMES = {
  [LATER]: "later",
  [CLEARED]: "cleared",
  [Tier.LONGTERM]: "long-term summary",
  [Tier.RECENT]: "short-term summary",
  [WINDOW]: "window, word for word",
};

/** The tiers that are not empty, oldest first, without gaps: `first` to `last` are all memories that they hold. */
function partsOf({ first, longterm, recent, window_first: window }, last) {
  const parts = [
    { tier: CLEARED, first: 1, last: first - 1 },
    longterm && {
      tier: Tier.LONGTERM,
      first: longterm.first,
      last: longterm.last,
      summary: longterm,
    },
    recent && { tier: Tier.RECENT, first: recent.first, last: recent.last, summary: recent },
    { tier: WINDOW, first: window, last },
  ];
  return parts.filter((part) => part && part.last >= part.first);
}

/** What an agent remembered at an earlier time, and where it was: the answer in a sentence.
 *
 * `first`: when the first short-term summary came, in seconds since 1970; 0 if none ever did.
 */
function held({ number, window_first: window, longterm, recent, place, time: iso }, first) {
  const known = [
    window <= number
      ? `${many(number - window + 1, "memory", "memories")} word for word (${span(window, number)})`
      : null,
    recent ? `the short-term summary of ${span(recent.first, recent.last)}` : null,
    longterm ? `the long-term summary of ${span(longterm.first, longterm.last)}` : null,
  ].filter(Boolean);
  const where = place ? [" It was at ", el("bdi", {}, place), "."] : "";
  return [
    `${document.body.dataset.name ?? "It"} had in mind ${inWords(known)}.`,
    where,
    recent || longterm ? null : noSummary(iso, first),
  ];
}

function span(first, last) {
  return first === last ? count(first) : `${count(first)}–${count(last)}`;
}

/** What became of the memories that the short-term summary covers, as *Compactions* says it; empty without one. */
function became(id, { compaction, recent }) {
  const line = el("p", { class: "dim" });
  if (!recent || !compaction) return line;
  get(`agents/${id}/compactions/${compaction}/losses`)
    .then(({ losses, named }) =>
      fill(
        line,
        `Of the ${count(losses.length)}: ${tallyOf(losses, named)}. `,
        el("a", { href: `#compactions/${compaction}` }, "What was lost?"),
      ),
    )
    .catch(() => {}); // it is no part of the answer
  return line;
}

/** That there was no summary yet, and when the first came. */
function noSummary(iso, first) {
  if (first && first * 1000 <= Date.parse(iso)) return null;
  const since = first
    ? [" (the first came at ", time(new Date(first * 1000).toISOString()), ")"]
    : "";
  return [" There was no summary yet", since, "."];
}

/** What it meant to do then: its open plans and promises. */
function meant({ plans, promises }) {
  if (!plans.length && !promises.length)
    return [el("h4", {}, "It meant to"), el("p", { class: "dim" }, "No plan or promise was open.")];
  const rows = [
    ...plans.map(({ line, private: hidden, state }) => [
      byTheClock(line),
      hidden,
      state === PlanState.DOING,
      0,
    ]),
    ...promises
      .filter(({ plan }) => !plan)
      .map(({ whom, text, private: hidden, memory }) => [
        whom ? `promised ${whom}: ${text}` : `promised: ${text}`,
        hidden,
        false,
        memory,
      ]),
  ];
  return [
    el("h4", {}, "It meant to"),
    el(
      "ul",
      { class: "pins", "aria-label": "Plans and promises of then" },
      rows.map(([line, hidden, begun, memory]) =>
        el(
          "li",
          { "data-row": true, tabindex: "-1", class: hidden ? "plan whisper" : "plan" },
          secretFlag(hidden),
          el("bdi", {}, line),
          begun ? el("span", { class: "badge" }, "begun") : null,
          memory
            ? el("a", { class: "where", href: `#memory/${memory}` }, `memory ${count(memory)}`)
            : null,
        ),
      ),
    ),
  ];
}

/** The end of the window of then, the newest first: what people said and did; the rest is folded. */
function newest(id, { number, window_first: first, window }) {
  const rows = (some) => memoryRows(some, { ids: true, mark: number });
  const told = window.filter((each) => !isPassing(each) && !isOutcome(each)).toReversed();
  const came = window.filter(isOutcome).toReversed();
  const seen = window.filter(isPassing).toReversed();
  const more = told.slice(TOLD);
  const earlier = (window[0]?.number ?? first) - 1;
  return [
    window.length ? el("h4", {}, "Said and done last, word for word, the newest first") : null,
    el("ol", { class: "memories" }, rows(told.slice(0, TOLD))),
    more.length
      ? el(
          "details",
          {},
          el("summary", {}, `${count(more.length)} more, back to memory ${count(earlier + 1)}`),
          el("ol", { class: "memories" }, rows(more)),
        )
      : null,
    passingFold(rows(came), came.length, "What came of its own words and deeds"),
    passingFold(rows(seen), seen.length),
    earlier >= first ? memoriesFold(id, first, earlier) : null,
  ];
}

/** What was recalled for the newest act of then, which is not in its window; empty for nothing. */
function recalledThen(id, { window }) {
  const place = el("div", {});
  const act = window.findLast(
    ({ kind, form }) => kind === MemoryKind.ACT && form === HappeningKind.SPEECH,
  );
  if (!act) return place;
  get(`agents/${id}/why`, { memory: act.number })
    .then(({ recalled }) => {
      if (!recalled.length) return;
      const rows = recalled.slice(0, RECALLED).map((hit) => recalledRow(hit, 0));
      const all = el("a", { href: `#why/m${act.number}` }, `memory ${count(act.number)}`);
      fill(
        place,
        el("h4", {}, `Recalled for its last words then (`, all, `)`),
        el("ol", { class: "hits" }, rows),
      );
    })
    .catch(() => {}); // it is no part of the answer
  return place;
}

/** The query for an earlier time, as an address has it. */
function moment(at) {
  if (/^m\d+$/.test(at)) return { n: at.slice(1) };
  return /^\d+$/.test(at) ? { t: new Date(Number(at) * 1000).toISOString() } : { when: at };
}

/** The section "Memory" of an agent's page: its memory now, or as it was at an earlier time. */
export class Tiers {
  #tiers = null;
  #first = 0; // seconds since 1970
  #firstSummary = undefined; // when the first short-term summary came, in seconds since 1970
  #past = false; // whether an earlier time is shown
  #at = 0;

  constructor(root, id) {
    this.id = id;
    this.newer = el(
      "button",
      { type: "button", hidden: true, on: { click: () => this.#try(() => this.load()) } },
      "Show the new memories",
    );
    this.line = el("div", { class: "timeline" });
    this.jump = el("input", { type: "number", min: "1", required: true, placeholder: "number" });
    this.when = el("input", {
      required: true,
      autocomplete: "off",
      maxlength: "100",
      placeholder: "19:34, Thursday evening",
    });
    const then = el(
      "form",
      { class: "tools", on: { submit: (event) => this.#wanted(event) } },
      el("label", { title: `By the world's clock, ${ZONE}` }, "As it was at ", this.when),
      el("button", {}, "Show"),
    );
    const go = el(
      "form",
      { class: "tools", on: { submit: (event) => this.#jumped(event) } },
      el("label", {}, "Go to memory ", this.jump),
      el("button", {}, "Go"),
      this.newer,
    );
    this.page = el("div", { class: "page-of-memories" });
    fill(root, this.line, el("div", { class: "tools" }, go, then), this.page);
  }

  /** Whether an earlier time is shown, and not now. */
  get isPast() {
    return this.#past;
  }

  /** There are new memories: offer them by a button, and keep the timeline as it is. */
  outdated({ op, n }) {
    if (this.#tiers !== null && op === MemoryOp.APPEND && n > this.#tiers.total)
      this.newer.hidden = false;
  }

  async load(memory = 0) {
    await this.#refresh();
    if (!this.#tiers.total) return;
    if (memory) await this.#goTo(Math.min(memory, this.#tiers.total));
    else await this.#open(this.#parts().at(-1));
  }

  /** Open the page with a memory (`17`), or with the first of several (`1-50`), and highlight it; or
   * show the memory as it was at a time (`@1777636800`, seconds since 1970), when a memory came (`@m17`), or at a time
   * in words (`@yesterday`). */
  async show(at) {
    if (at.startsWith("@")) {
      await this.#try(() => this.#asOf(decodeURIComponent(at.slice(1))));
      // On a phone the answer would stand below the fold.
      if (this.page.getBoundingClientRect().top > LOW * innerHeight)
        this.page.scrollIntoView({ block: "start" });
      return undefined;
    }
    const first = parseInt(at, 10);
    if (!(first >= 1)) return this.load();
    if (this.#tiers === null || first > this.#tiers.total) return this.load(first);
    return this.#goTo(Math.min(first, this.#tiers.total));
  }

  async #refresh() {
    const [tiers, past] = await Promise.all([
      get(`agents/${this.id}/tiers`),
      get(`agents/${this.id}/past`),
    ]);
    this.#tiers = tiers;
    this.newer.hidden = true;
    this.#firstSummary = past.tiers.find(([, , , , longterm, recent]) => recent > longterm)?.[0];
    this.#draw(past);
  }

  async #goTo(memory) {
    const part = this.#holding(memory);
    if (!part) return;
    this.#now();
    this.scrubber?.goTo(memory);
    const first =
      part.first + Math.floor((Math.max(memory, part.first) - part.first) / PAGE) * PAGE;
    await this.#open(part, first, memory);
    byId(`memory-${memory}`)?.focus();
  }

  #holding(memory) {
    return this.#parts().find((each) => memory <= each.last) ?? this.#parts().at(-1);
  }

  #parts() {
    return partsOf(this.#tiers, this.#tiers.total);
  }

  #draw(past) {
    const { total } = this.#tiers;
    if (!total) {
      fill(this.line, el("p", { class: "empty" }, "It has no memories yet."));
      return;
    }
    const line = el("div", { class: "memory-line" });
    this.scrubber = new MemoryLine(line, {
      parts: this.#parts(),
      total,
      past,
      names: NAMES,
      settled: (number) => this.#try(() => this.#moved(number)),
    });
    this.legend = el("ul", { class: "legend", "aria-label": "Tiers of memory, oldest first" });
    fill(this.line, line, this.legend);
    this.#drawNow();
    this.jump.max = String(total);
    if (!past.counts.length) return;
    this.#first = past.counts[0][0];
  }

  /** Leave an earlier time, if one is shown. */
  #now() {
    if (this.#past) this.#drawNow();
  }

  /** The slider, the tiers and the head are those of now. */
  #drawNow() {
    this.#past = false;
    delete document.body.dataset.past;
    byId("then").hidden = true;
    fill(byId("then"));
    const parts = this.#parts();
    this.scrubber?.show(parts);
    if (this.legend)
      fill(
        this.legend,
        parts.map((part) =>
          el(
            "li",
            {},
            el(
              "button",
              {
                type: "button",
                class: "plain tier",
                "data-row": true,
                "data-tier": part.tier,
                "data-opens": true,
                on: { click: () => this.#try(() => this.#open(part)) },
              },
              this.#named(part),
            ),
          ),
        ),
      );
  }

  /** From an earlier time to the newest memories. */
  async #back() {
    history.replaceState(null, "", "#memory");
    await this.load();
  }

  /** The slider was moved: its end is now, and any other place an earlier time. */
  async #moved(number) {
    if (number >= this.#tiers.total) return this.#back();
    history.replaceState(null, "", `#memory/@m${number}`);
    return this.#asOf(`m${number}`);
  }

  #named({ tier, first, last, summary }) {
    const tokens = summary
      ? summary.tokens_after
      : tier === WINDOW && !this.#past
        ? this.#tiers.window_tokens
        : 0;
    return [
      el("span", { class: `swatch ${tier}` }),
      `${NAMES[tier]}: ${count(first)}–${count(last)}`,
      tokens ? `, ${many(tokens, "token")}` : "",
    ];
  }

  async #open(part, first = null, mark = 0) {
    this.#now();
    // The window opens at its newest memories, a summary at its oldest.
    const start =
      first ?? (part.tier === WINDOW ? Math.max(part.first, part.last - PAGE + 1) : part.first);
    const last = Math.min(start + PAGE - 1, part.last);
    const asked = ++this.#at;
    const found = await get(`agents/${this.id}/memories`, { first: start, last });
    if (asked !== this.#at) return; // another page was opened meanwhile
    this.#mark(part);
    fill(
      this.page,
      el("h3", {}, `${NAMES[part.tier][0].toUpperCase()}${NAMES[part.tier].slice(1)}`),
      part.summary
        ? summaryFold(this.id, part.summary, this.#tiers, () => this.load(part.first))
        : null,
      this.#turns(part, start, last),
      el("ol", { class: "memories" }, memoryRows(found, { mark, ids: true })),
      this.#turns(part, start, last),
    );
    announce(`Memories ${start} to ${last}.`);
  }

  #mark(part) {
    for (const button of this.line.querySelectorAll(".tier")) {
      setAttribute(button, "aria-current", button.dataset.tier === part.tier ? "true" : null);
    }
  }

  #turns(part, first, last) {
    const turn = (name, to, possible) =>
      el(
        "button",
        {
          type: "button",
          disabled: !possible,
          on: { click: () => this.#try(() => this.#open(part, to)) },
        },
        name,
      );
    return el(
      "div",
      { class: "tools turns" },
      turn("← Older", Math.max(part.first, first - PAGE), first > part.first),
      el("span", {}, `memories ${count(first)}–${count(last)} of ${count(this.#tiers.total)}`),
      turn("Newer →", last + 1, last < part.last),
    );
  }

  #wanted(event) {
    event.preventDefault();
    const wanted = `#memory/@${encodeURIComponent(this.when.value.trim())}`;
    if (location.hash === wanted)
      this.#try(() => this.show(wanted.slice("#memory/".length))); // no hashchange event
    else location.hash = wanted;
  }

  /** Show the tiers as they were at a time, or when a memory came (`m17`): both summaries, and the end of the window. */
  async #asOf(at) {
    const answer = lead(this.id, QuestionKind.THEN, at); // it comes at the same time
    if (this.#tiers === null) await this.#refresh();
    const asked = ++this.#at;
    const was = await get(`agents/${this.id}/as-of`, moment(at));
    if (asked !== this.#at) return;
    const { number, longterm, recent, time: iso } = was;
    this.#then(was);
    fill(
      this.page,
      el(
        "h3",
        {},
        "The memory on ",
        time(iso, (each) => tick(each, true)),
      ),
      number
        ? [
            answer,
            el("p", { class: "dim" }, held(was, this.#firstSummary)),
            became(this.id, was),
            el(
              "div",
              { class: "ahead" },
              el("div", {}, newest(this.id, was)),
              el(
                "div",
                {},
                meant(was),
                recalledThen(this.id, was),
                [recent, longterm].map((each) => each && summaryFold(this.id, each, was)),
              ),
            ),
          ]
        : el("p", {}, this.#before()),
    );
    announce(`The memory on ${tick(iso, true)}.`);
  }

  /** Let the slider, the tiers and the head show an earlier time. */
  #then({ number, window_first: window, longterm, recent, time: iso }) {
    const { total } = this.#tiers;
    this.#past = true;
    document.body.dataset.past = "";
    const oldest = longterm ?? recent;
    const parts = partsOf(
      { first: oldest ? oldest.first : window, longterm, recent, window_first: window },
      number,
    );
    this.scrubber?.show([
      ...parts,
      ...(number < total ? [{ tier: LATER, first: number + 1, last: total }] : []),
    ]);
    this.scrubber?.goTo(Math.max(number, 1));
    if (this.legend)
      fill(
        this.legend,
        parts.map((part) => el("li", {}, this.#named(part))),
      );
    byId("then").hidden = false;
    fill(
      byId("then"),
      el(
        "span",
        {},
        "Shown: the memory on ",
        el(
          "b",
          {},
          time(iso, (each) => tick(each, true)),
        ),
        `, when memory ${count(number)} of ${count(total)} was the newest`,
      ),
      el(
        "button",
        { type: "button", on: { click: () => this.#try(() => this.#back()) } },
        "Back to now",
      ),
    );
  }

  /** Words for a time at which it remembered nothing. */
  #before() {
    if (!this.#first) return "It has no memories yet.";
    return [
      "Nothing was remembered yet. The first memory is of ",
      time(new Date(this.#first * 1000).toISOString(), (iso) => tick(iso, true)),
      ".",
    ];
  }

  #jumped(event) {
    event.preventDefault();
    const wanted = `#memory/${this.jump.value}`;
    if (location.hash === wanted)
      this.#try(() => this.show(this.jump.value)); // no hashchange event
    else location.hash = wanted;
  }

  /** Run an action of this section; if it fails, show the error and a button to try again. */
  async #try(work) {
    try {
      await work();
    } catch (problem) {
      fill(
        this.page,
        el(
          "p",
          { class: "problem", role: "alert" },
          problem.message,
          " ",
          el("button", { type: "button", on: { click: () => this.#try(work) } }, "Try again"),
        ),
      );
    }
  }
}
