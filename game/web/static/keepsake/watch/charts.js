/* Charts over time, drawn here: lines and bars with a cursor, and a table for whoever wants numbers. */

import { get } from "./api.js";
import { el, fill, setText, svg } from "./dom.js";
import { count, percent, sameDay, seconds, tick, time } from "./words.js";

const WIDEST = 640;
const NARROWEST = 280;
const HEIGHT = 180;
const EDGE = { left: 58, right: 12, top: 10, bottom: 24 };
const PERIODS = { 1: "1 hour", 6: "6 hours", 24: "1 day", 168: "1 week" };
const LATER = 30000;
/** About how wide a character of a label is. */
const SIGN = 6.5;
const NOTHING = "nothing in this time";

/** Each chart: its lines or bars are `[name, of a point, class, kind]`; `say` words a value.
 *
 * `marks` are `[name, of a point, class]`: upright lines where something happened.
 */
const CHARTS = [
  { title: "Tokens of a thought", say: count, rows: [
    ["prompt, on average", (p) => p.prompt_tokens, "first", "line"],
    ["of it from the cache", cached, "second", "line"],
    ["answer, on average", (p) => p.completion_tokens, "third", "line"],
    ["budget", (p) => p.budget, "limit", "level"]] },
  { title: "Latency", say: seconds, rows: [
    ["median", (p) => p.latency, "first", "line"],
    ["19 of 20 within (of fewer, the slowest)", (p) => p.latency_p95, "second", "line"]],
  marks: ["without an answer", (p) => p.no_answer, "bad"] },
  { title: "Memories", say: count, fitted: true, rows: [
    ["memories", (p) => p.memories, "first", "line"]], marks: ["compactions", (p) => p.compactions, "night"] },
  { title: "Recall rate", say: percent, top: 1, rows: [
    ["searches that found something", (p) => p.recalled, "first", "dots"]] },
  { title: "Thoughts", say: count, rows: [
    ["thoughts", (p) => p.thoughts, "first", "bars"],
    ["came to nothing", (p) => p.failed, "bad", "bars"]] },
];

/** Tokens of the prompt that the server had already; null where no prompt was built or nobody answered. */
function cached({ prompt_tokens: tokens, cached: share }) {
  return tokens === null || share === null ? null : tokens * share;
}

