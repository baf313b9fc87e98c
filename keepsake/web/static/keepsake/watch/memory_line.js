/* The line of an agent's memories, to scale: its tiers, its days and its compactions, with a scrubber. */

import { onDay } from "./clock.js";
import { count, el, fill, many, tick } from "./dom.js";
import { LineType } from "./kinds.js";
import { PastAgent, lastBefore } from "./past.js";
import { HIGH, Scrubber } from "./scrubber.js";
import { svg } from "./svg.js";
import { ticks } from "./ticks.js";

const DAY = 86400000;
/** The seconds without a memory after which a time has no place of its own. */
const QUIET = 900;
/** The part of the picture above the tiers, for the marks of compactions. */
const ABOVE = 14;

/** A scrubber over memories 1 to `total`; `settled(number)` is called when it was moved.
 *
 * `parts`: the tiers, `{ tier, first, last }`; `past`: the agent's past from the API.
 */
export class MemoryLine {
  constructor(root, { parts, total, past, names, settled }) {
    const agent = new PastAgent(past, [], "");
    const holder = el("div", { class: "scrubber" });
    const begun = days(agent, total);
    const made = changes(agent);
    this.parts = parts;
    this.tiers = svg("g");
    this.scrubber = new Scrubber(holder, {
      first: 1,
      last: total,
      name: "Memory",
      settled,
      steps: Math.max(total - 1, 1),
      words: (number) => words(Math.min(number, total), this.parts, names, agent),
      layers: (x) => [
        this.tiers,
        begun.map(({ number }) =>
          svg("line", { class: "day", x1: x(number), x2: x(number), y1: ABOVE, y2: HIGH }),
        ),
        made.map(({ kind, number }) =>
          svg("path", { class: `made ${kind}`, d: `M${x(number) - 5} 1h10l-5 11z` }),
        ),
      ],
    });
    const dates = el(
      "p",
      { class: "dates", "aria-hidden": "true" },
      labels(agent, total, widthOf(root)).map(({ at, words: said }) =>
        el("span", { vars: { "--at": String(at) } }, said),
      ),
    );
    fill(
      root,
      dates,
      holder,
      el(
        "p",
        { class: "ends" },
        el("span", {}, "memory 1"),
        made.length ? el("span", {}, `▼ ${many(past.changes, "change")} of its summaries`) : null,
        el("span", {}, `now: memory ${count(total)}`),
      ),
    );
    this.show(parts);
  }

  /** Show other tiers: those of now, or those of an earlier time. */
  show(parts) {
    this.parts = parts;
    const x = (number) => this.scrubber.x(number);
    fill(
      this.tiers,
      parts.map(({ tier, first, last }) =>
        svg("rect", {
          class: `part ${tier}`,
          x: x(first),
          y: ABOVE,
          width: Math.max(x(last + 1) - x(first) - 1, 1),
          height: HIGH - ABOVE,
        }),
      ),
    );
    this.scrubber.say();
  }

  /** Move to a memory, without a word to `settled`. */
  goTo(number) {
    this.scrubber.goTo(number);
  }
}

function words(number, parts, names, agent) {
  const part = parts.find(({ last }) => number <= last) ?? parts.at(-1);
  const when = timeOf(agent, number);
  return `memory ${count(number)}${when ? `, ${tick(when.toISOString(), true)}` : ""}: ${names[part.tier]}`;
}

/** About when a memory was archived: the counts are samples. */
function timeOf(agent, number) {
  const found = lastBefore(agent.counts, number, (item) => item[1]);
  return found < 0 ? null : new Date(agent.counts[found][0] * 1000);
}

/** The first memory of each of the world's days; of a long past only some days. */
function days(agent, total) {
  if (!agent.counts.length) return [];
  const [first, last] = [agent.counts[0][0] * 1000, agent.counts.at(-1)[0] * 1000];
  const every = Math.max(Math.ceil((last - first) / DAY / 60), 1); // at most 60 lines
  const found = [{ number: 1, at: new Date(first) }];
  const after = (at, number) => onDay(at, 24 * number);
  for (let at = after(first, 1); at <= last; at = after(at, every)) {
    const before = lastBefore(agent.counts, at / 1000);
    found.push({ number: Math.min(agent.counts[before][1] + 1, total), at });
  }
  return found;
}

/** The pixels that an element will have: it may not be in the page yet. */
function widthOf(root) {
  return root.clientWidth || document.querySelector("main").clientWidth;
}

/** The days and hours over a picture of memories 1 to `total`, `wide` pixels wide. */
function labels({ counts }, total, wide) {
  if (!counts.length) return [];
  const before = (time) => lastBefore(counts, time);
  const scale = {
    share: (time) => Math.min(counts[before(time)][1], total - 1) / Math.max(total - 1, 1),
    // Between two counts that are far apart nothing was remembered, or too little to say when.
    at: (time) => (counts[before(time) + 1]?.[0] ?? time) - counts[before(time)][0] > QUIET,
  };
  return ticks(scale, counts[0][0], counts.at(-1)[0], wide);
}

/** Compactions, undone ones and edits, each at the memory that was the newest. */
function changes(agent) {
  return agent.tiers
    .filter(({ kind }) => kind !== LineType.CLEAR)
    .map(({ time: at, kind }) => ({ kind, number: Math.max(agent.tiersAt(at).total, 1) }));
}
