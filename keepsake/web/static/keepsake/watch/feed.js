/* Events as rows. It holds only the newest 500, for pages that are open for a long time. */

import { count, el, fill, setText, time, whereLink, whyLink } from "./dom.js";
import { describe, INNER } from "./event_words.js";
import { EventKind, MemoryKind } from "./kinds.js";

const MOST = 500;
const PAINT = 100;
const LONGEST = 4000;
const HOLD = "Hold the rows still. Events that arrive meanwhile are shown when you continue";

/** Rows of events in `root`; `named` adds the agent's name to each. */
export class Feed {
  #waiting = [];
  #memories = new Map();
  #first = new Map();
  #due = null;
  #paused = false;
  #missed = 0;
  #words = "";

  constructor(root, { named = false, most = MOST } = {}) {
    this.named = named;
    this.most = most;
    this.list = el("ol", {
      class: "feed", role: "log", "aria-live": "off", tabindex: "0", "aria-label": "Events",
    });
    this.none = el("p", { class: "empty" }, "No such event since the page was opened.");
    this.pauseButton = el("button", { type: "button", title: HOLD, on: { click: () => this.pause() } }, "Hold");
    this.filter = el("input", {
      type: "search", placeholder: "only rows with …", "aria-label": "Filter the stream",
      on: { input: () => this.#sift(this.filter.value) },
    });
    this.inner = el("input", { type: "checkbox", on: { change: () => this.#sift(this.filter.value) } });
    const inner = el("label", { class: "switch" }, this.inner, "also thoughts, searches, books …");
    fill(root, el("div", { class: "tools" }, this.pauseButton, this.filter, inner), this.none, this.list);
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
    while (this.list.childElementCount > this.most) this.#drop(this.list.firstElementChild);
    if (atEnd) this.list.scrollTop = this.list.scrollHeight;
    this.#label();
  }

  /** Insert a row by its time, because events may come out of order. A memory has one row, the newest. */
  #place(kind, record) {
    if (this.#echoes(record)) return;
    const row = this.#row(kind, record);
    const key = kind === EventKind.MEMORY && record.remembered ? `${record.agent} ${record.n}` : null;
    const old = key && this.#memories.get(key);
    if (old && old.dataset.t >= row.dataset.t) return;
    old?.remove();
    if (key) this.#memories.set((row.dataset.memory = key), row);
    let before = this.list.lastElementChild;
    while (before && before.dataset.t > row.dataset.t) before = before.previousElementSibling;
    if (before) before.after(row);
    else this.list.prepend(row);
  }

  #drop(row) {
    this.#memories.delete(row.dataset.memory);
    row.remove();
  }

  /** Whether another agent's row already shows the same happening: the row of its author, or of the first witness. */
  #echoes({ agent, remembered }) {
    const happening = remembered?.happening;
    if (!this.named || !happening) return false;
    const first = this.#first.get(happening);
    if (first) return first !== agent;
    if (this.#first.size > this.most) this.#first.clear();
    this.#first.set(happening, agent);
    return false;
  }

  #row(kind, record) {
    const { what, more, tone } = describe(kind, record);
    // A thought comes when it has ended, and is placed at the time when its prompt was sent: before its act.
    const began = Date.parse(record.t) - (kind === EventKind.THOUGHT ? 1000 * (record.latency ?? 0) + 1 : 0);
    const row = el("li", { class: `event ${tone}`, tabindex: "-1", "data-row": true },
      time(new Date(began).toISOString()),
      this.named && record.agent ? el("b", { dir: "auto" }, record.agent) : null,
      el("span", { class: "what", dir: "auto" }, what.slice(0, LONGEST)),
      this.#link(kind, record),
      more ? el("small", { dir: "auto" }, more.slice(0, LONGEST)) : null);
    row.dataset.t = Math.round(began).toString().padStart(16, "0");
    row.hidden = !this.#fits(row);
    return row;
  }

  /** A link: from a memory to its place among the others, from a thought to its prompt. */
  #link(kind, { agent_id: id, n, prompt, remembered, seq }) {
    const link = (anchor, words) => el("a", {
      href: `${this.named ? `/agents/${id}/` : ""}#${anchor}`, class: "number", "data-opens": true,
    }, words);
    if (kind === EventKind.MEMORY && remembered) {
      const why = remembered.kind === MemoryKind.ACT ? [" ", whyLink(id, n)] : null;
      return [link(`memory/${n}`, `memory ${n}`), why, " ", whereLink(id, n)];
    }
    return kind === EventKind.THOUGHT && prompt ? link(`prompt/${seq}`, "its prompt") : null;
  }

  #sift(words) {
    this.#words = words.trim().toLowerCase();
    for (const row of this.list.children) row.hidden = !this.#fits(row);
    this.list.scrollTop = this.list.scrollHeight;
  }

  #fits(row) {
    if (!this.inner.checked && row.matches(INNER.map((tone) => `.${tone}`).join())) return false;
    return !this.#words || row.textContent.toLowerCase().includes(this.#words);
  }
}