/** The section "Charts" of an agent's page. */
export class Charts {
  constructor(root, id) {
    this.id = id;
    this.period = el("select", { on: { change: () => this.#turn() } },
      Object.entries(PERIODS).map(([hours, words]) => el("option", { value: hours }, words)));
    this.note = el("p", { class: "dim", hidden: true },
      "Of this time the event log was read only in part: it is too long, or was removed.");
    this.trouble = el("p", { class: "problem", role: "alert" });
    this.view = el("div", { class: "charts" });
    fill(root, el("div", { class: "tools" }, el("label", {}, "The last ", this.period)), this.trouble, this.note, this.view);
    setInterval(() => this.#again(), LATER);
  }

  async load() {
    const hours = this.period.value;
    const series = await get(`agents/${this.id}/series`, { hours });
    if (hours !== this.period.value) return;
    this.note.hidden = series.complete;
    fill(this.trouble);
    const open = [...this.view.querySelectorAll("details")].map((each) => each.open);
    // As wide as it will be shown, or letters would shrink with it on a phone.
    const width = Math.min(Math.max(this.view.clientWidth - 32, NARROWEST), WIDEST);
    fill(this.view, CHARTS.map((chart, i) => figure(chart, series, width, open[i])));
  }

  /** Another time was chosen: what is shown is of the old one, so it goes if the new one does not come. */
  async #turn() {
    this.view.classList.add("old");
    const hours = this.period.value;
    try {
      await this.load();
    } catch (problem) {
      if (hours === this.period.value) this.#failed(problem);
    } finally {
      this.view.classList.remove("old");
    }
  }

  #failed(problem) {
    fill(this.view);
    this.note.hidden = true;
    fill(this.trouble, problem.message, " ",
      el("button", { type: "button", on: { click: () => this.#turn() } }, "Try again"));
  }

  /** While it is looked at, and nobody reads a point of it. */
  async #again() {
    const watched = !document.hidden && this.view.offsetParent !== null;
    if (!watched || !this.view.childElementCount || this.view.matches(":hover, :focus-within")) return;
    try {
      await this.load();
    } catch (problem) {
      fill(this.trouble, `These charts are not up to date: ${problem.message}`);
    }
  }
}

function figure(chart, series, wide, open) {
  const { points } = series;
  const scale = scaled(chart, points, wide);
  const tip = el("p", { class: "tip", "aria-live": "polite" });
  const rest = latest(chart, points);
  setText(tip, scale.empty ? "" : rest);
  const cursor = svg("line", { class: "cursor", y1: EDGE.top, y2: HEIGHT - EDGE.bottom, visibility: "hidden" });
  const drawing = svg("svg", {
    viewBox: `0 0 ${wide} ${HEIGHT}`, role: "img", tabindex: "0",
    "aria-label": `${chart.title}: ${rest}. Arrow keys read the points.`,
  }, scale.empty ? nothing(scale) : axes(chart, points, scale), marks(chart, points, scale),
  chart.rows.map((row) => SHAPES[row[3]](row, points, scale)), cursor);
  reading(drawing, points, scale, (i) => {
    cursor.setAttribute("visibility", i === null ? "hidden" : "visible");
    if (i !== null) for (const x of ["x1", "x2"]) cursor.setAttribute(x, scale.x(i));
    setText(tip, i !== null ? said(chart, points[i]) : scale.empty ? "" : rest);
  });
  return el("figure", { "data-row": true, tabindex: "-1" },
    el("figcaption", {}, el("b", {}, chart.title), legend(chart)), drawing, tip, table(chart, series, open));
}

function scaled(chart, points, wide) {
  const values = points.flatMap((p) => chart.rows.map(([, of]) => of(p))).filter((v) => v !== null);
  const { least, top, tick: step } = chart.top ? { least: 0, top: chart.top, tick: chart.top / 2 } : range(chart, values);
  const width = wide - EDGE.left - EDGE.right;
  const height = HEIGHT - EDGE.top - EDGE.bottom;
  return {
    least, top, wide, ticks: Math.round((top - least) / step), valued: values.length > 0, empty: !points.some((p) => shows(chart, p)), step: width / Math.max(points.length, 1),
    x: (i) => EDGE.left + ((i + 0.5) / Math.max(points.length, 1)) * width,
    y: (value) => EDGE.top + (1 - (value - least) / (top - least)) * height,
  };
}

/** Round numbers below and above all values; from 0, but where that would make a line of the curve. */
function range(chart, values) {
  const whole = chart.say === count;
  const most = Math.max(...values, 0);
  const from = chart.fitted && values.length ? Math.min(...values) : 0;
  const tick = nice((most - from) / 4, whole);
  const least = Math.floor(from / tick) * tick;
  return { least, tick, top: Math.max(Math.ceil(most / tick - 1e-9) * tick, least + tick) };
}

/** A round number that is no less: 1, 2, 5 or 10 times a power of ten. */
function nice(value, whole) {
  const least = whole ? Math.max(value, 1) : Math.max(value, 1e-3);
  const power = 10 ** Math.floor(Math.log10(least));
  return [1, 2, 5, 10].find((each) => each * power >= least * (1 - 1e-9)) * power;
}

function axes(chart, points, scale) {
  const lines = Array.from({ length: scale.ticks + 1 }, (_, i) => {
    const value = scale.least + (i / scale.ticks) * (scale.top - scale.least);
    const y = scale.y(value);
    return svg("g", {}, svg("line", { class: "grid", x1: EDGE.left, x2: scale.wide - EDGE.right, y1: y, y2: y }),
      svg("text", { x: EDGE.left - 6, y: y + 4, "text-anchor": "end" }, scale.valued ? chart.say(value) : ""));
  });
  const days = points.length > 1 && !sameDay(points[0].at, points.at(-1).at);
  const label = Math.max(...points.map((p) => tick(p.at, days).length), 0) * SIGN;
  const space = scale.wide - EDGE.left - EDGE.right;
  // The first begins where the second has its middle, so between them there are one and a half.
  const steps = [4, 2].find((each) => space / each >= 1.5 * label + 12) ?? 1;
  const shares = Array.from({ length: steps + 1 }, (_, i) => i / steps);
  const ticks = points.length < 5 ? [] : shares.map((share) => {
    const i = Math.round(share * (points.length - 1));
    const anchor = { 0: "start", 1: "end" }[share] ?? "middle";
    return svg("text", { x: scale.x(i), y: HEIGHT - 6, "text-anchor": anchor }, tick(points[i].at, days));
  });
  return [...lines, ...ticks];
}

/** A chart of nothing has no axes, which would be read, but says so where the curve would be. */
function nothing({ wide }) {
  return svg("text", { class: "nothing", x: wide / 2, y: HEIGHT / 2, "text-anchor": "middle" }, NOTHING);
}

const SHAPES = { line, level, dots, bars };

function line([, of, tone], points, scale) {
  const runs = [[]];
  points.forEach((p, i) => {
    const value = of(p);
    if (value === null) runs.push([]);
    else runs.at(-1).push(`${scale.x(i).toFixed(1)},${scale.y(value).toFixed(1)}`);
  });
  return runs.filter((run) => run.length).map((run) => (run.length > 1
    ? svg("polyline", { class: `line ${tone}`, points: run.join(" ") })
    : dot(run[0].split(","), tone)));
}

/** A line that holds until it is known to have changed, as a budget does. */
function level([name, of, tone], points, scale) {
  let last = null;
  const held = points.map((p) => (last = of(p) ?? last));
  return line([name, (value) => value, tone], held, scale);
}

function dots([, of, tone], points, scale) {
  return points.flatMap((p, i) => (of(p) === null ? [] : [dot([scale.x(i), scale.y(of(p))], tone)]));
}

function dot([x, y], tone) {
  return svg("circle", { class: `dot ${tone}`, cx: x, cy: y, r: 2.6 });
}

function bars([, of, tone], points, scale) {
  const width = Math.max(scale.step * 0.7, 1);
  return points.flatMap((p, i) => (of(p) ? [svg("rect", {
    class: `column ${tone}`, x: scale.x(i) - width / 2, width, y: scale.y(of(p)), height: scale.y(0) - scale.y(of(p)),
  })] : []));
}

function marks(chart, points, scale) {
  if (!chart.marks) return [];
  const [, of, tone] = chart.marks;
  return points.flatMap((p, i) => (of(p) ? [svg("line", {
    class: `mark ${tone}`, x1: scale.x(i), x2: scale.x(i), y1: EDGE.top, y2: HEIGHT - EDGE.bottom,
  })] : []));
}

function legend(chart) {
  const rows = chart.rows.map(([name, , tone]) => el("span", {}, el("span", { class: `swatch ${tone}` }), name));
  if (chart.marks) rows.push(el("span", {}, el("span", { class: `swatch mark ${chart.marks[2]}` }), chart.marks[0]));
  return el("small", { class: "legend" }, rows);
}

/** Read points with the pointer, or with the arrow keys once the drawing has the focus. */
function reading(drawing, points, scale, show) {
  let at = null;
  const go = (i) => {
    at = i === null ? null : Math.min(Math.max(i, 0), points.length - 1);
    show(at);
  };
  drawing.addEventListener("pointermove", (event) => {
    const box = drawing.getBoundingClientRect();
    const x = ((event.clientX - box.left) / box.width) * scale.wide;
    go(Math.round((x - EDGE.left) / scale.step - 0.5));
  });
  drawing.addEventListener("pointerleave", () => go(null));
  drawing.addEventListener("blur", () => go(null));
  drawing.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!step || !points.length) return;
    event.preventDefault();
    go((at ?? points.length - (step > 0 ? 1 : 0)) + step);
  });
}

function said(chart, point) {
  const values = chart.rows.map(([name, of]) => `${name} ${of(point) === null ? "–" : chart.say(of(point))}`);
  if (chart.marks?.[1](point)) values.push(`${chart.marks[0]} ${count(chart.marks[1](point))}`);
  return `${tick(point.at, true)}: ${values.join(", ")}`;
}

function latest(chart, points) {
  const last = points.findLast((p) => shows(chart, p));
  return last ? said(chart, last) : NOTHING;
}

/** Whether a point has anything to show: a bar of nothing says nothing; as a line or a dot, 0 is a value. */
function shows(chart, point) {
  const shown = ([, of, , form]) => (form === "bars" ? of(point) : of(point) !== null);
  return chart.rows.some(shown) || Boolean(chart.marks?.[1](point));
}

/** Made when it is opened: sixty rows for each chart that nobody looks at are sixty too many. */
function table(chart, { points }, open) {
  const holder = el("div", { class: "numbers" });
  const make = () => fill(holder, el("table", {}, el("thead", {}, el("tr", {}, el("th", {}, "from"),
    chart.rows.map(([name]) => el("th", {}, name)), chart.marks ? el("th", {}, chart.marks[0]) : null)),
  el("tbody", {}, points.map((p) => el("tr", {}, el("td", {}, time(p.at)),
    chart.rows.map(([, of]) => el("td", {}, of(p) === null ? "–" : chart.say(of(p)))),
    chart.marks ? el("td", {}, count(chart.marks[1](p))) : null)))));
  if (open) make();
  const details = el("details", { open, on: { toggle: () => details.open && make() } },
    el("summary", {}, "as a table"), holder);
  return details;
}
