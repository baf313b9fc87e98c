/* Charts over time, drawn by uPlot, whose legend shows the values at the pointer; a table of the numbers. */

import { get } from "./api.js";
import { ZONE } from "./clock.js";
import { count, el, fill, percent, sameDay, seconds, tick, time } from "./dom.js";

const UPLOT = new URL("../vendor/uPlot.iife.min.js", import.meta.url).href;
let loading = null;

const NARROWEST = 240;
const HEIGHT = 200;
const PERIODS = { 1: "1 hour", 6: "6 hours", 24: "1 day", 168: "1 week" };
const RELOAD = 30000;
const NOTHING = "no data in this period";
/** The steps of an axis of counts: there is no half memory. */
const WHOLE = Array.from({ length: 27 }, (_, i) => [1, 2, 5][i % 3] * 10 ** Math.floor(i / 3));

/** The charts. A row is `[name, value of a point, class, kind]`; `say` formats a value.
 *
 * `marks` is `[name, value of a point, class]`: vertical lines at points where the value is not 0.
 */
const CHARTS = [
  {
    title: "Tokens of a thought",
    say: count,
    rows: [
      ["prompt, on average", (p) => p.prompt_tokens, "first", "line"],
      ["prompt, from the cache", cached, "second", "line"],
      ["answer, on average", (p) => p.completion_tokens, "third", "line"],
      ["budget", (p) => p.budget, "limit", "dash"],
    ],
  },
  {
    title: "Latency",
    say: seconds,
    rows: [
      ["median", (p) => p.latency, "first", "line"],
      ["95th percentile", (p) => p.latency_p95, "second", "line"],
    ],
    marks: ["without an answer", (p) => p.no_answer, "bad"],
  },
  {
    title: "Memories",
    say: count,
    fitted: true,
    rows: [["memories", (p) => p.memories, "first", "line"]],
    marks: ["compactions", (p) => p.compactions, "night"],
  },
  {
    title: "Recall rate",
    say: percent,
    top: 1,
    rows: [["searches that found something", (p) => p.recalled, "first", "dots"]],
  },
  {
    title: "Thoughts",
    say: count,
    rows: [
      ["thoughts", (p) => p.thoughts, "first", "bars"],
      ["failed", (p) => p.failed, "bad", "bars"],
    ],
  },
];

/** Tokens of the prompt that were in the server's cache; null if no prompt was built or no model answered. */
function cached({ prompt_tokens: tokens, cached: share }) {
  return tokens === null || share === null ? null : tokens * share;
}

/** The section "Charts" of an agent's page. */
export class Charts {
  constructor(root, id) {
    this.id = id;
    this.period = el(
      "select",
      { on: { change: () => this.#turn() } },
      Object.entries(PERIODS).map(([hours, words]) => el("option", { value: hours }, words)),
    );
    this.note = el(
      "p",
      { class: "dim", hidden: true },
      "The event log does not go back to the start of this period.",
    );
    this.trouble = el("p", { class: "problem", role: "alert" });
    this.view = el("div", { class: "charts" });
    fill(
      root,
      el("div", { class: "tools" }, el("label", {}, "The last ", this.period)),
      this.trouble,
      this.note,
      this.view,
    );
    setInterval(() => this.#again(), RELOAD);
  }

  async load() {
    const hours = this.period.value;
    const asked = this.begun ? this.#series(hours) : this.#begin();
    const [series] = await Promise.all([asked, uPlotLoaded()]);
    if (this.begun && hours !== this.period.value) return;
    this.begun = true;
    this.note.hidden = series.complete;
    fill(this.trouble);
    const open = [...this.view.querySelectorAll("details")].map((each) => each.open);
    fill(this.view);
    // Put all figures into the page before drawing, because widths and colours are read from it.
    CHARTS.map((chart, i) => figure(this.view, chart, series.points, open[i])).forEach((draw) =>
      draw?.(),
    );
  }

  #series(hours) {
    return get(`agents/${this.id}/series`, { hours });
  }

  /** Begin with the shortest period in which the agent thought; with the first if it did not think at all. */
  async #begin() {
    let first = null;
    for (const { value } of this.period.options) {
      const series = await this.#series(value);
      first ??= series;
      if (!series.points.some(({ thoughts }) => thoughts)) continue;
      this.period.value = value;
      return series;
    }
    return first;
  }

  /** Another period was chosen: remove the charts of the old one and load. */
  async #turn() {
    fill(this.view);
    this.note.hidden = true;
    await this.load().catch((problem) => fill(this.trouble, problem.message));
  }

  /** Reload the charts if they are visible and the pointer or the focus is not in them. */
  async #again() {
    const watched = !document.hidden && this.view.offsetParent !== null;
    if (!watched || !this.view.childElementCount || this.view.matches(":hover, :focus-within"))
      return;
    try {
      await this.load();
    } catch (problem) {
      fill(this.trouble, `These charts are not up to date: ${problem.message}`);
    }
  }
}

/** Load uPlot, once: most who open an agent's page look at no chart. */
function uPlotLoaded() {
  loading ??= new Promise((resolve, reject) => {
    const script = el("script", { src: UPLOT });
    script.addEventListener("load", resolve);
    script.addEventListener("error", () => {
      loading = null;
      reject(new Error("What draws them could not be loaded. Reload the page."));
    });
    document.head.append(script);
  });
  return loading;
}

