/* Compactions, newest first: what each lost in its two steps, with the texts before and after. */

import { act, actButton, get } from "./api.js";
import { prose } from "./book.js";
import { count, el, fill, many, percent, seconds, time } from "./dom.js";
import { QuestionKind } from "./kinds.js";
import { memoriesFold, TIERS, writtenAt } from "./memories.js";
import { outcome, reason } from "./plain_words.js";
import { lead } from "./short_answer.js";
import { sentence } from "./sentences.js";
import { compare, memoryRow, sentenceRow } from "./losses.js";
import { wordDiff } from "./word_diff.js";

const LIMIT = 20;
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
