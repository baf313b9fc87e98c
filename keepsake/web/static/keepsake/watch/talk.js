/* A talk in one room: who said what to whom, and who else perceived it. */

import { el, fill, personLink, sameDay, tick, time, whereLink, whyOf } from "./dom.js";
import { mark } from "./faces.js";
import { HappeningKind, Manner, MemoryKind } from "./kinds.js";
import { privacyMark } from "./privacy.js";
import { told } from "./sentences.js";

/** The most lines of a room that are kept; older ones are in the agents' memories. */
const MOST = 60;
/** The pixels of a list until a page says how high it may be. */
const LOW = 300;
const HOW = { [Manner.SHOUT]: "shouts", [Manner.CHANNEL]: "on a channel" };

/** The lines of a talk in `list`. */
export class Talk {
  #lines = new Map();
  #most = LOW;
  /** The height of all lines when they were fitted last, and where the list was scrolled to then. */
  #fitted = 0;
  #at = 0;

  constructor(list) {
    this.list = list;
  }

  get size() {
    return this.#lines.size;
  }

  /** When the newest line was said, in milliseconds; 0 if there is none. */
  get newest() {
    return Date.parse(this.list.lastElementChild?.dataset.at) || 0;
  }

  /** Add a memory of the event stream; another agent's memory of the same happening adds a bystander. */
  add(record) {
    const { remembered: memory, agent } = record;
    if (memory.kind === MemoryKind.RESULT) return; // what an agent's own look brought is no talk
    const key = memory.happening || `${agent} ${memory.number}`;
    const line = this.#lines.get(key) ?? this.#begin(key, memory);
    line.memories.set(agent, record);
    this.#draw(line);
  }

  /** How high the list is with all its lines, in pixels. */
  get high() {
    return this.list.scrollHeight;
  }

  /** How high its newest line is, or the words that there is none. */
  get newestHigh() {
    return this.list.lastElementChild?.offsetHeight ?? this.high;
  }

  /** The list is at most so high from now on, in pixels; one in which somebody reads earlier lines stays there. */
  fit(most, moved = false) {
    if (!moved && most === this.#most && this.high === this.#fitted) return;
    this.#most = most;
    if (moved || !this.#read()) this.toEnd();
  }

  /** Scroll to the newest line, and show whole lines: none is cut at the top. One that is too long begins at the top. */
  toEnd() {
    const { style, children } = this.list;
    style.maxHeight = `${this.#most}px`;
    const { scrollHeight: high, clientHeight: shown } = this.list;
    const whole = [...children].find(({ offsetTop }) => offsetTop >= high - shown);
    const first = whole ?? this.list.lastElementChild;
    if (high > shown && whole) style.maxHeight = `${high - whole.offsetTop}px`;
    if (first) this.list.scrollTop = first.offsetTop;
    this.#fitted = high;
    this.#at = this.list.scrollTop;
  }

  /** Whether somebody has scrolled to earlier lines. */
  #read() {
    const { scrollTop, scrollHeight, clientHeight } = this.list;
    return Math.abs(scrollTop - this.#at) > 2 && scrollHeight - scrollTop - clientHeight > 40;
  }

  #begin(key, memory) {
    const line = {
      at: memory.time,
      memories: new Map(),
      node: el("li", { "data-row": true, tabindex: "-1" }),
    };
    line.node.dataset.at = memory.time;
    const reads = this.#read();
    this.#lines.set(key, line);
    let before = this.list.lastElementChild;
    while (before && before.dataset.at > memory.time) before = before.previousElementSibling;
    if (before) before.after(line.node);
    else this.list.prepend(line.node);
    if (this.#lines.size > MOST) this.#dropOldest();
    if (!reads) requestAnimationFrame(() => this.toEnd());
    return line;
  }

  #dropOldest() {
    const oldest = this.list.firstElementChild;
    for (const [key, { node }] of this.#lines) if (node === oldest) this.#lines.delete(key);
    oldest.remove();
  }

  #draw({ node, memories }) {
    const all = [...memories.values()];
    // The line of who did it has its reason; else any witness's.
    const record = all.find(({ remembered }) => remembered.kind === MemoryKind.ACT) ?? all[0];
    const { remembered: memory, agent, agent_id: id } = record;
    const { who, to, words, deed } = parts(memory, agent);
    const bystanders = [...memories.keys()].filter((name) => name !== who && !to.includes(name));
    node.classList.toggle("whisper", Boolean(memory.confidants));
    fill(
      node,
      el("b", {}, who ? speaker(who, memory, id) : "·"),
      " ",
      to.length ? el("span", { class: "to", dir: "auto" }, `to ${to.join(", ")}`) : null,
      memory.privacy ? [" ", privacyMark(memory.privacy)] : null,
      HOW[memory.what.manner] ? el("span", { class: "flag" }, ` ${HOW[memory.what.manner]}`) : null,
      to.length || HOW[memory.what.manner] ? ": " : " ",
      el("bdi", { class: deed ? "deed" : "" }, words),
      " ",
      el(
        "small",
        {},
        time(memory.time, (iso) => tick(iso, !sameDay(iso, Date.now()))),
        whyOf(id, memory),
        whereLink(id, memory.number),
        bystanders.length
          ? el(
              "span",
              { class: "bystanders" },
              bystanders.map((name) => face(name, memories.get(name))),
            )
          : null,
      ),
    );
  }
}

/** The name of who spoke or acted, which leads to what all agents know of them. */
function speaker(who, { kind, source_id: key }, id) {
  return personLink(who, kind === MemoryKind.ACT ? { id } : { key });
}

/** The face of an agent that perceived it, which leads to its memory of it. */
function face(name, { agent_id: id, n }) {
  const words = `${name} perceived it`;
  const leads = { href: `/agents/${id}/#memory/${n}`, title: words };
  return mark(name, "face-of", "a", leads, el("span", { class: "unseen" }, words));
}

/** Who spoke or acted, to whom, and the words. */
function parts(memory, agent) {
  const name = ({ id, name: known }) => (id === "me" ? agent : known);
  if (memory.form !== HappeningKind.SPEECH || !memory.what.words) {
    const { who, words } = told(memory, agent);
    return { who, to: [], words, deed: true };
  }
  const { speaker, to, words } = memory.what;
  return {
    who: name(speaker),
    to: to.map(name),
    words: `“${words.replaceAll('"', "'")}”`,
    deed: false,
  };
}