/** Put a chart into `view`; returns a function that draws it, or null if there is nothing to draw. */
function figure(view, chart, points, open) {
  const any = points.some((p) => shows(chart, p));
  const swatches = [...chart.rows, ...(chart.marks ? [chart.marks] : [])].map(([, , tone]) =>
    el("span", { class: `swatch ${tone}` }),
  );
  const drawing = el("div", {
    class: "plot",
    role: "img",
    "aria-label": `${chart.title}; its numbers are in the table below`,
  });
  view.append(
    el(
      "figure",
      { "data-row": true, tabindex: "-1" },
      el(
        "figcaption",
        {},
        el("b", {}, chart.title),
        el(
          "span",
          { class: "unseen", "aria-hidden": "true" },
          swatches.slice(0, chart.rows.length),
        ),
        chart.marks
          ? el(
              "small",
              { class: "legend" },
              el("span", {}, swatches.at(-1), `vertical lines: ${chart.marks[0]}`),
            )
          : null,
      ),
      drawing,
      any ? null : el("p", { class: "dim" }, NOTHING),
      table(chart, points, open),
    ),
  );
  if (!any) return null;
  return () => {
    const colours = swatches.map((swatch) => getComputedStyle(swatch).backgroundColor);
    const width = Math.max(drawing.clientWidth, NARROWEST);
    const values = chart.rows.map(([, of, , kind]) =>
      kind === "dash" ? held(points, of) : points.map(of),
    );
    return new globalThis.uPlot(
      options(chart, points, width, colours, getComputedStyle(drawing).color),
      [points.map((p) => Date.parse(p.at) / 1000), ...values],
      drawing,
    );
  };
}

/** Values with gaps filled by the value before, as for a budget. */
function held(points, of) {
  let value = null;
  return points.map((p) => (value = of(p) ?? value));
}

function options(chart, points, width, colours, ink) {
  const { paths } = globalThis.uPlot;
  const kinds = {
    line: { points: { show: true, filter: lone } },
    dash: { dash: [6, 4] },
    dots: { paths: () => null, points: { show: true } },
    bars: { paths: paths.bars({ size: [0.7] }) },
  };
  const long = !sameDay(points[0].at, points.at(-1).at);
  const axis = { stroke: ink, grid: { stroke: ink, width: 0.3 }, ticks: { show: false } };
  return {
    width,
    height: HEIGHT,
    cursor: { y: false, drag: { x: false } },
    tzDate: (at) => globalThis.uPlot.tzDate(new Date(at * 1000), ZONE),
    scales: { y: { range: (_, least, most) => bounds(chart, least, most) } },
    axes: [
      {
        ...axis,
        size: 30,
        space: long ? 130 : 60,
        values: (_, times) => times.map((at) => tick(at * 1000, long)),
      },
      {
        ...axis,
        size: 62,
        values: (_, values) => values.map(chart.say),
        ...(chart.say === count ? { incrs: WHOLE } : {}),
      },
    ],
    series: [
      { label: "from", value: (_, at) => (at === null ? "–" : tick(at * 1000, true)) },
      ...chart.rows.map(([label, , , kind], i) => ({
        label,
        value: (_, value) => (value === null ? "–" : chart.say(value)),
        stroke: colours[i],
        width: 2,
        ...(kind === "bars" ? { fill: colours[i] } : {}),
        ...kinds[kind],
      })),
    ],
    hooks: { draw: [(plot) => chart.marks && mark(plot, chart.marks, points, colours.at(-1))] },
  };
}

/** The points without neighbours, which the line alone would not show. */
function lone(plot, series) {
  const values = plot.data[series];
  return [...values.keys()].filter(
    (at) => values[at] !== null && (values[at - 1] ?? values[at + 1] ?? null) === null,
  );
}

/** The range of the y axis: from 0, except in charts whose curve would then be flat. */
function bounds(chart, least, most) {
  if (chart.top) return [0, chart.top];
  if (!chart.fitted) return [0, Math.max(most, chart.say === count ? 1 : 1e-3) * 1.05];
  return [least ?? 0, Math.max(most, least + 1)];
}

function mark({ ctx, bbox, valToPos, data }, [, of], points, colour) {
  ctx.save();
  Object.assign(ctx, { strokeStyle: colour, lineWidth: 2 });
  ctx.setLineDash([3, 4]);
  points.forEach((p, i) => {
    if (!of(p)) return;
    const x = valToPos(data[0][i], "x", true);
    ctx.beginPath();
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bbox.top + bbox.height);
    ctx.stroke();
  });
  ctx.restore();
}

/** Whether a point has a value to show. A bar of 0 shows nothing; on a line or as a dot, 0 is a value. */
function shows(chart, point) {
  const shown = ([, of, , kind]) => (kind === "bars" ? of(point) : of(point) !== null);
  return chart.rows.some(shown) || Boolean(chart.marks?.[1](point));
}

/** The table of a chart. Its sixty rows are made when it is opened. */
function table(chart, points, open) {
  const columns = [
    ...chart.rows.map(([name, of]) => [name, of, chart.say]),
    ...(chart.marks ? [[chart.marks[0], chart.marks[1], count]] : []),
  ];
  const holder = el("div", { class: "numbers" });
  const make = () =>
    fill(
      holder,
      el(
        "table",
        {},
        el(
          "thead",
          {},
          el(
            "tr",
            {},
            el("th", {}, "from"),
            columns.map(([name]) => el("th", {}, name)),
          ),
        ),
        el(
          "tbody",
          {},
          points
            .filter((p) => shows(chart, p))
            .map((p) =>
              el(
                "tr",
                {},
                el("td", {}, time(p.at)),
                columns.map(([, of, say]) => el("td", {}, of(p) === null ? "–" : say(of(p)))),
              ),
            ),
        ),
      ),
    );
  if (open) make();
  const details = el(
    "details",
    { open, on: { toggle: () => details.open && make() } },
    el("summary", {}, "as a table"),
    holder,
  );
  return details;
}
