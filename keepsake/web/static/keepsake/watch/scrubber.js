/* Scrubbers: over anything with a picture, and over the time of all archives with days, talk and compactions. */

import { onDay } from "./clock.js";
import { count, el, fill, tick } from "./dom.js";
import { density } from "./past.js";
import { QuietScale, short } from "./quiet.js";
import { svg } from "./svg.js";
import { ticks } from "./ticks.js";

/** The size of a scrubber's picture, in its own units. */
export const WIDE = 1000;
export const HIGH = 64;
const PARTS = 160;
const STEPS = 2000;
const DAY = 86400;
const PLAY_SECONDS = 20;
/** The pixels of the words that say how long a quiet stretch is. */
const LABEL = 24;

function evenly(first, last) {
  return {
    share: (value) => (value - first) / (last - first),
    time: (share) => first + share * (last - first),
  };
}

/** A picture over a range, and a range input below it; a click or a drag on either moves both.
 *
 * `moved(value)` is called at every move, `settled(value)` when the move has ended; `words(value)`
 * says the value. `layers(x)` makes the picture; `x(value)` is a value's place in it. `scale` has the share of the
 * picture at which a value is, and the value at a share, if not all values are equally wide.
 */
export class Scrubber {
  constructor(
    root,
    {
      first,
      last,
      name,
      layers,
      words,
      moved = () => {},
      settled = () => {},
      steps = STEPS,
      tools = [],
      scale = null,
    },
  ) {
    Object.assign(this, { first, steps, words, moved, settled });
    this.last = Math.max(last, first + 1);
    this.scale = scale ?? evenly(this.first, this.last);
    this.range = el("input", {
      type: "range",
      min: "0",
      max: String(steps),
      value: String(steps),
      "aria-label": name,
      on: {
        input: () => this.say(),
        change: () => this.settled(this.value),
        keydown: (event) => this.key(event),
      },
    });
    this.label = el("output", {}, "");
    this.cursor = svg("line", { class: "cursor", y1: 0, y2: HIGH });
    this.marks = svg("g", { class: "marks" });
    const picture = svg(
      "svg",
      { viewBox: `0 0 ${WIDE} ${HIGH}`, preserveAspectRatio: "none", "aria-hidden": "true" },
      layers((value) => this.x(value)),
      this.marks,
      this.cursor,
    );
    this.strip = el(
      "div",
      {
        class: "strip",
        on: {
          pointerdown: (event) => this.#drag(event),
          pointermove: (event) => event.buttons && this.#drag(event),
          pointerup: () => this.settled(this.value),
        },
      },
      picture,
    );
    fill(root, this.strip, this.range, el("div", { class: "tools" }, tools, this.label));
  }

  get value() {
    const share = Number(this.range.value) / this.steps;
    return share === 1 ? this.last : Math.round(this.scale.time(share));
  }

  goTo(value) {
    this.range.value = String(Math.ceil(this.scale.share(value) * this.steps));
    this.say();
  }

  say() {
    const x = this.x(this.value);
    this.cursor.setAttribute("x1", x);
    this.cursor.setAttribute("x2", x);
    const words = this.words(this.value);
    this.label.textContent = words;
    this.range.setAttribute("aria-valuetext", words);
    this.moved(this.value);
  }

  x(value) {
    return this.scale.share(value) * WIDE;
  }

  key() {}

  #drag(event) {
    event.preventDefault();
    this.strip.setPointerCapture(event.pointerId);
    const { left, width } = this.strip.getBoundingClientRect();
    const share = Math.min(Math.max((event.clientX - left) / width, 0), 1);
    this.range.value = String(Math.round(share * this.steps));
    this.say();
  }
}

/** A scrubber over time, from `first` to `last` (seconds since 1970); `moved(time)` is called when it moves. */
export class TimeScrubber extends Scrubber {
  #timer = null;

