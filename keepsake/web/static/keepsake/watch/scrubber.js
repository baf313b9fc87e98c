/* A scrubber over the time of all archives: days, talk, compactions, and a fact's tellings. */

import { count, el, fill, tick } from "./dom.js";
import { density } from "./past.js";
import { svg } from "./svg.js";

const WIDE = 1000;
const HIGH = 64;
const PARTS = 160;
const STEPS = 2000;
const DAY = 86400;
const PLAY_SECONDS = 20;

/** A scrubber in `root` from `first` to `last` (seconds since 1970); `moved(time)` is called when it moves. */
export class Scrubber {
  #timer = null;

  constructor(root, { first, last, agents, moved }) {
    this.first = first;
    this.last = Math.max(last, first + 1);
    this.moved = moved;
    this.range = el("input", {
      type: "range", min: "0", max: String(STEPS), value: String(STEPS), "aria-label": "Time",
      on: { input: () => this.#say(), keydown: (event) => this.#key(event) },
    });
    this.label = el("output", {}, "");
    this.play = el("button", { type: "button", on: { click: () => this.#toggle() } }, "Play");
    this.now = el("button", { type: "button", on: { click: () => this.goTo(this.last) } }, "Now");
    this.cursor = svg("line", { class: "cursor", y1: 0, y2: HIGH });
    this.marks = svg("g", { class: "marks" });
    this.picture = svg("svg", { viewBox: `0 0 ${WIDE} ${HIGH}`, preserveAspectRatio: "none", "aria-hidden": "true" },
      this.#days(), this.#talk(agents), this.#compactions(agents), this.marks, this.cursor);
    fill(root, el("div", { class: "strip" }, this.picture), this.range,
      el("div", { class: "tools" }, this.play, this.now, this.label));
    this.#say();
  }

  get time() {
    const share = Number(this.range.value) / STEPS;
    return share === 1 ? this.last : Math.round(this.first + share * (this.last - this.first));
  }

  goTo(time) {
    this.range.value = String(Math.ceil(((time - this.first) / (this.last - this.first)) * STEPS));
    this.#say();
  }

  /** Mark the tellings: `[time, kind]`. */
  mark(tellings) {
    fill(this.marks, tellings.map(([time, kind]) => svg("circle", { class: kind, cx: this.#x(time), cy: HIGH - 9, r: 5 })));
  }

  #say() {
    const time = this.time;
    const [x, iso] = [this.#x(time), new Date(time * 1000).toISOString()];
    this.cursor.setAttribute("x1", x);
    this.cursor.setAttribute("x2", x);
    const words = time === this.last ? "now" : tick(iso, true);
    this.label.textContent = words;
    this.range.setAttribute("aria-valuetext", words);
    this.moved(time);
  }

  #x(time) {
    return ((time - this.first) / (this.last - this.first)) * WIDE;
  }

  #days() {
    const [begin, found] = [new Date(this.first * 1000), []];
    begin.setHours(0, 0, 0, 0);
    const days = Math.ceil((this.last - begin / 1000) / DAY);
    const every = Math.max(Math.ceil(days / 12), 1);
    for (let day = 0; day <= days; day += every) {
      const at = new Date(begin);
      at.setDate(at.getDate() + day);
      const x = this.#x(at / 1000);
      // The hours from ten to six, when a village sleeps.
      const night = [new Date(at).setHours(-2), new Date(at).setHours(6)].map((each) => this.#x(each / 1000));
      found.push(every === 1 ? svg("rect", { class: "night", x: night[0], y: 0, width: night[1] - night[0], height: HIGH }) : null,
        svg("line", { class: "day", x1: x, x2: x, y1: 0, y2: HIGH }));
    }
    return svg("g", {}, found);
  }

  #talk(agents) {
    const made = density(agents, this.first, this.last, PARTS);
    const most = Math.max(...made, 1);
    const wide = WIDE / PARTS;
    return svg("g", { class: "talk" }, made.map((number, i) => {
      const high = number ? Math.max((number / most) * (HIGH - 24), 1) : 0;
      return number ? svg("rect", { x: i * wide, y: HIGH - 18 - high, width: wide * 0.8, height: high }) : null;
    }));
  }

  #compactions(agents) {
    const times = new Set(agents.flatMap(({ tiers }) => tiers.map(({ time }) => Math.round(this.#x(time)))));
    return svg("g", { class: "compactions" }, [...times].map((x) => svg("path", { d: `M${x - 4} 0h8l-4 7z` })));
  }

  #toggle() {
    if (this.#timer) return this.#stop();
    if (this.time === this.last) this.range.value = "0";
    this.play.textContent = "Stop";
    this.#timer = setInterval(() => {
      this.range.value = String(Number(this.range.value) + STEPS / (PLAY_SECONDS * 10));
      this.#say();
      if (this.time === this.last) this.#stop();
    }, 100);
    return null;
  }

  #stop() {
    clearInterval(this.#timer);
    this.#timer = null;
    this.play.textContent = "Play";
  }

  #key(event) {
    if (event.key === "PageUp" || event.key === "PageDown") {
      event.preventDefault();
      this.goTo(Math.min(Math.max(this.time + (event.key === "PageUp" ? -1 : 1) * 3600, this.first), this.last));
    }
  }
}

/** The tiers of a mind as a bar; `most` memories are its full width. */
export function tierBar({ cleared, longterm, recent, window, total }, most) {
  const parts = { cleared, longterm, recent, window };
  const words = `${count(total)} memories: ${count(window)} word for word, ${count(recent)} in the short-term summary, ${count(longterm)} in the long-term one`;
  return el("span", { class: "mind", title: words, role: "img", "aria-label": words },
    Object.entries(parts).map(([tier, number]) => el("span", { class: tier, vars: { "--part": String(most ? number / most : 0) } })));
}
