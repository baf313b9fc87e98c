/* Events as rows. It holds only the newest 500, for pages that are open for a long time. */

import { count, el, fill, personLink, setText, time, whereLink, whyOf } from "./dom.js";
import { describe, INNER, left } from "./event_words.js";
import { EventKind, MemoryKind } from "./kinds.js";
import { inWords } from "./sentences.js";

const MOST = 500;
const PAINT = 100;
const LONGEST = 4000;
/** The most names of witnesses in a row; the others are counted. */
const NAMED = 6;
/** Milliseconds of silence in a place after which its next line begins a new group. */
const PAUSE = 120000;
/** Milliseconds within which agents leave a place together, as at a start of the world. */
const TOGETHER = 5000;
const HOLD = "Hold the rows still. Events that arrive meanwhile are shown when you continue";

/** Rows of events in `root`. `named`: events of several agents, which are grouped by place. */
export class Feed {
  #waiting = [];
  #memories = new Map();
  #witnessed = new Map();
  #places = new Map();
  #groups = new Map();
  #departures = new Map();
  #between = []; // the times of shown rows without a place: no group goes on across them
  #number = 0;
  #due = null;
  #paused = false;
  #missed = 0;
  #words = "";

  constructor(root, { named = false, most = MOST } = {}) {
    this.named = named;
    this.most = most;
    this.list = el("div", {
      class: "feed",
      role: "log",
      "aria-live": "off",
      tabindex: "0",
      "aria-label": "Events",
    });
    this.none = el("p", { class: "empty" }, "None among the newest events that are shown here.");
    this.pauseButton = el(
      "button",
      { type: "button", title: HOLD, on: { click: () => this.pause() } },
      "Hold",
    );
    this.filter = el("input", {
      type: "search",
      placeholder: "only rows with …",
      "aria-label": "Filter the stream",
      on: { input: () => this.#sift(this.filter.value) },
    });
    this.inner = el("input", {
      type: "checkbox",
      on: { change: () => this.#sift(this.filter.value) },
    });
    const inner = el("label", { class: "switch" }, this.inner, "also thoughts, searches, books …");
    fill(
      root,
      el("div", { class: "tools" }, this.pauseButton, this.filter, inner),
      this.none,
      this.list,
    );
  }

  /** Take an event; it is painted a moment later, together with others that have come by then. */
  add(kind, record) {
    this.#waiting.push([kind, record]);
    if (this.#waiting.length > this.most) {
      this.#waiting.splice(0, this.#waiting.length - this.most);
      this.#missed += 1;
    }
    if (this.#paused) this.#label();
    else this.#due ??= setTimeout(() => this.#paint(), PAINT);
  }

  /** Hold the rows, or continue. */
  pause() {
    this.#paused = !this.#paused;
    this.#label();
    if (!this.#paused) this.#paint();
  }

  #label() {
    const waiting = this.#waiting.length + this.#missed;
    setText(this.pauseButton, this.#paused ? `Continue (${count(waiting)} new)` : "Hold");
  }

  #paint() {
    clearTimeout(this.#due);
    this.#due = null;
    const atEnd = this.list.scrollHeight - this.list.scrollTop - this.list.clientHeight < 60;
    for (const [kind, record] of this.#waiting) this.#place(kind, record);
    this.#waiting = [];
    this.#missed = 0;
    while (this.#number > this.most) this.#drop(this.list.querySelector(".event"));
    if (atEnd) this.list.scrollTop = this.list.scrollHeight;
    this.#label();
  }

  /** Insert a row by its time, because events may come out of order. A memory has one row, the newest. */
  #place(kind, record) {
    if (this.#echoes(record) || this.#joins(kind, record)) return;
    const row = this.#row(kind, record);
    if (this.named && kind === EventKind.MOVE && !record.seen)
      this.#departures.set(record.origin, { at: Date.parse(record.t), row, names: [record.agent] });
    const seen = this.#witnessed.get(record.remembered?.happening);
    if (seen) seen.row = row;
    const key =
      kind === EventKind.MEMORY && record.remembered ? `${record.agent} ${record.n}` : null;
    const old = key && this.#memories.get(key);
    if (old && old.dataset.t >= row.dataset.t) return;
    if (old) this.#drop(old);
    if (key) this.#memories.set((row.dataset.memory = key), row);
    const holder = this.#group(record, row);
    let before = holder.lastElementChild;
    while (before && before.dataset.t > row.dataset.t) before = before.previousElementSibling;
    if (before) before.after(row);
    else holder.prepend(row);
    this.#number += 1;
  }

  /** The rows of what happens in one place without a long pause. The group with the newest row is the last,
   * so that talks in two rooms do not mix. A row without a place is a group of its own, in the order of time. */
  #group({ agent, remembered, kind, place: moved }, row) {
    const at = Number(row.dataset.t);
    const there = kind === EventKind.MOVE ? moved : remembered?.place;
    if (there) this.#places.set(agent, there);
    const place = (this.named && this.#places.get(agent)) || "";
    const apart = this.named && !place;
    if (apart && !inner(row)) this.#between = [...this.#between, at].slice(-this.most);
    let group = apart ? null : this.#groups.get(place);
    // The events of one agent are one group: they stand in the order of time, also if they come later.
    const over =
      this.named && group && (Math.abs(at - group.at) > PAUSE || this.#parted(at, group.at));
    if (!group?.node.isConnected || over) {
      const rows = el("ol", {});
      group = {
        at,
        rows,
        node: el(
          "section",
          { class: "group" },
          place ? el("h3", { dir: "auto" }, place) : null,
          rows,
        ),
      };
      if (!apart) this.#groups.set(place, group);
      this.list.append(group.node);
    }
    group.at = Math.max(group.at, at);
    group.node.dataset.t = String(group.at).padStart(16, "0");
    let before = this.list.lastElementChild;
    while (before && (before === group.node || before.dataset.t > group.node.dataset.t))
      before = before.previousElementSibling;
    const next = before ? before.nextElementSibling : this.list.firstElementChild;
    if (next !== group.node) this.list.insertBefore(group.node, next); // a node that moves loses the focus
    return group.rows;
  }

  /** Whether a row without a place is between two times. */
  #parted(one, other) {
    const [first, last] = [Math.min(one, other), Math.max(one, other)];
    return this.#between.some((at) => first < at && at < last);
  }

  #drop(row) {
    this.#memories.delete(row.dataset.memory);
    const group = row.closest(".group");
    row.remove();
    if (!group.querySelector(".event")) group.remove();
    this.#number -= 1;
  }

  /** Whether another agent's row already shows the same happening: that row then names this witness too. */
  #echoes({ agent, remembered }) {
    const happening = remembered?.happening;
    if (!this.named || !happening) return false;
    const seen = this.#witnessed.get(happening);
    const own = remembered.kind === MemoryKind.ACT ? agent : "";
    if (seen) {
      if (seen.agents.has(agent)) return seen.first !== agent;
      if (own && !seen.own) {
        // the row of who did it takes the place of a witness's: it leads to the reason
        seen.own = seen.first = own;
        if (seen.row?.isConnected) this.#drop(seen.row);
      }
      seen.agents.add(agent);
      fill(seen.node, witnesses(seen));
      return seen.first !== agent;
    }
    if (this.#witnessed.size > this.most) this.#witnessed.clear();
    const made = {
      first: agent,
      own,
      agents: new Set([agent]),
      node: el("small", { class: "witnesses", dir: "auto" }),
    };
    this.#witnessed.set(happening, made);
    fill(made.node, witnesses(made));
    return false;
  }

  /** Whether an agent left a place together with others, unseen: then their row names it, too. */
  #joins(kind, { origin, agent, t, seen }) {
    if (!this.named || kind !== EventKind.MOVE || seen || !origin) return false;
    const before = this.#departures.get(origin);
    if (
      !before?.row.isConnected ||
      before.names.includes(agent) ||
      Math.abs(Date.parse(t) - before.at) > TOGETHER
    )
      return false;
    before.names.push(agent);
    const { what, more } = left({ origin });
    fill(before.row.querySelector("b"), el("bdi", {}, inWords(before.names)));
    setText(before.row.querySelector(".what"), what);
    setText(before.row.querySelector("small"), more);
    return true;
  }

  #row(kind, record) {
    const { who, what, more, tone } = describe(kind, record);
    // A thought comes when it has ended, and is placed at the time when its prompt was sent: before its act.
    const began =
      Date.parse(record.t) - (kind === EventKind.THOUGHT ? 1000 * (record.latency ?? 0) + 1 : 0);
    const row = el(
      "li",
      { class: `event ${tone}`, tabindex: "-1", "data-row": true },
      time(new Date(began).toISOString()),
      who ? [el("b", {}, named(who, record)), " "] : null,
      el("span", { class: "what", dir: "auto" }, what.slice(0, LONGEST)),
      this.#link(kind, record),
      more ? el("small", { dir: "auto" }, more.slice(0, LONGEST)) : null,
      this.#witnessed.get(record.remembered?.happening)?.node,
    );
    row.dataset.t = Math.round(began).toString().padStart(16, "0");
    row.hidden = !this.#fits(row);
    return row;
  }

  /** A link: from a memory to its place among the others, from a thought to its prompt. */
  #link(kind, { agent, agent_id: id, n, prompt, remembered, seq }) {
    const link = (anchor, words) =>
      el(
        "a",
        {
          href: `${this.named ? `/agents/${id}/` : ""}#${anchor}`,
          class: "number",
          "data-opens": true,
        },
        words,
      );
    if (kind === EventKind.MEMORY && remembered) {
      return [
        link(`memory/${n}`, this.named ? `memory ${n} of ${agent}` : `memory ${n}`),
        " ",
        whyOf(id, remembered),
        " ",
        whereLink(id, n),
      ];
    }
    return kind === EventKind.THOUGHT && prompt ? link(`prompt/${seq}`, "its prompt") : null;
  }

  #sift(words) {
    this.#words = words.trim().toLowerCase();
    for (const row of this.list.querySelectorAll(".event")) row.hidden = !this.#fits(row);
    this.list.scrollTop = this.list.scrollHeight;
  }

  #fits(row) {
    if (!this.inner.checked && inner(row)) return false;
    return !this.#words || row.textContent.toLowerCase().includes(this.#words);
  }
}

/** Whether a row is of an internal event, which is hidden by default. */
function inner(row) {
  return row.matches(INNER.map((tone) => `.${tone}`).join());
}

/** The name of who spoke or acted, which leads to what all agents know of them. */
function named(who, { agent, agent_id: id, remembered }) {
  if (who === agent) return personLink(who, { id });
  return remembered?.source === who
    ? personLink(who, { key: remembered.source_id })
    : el("bdi", {}, who);
}

/** Who else perceived a happening: all agents that remember it, but not the one that did it. */
function witnesses({ own, agents }) {
  const others = [...agents].filter((agent) => agent !== own);
  if (!others.length) return "";
  const more = others.length > NAMED ? ` and ${count(others.length - NAMED)} more` : "";
  return `perceived by ${others.slice(0, NAMED).join(", ")}${more}`;
}