  constructor(root, { first, last, agents, moved }) {
    const play = el("button", { type: "button", on: { click: () => this.#toggle() } }, "Play");
    const now = el("button", { type: "button", on: { click: () => this.goTo(this.last) } }, "Now");
    const end = Math.max(last, first + 1);
    const scale = new QuietScale(first, end, happened(agents));
    const words = (time) => {
      if (time === this.last) return "now";
      return tick(new Date(time * 1000).toISOString(), true) + quietly(scale.at(time));
    };
    super(root, {
      first,
      last,
      moved,
      scale,
      words,
      name: "Time",
      tools: [play, now],
      layers: (x) => [
        quiet(x, scale),
        days(x, first, end),
        talk(agents, scale),
        compactions(x, agents),
      ],
    });
    this.strip.append(...howLong(scale, this.strip.clientWidth));
    root.prepend(dates(scale, first, end, this.strip.clientWidth));
    this.play = play;
    this.say();
  }

  get time() {
    return this.value;
  }

  /** Mark the tellings: `[time, kind]`. */
  mark(tellings) {
    const mark = ([time, kind]) =>
      svg("circle", { class: kind, cx: this.x(time), cy: HIGH - 9, r: 5 });
    fill(this.marks, tellings.map(mark));
  }

  #toggle() {
    if (this.#timer) return this.#stop();
    if (this.time === this.last) this.range.value = "0";
    this.play.textContent = "Stop";
    this.#timer = setInterval(() => {
      this.range.value = String(Number(this.range.value) + STEPS / (PLAY_SECONDS * 10));
      this.say();
      if (this.time === this.last) this.#stop();
    }, 100);
    return null;
  }

  #stop() {
    clearInterval(this.#timer);
    this.#timer = null;
    this.play.textContent = "Play";
  }

  key(event) {
    if (event.key === "PageUp" || event.key === "PageDown") {
      event.preventDefault();
      this.goTo(
        Math.min(
          Math.max(this.time + (event.key === "PageUp" ? -1 : 1) * 3600, this.first),
          this.last,
        ),
      );
    }
  }
}

/** The days and hours, over the picture. */
function dates(scale, first, last, wide) {
  const label = ({ at, words }) => el("span", { vars: { "--at": String(at) } }, words);
  const labels = ticks(scale, first, last, wide).map(label);
  return el("p", { class: "dates", "aria-hidden": "true" }, labels);
}

/** How long each quiet stretch is, over its band; of two that would cover each other, the first. */
function howLong(scale, wide) {
  let free = 0;
  return scale.quiet.flatMap(({ from, to }) => {
    const [begin, end] = [scale.share(from), scale.share(to)];
    const left = ((begin + end) / 2) * wide - LABEL / 2;
    if (left < free) return [];
    free = left + LABEL;
    const vars = { "--from": String(begin), "--wide": String(end - begin) };
    const said = el("span", {}, short(to - from));
    return [el("span", { class: "how-long", "aria-hidden": "true", vars }, said)];
  });
}

/** Lines for days, and shades for nights. */
function days(x, first, last) {
  const begin = onDay(first * 1000);
  const found = [];
  const days = Math.ceil((last - begin / 1000) / DAY);
  const every = Math.max(Math.ceil(days / 12), 1);
  for (let day = 0; day <= days; day += every) {
    const place = x(onDay(begin, 24 * day) / 1000);
    // The hours from ten to six, when a village sleeps.
    const [dusk, dawn] = [-2, 6].map((hour) => x(onDay(begin, 24 * day + hour) / 1000));
    if (every === 1)
      found.push(svg("rect", { class: "night", x: dusk, y: 0, width: dawn - dusk, height: HIGH }));
    found.push(svg("line", { class: "day", x1: place, x2: place, y1: 0, y2: HIGH }));
  }
  return svg("g", {}, found);
}

/** When anything happened, in order: memories, ways, and changes of summaries. */
function happened(agents) {
  const times = agents.flatMap(({ counts, moves, tiers }) => [
    ...counts.map(([time]) => time),
    ...moves.map(([time]) => time),
    ...tiers.map(({ time }) => time),
  ]);
  return times.sort((one, other) => one - other);
}

function quietly(stretch) {
  return stretch ? `, nothing happens for ${short(stretch.to - stretch.from)}` : "";
}

/** The quiet stretches, as bands. */
function quiet(x, scale) {
  const band = ({ from, to }) =>
    svg("rect", { x: x(from), y: 0, width: x(to) - x(from), height: HIGH });
  return svg("g", { class: "quiet" }, scale.quiet.map(band));
}

/** How much was remembered when, as bars. */
function talk(agents, scale) {
  const made = density(agents, (time) => scale.share(time), PARTS);
  const most = Math.max(...made, 1);
  const wide = WIDE / PARTS;
  return svg(
    "g",
    { class: "talk" },
    made.map((number, i) => {
      const high = number ? Math.max((number / most) * (HIGH - 24), 1) : 0;
      return number
        ? svg("rect", { x: i * wide, y: HIGH - 18 - high, width: wide * 0.8, height: high })
        : null;
    }),
  );
}

function compactions(x, agents) {
  const times = new Set(
    agents.flatMap(({ tiers }) => tiers.map(({ time }) => Math.round(x(time)))),
  );
  return svg(
    "g",
    { class: "compactions" },
    [...times].map((at) => svg("path", { d: `M${at - 4} 0h8l-4 7z` })),
  );
}

/** The tiers of a mind as a bar; `most` memories are its full width. */
export function tierBar(tiers, most) {
  const bar = el(
    "span",
    { class: "mind", role: "img" },
    PARTS_OF.map((tier) => el("span", { class: tier })),
  );
  setTierBar(bar, tiers, most);
  return bar;
}

const PARTS_OF = ["cleared", "longterm", "recent", "window"];

/** Let a bar show other tiers; nothing is touched if they are the same. */
export function setTierBar(bar, tiers, most) {
  const { longterm, recent, window, total } = tiers;
  const words = `${count(total)} memories: ${count(window)} word for word, ${count(recent)} in the short-term summary, ${count(
    longterm,
  )} in the long-term one`;
  if (bar.title === words) return;
  bar.title = words;
  bar.setAttribute("aria-label", words);
  PARTS_OF.forEach((tier, i) =>
    bar.children[i].style.setProperty("--part", String(most ? tiers[tier] / most : 0)),
  );
}
