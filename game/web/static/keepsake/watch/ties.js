/* Who knows whom, as a graph: laid out by d3-force, drawn here. */

import { get } from "./api.js";
import { el, fill, svg } from "./dom.js";
import { many } from "./words.js";

const WIDEST = 900;
const NARROWEST = 320;
const STEPS = 300;
const EDGE = 46;
/** People from whom on only the strongest ties of each are drawn, and on a phone not all at once. */
const CROWD = 30;
const STRONGEST = 3;

export class Ties {
  #chosen = false;

  constructor(root) {
    this.root = root;
  }

  /** They may have met meanwhile; whoever was chosen stays on the screen. */
  again() {
    if (!this.#chosen) this.load();
  }

  async load() {
    try {
      this.#draw(await get("acquaintances"));
    } catch (problem) {
      fill(this.root, el("p", { class: "problem" }, problem.message, " ", el("button", { type: "button", on: { click: () => this.load() } }, "Try again")));
    }
  }

  #draw({ people, agents, ties }) {
    if (!ties.length) return fill(this.root, el("p", { class: "empty" }, "Nobody knows anybody yet."));
    const crowded = people.length > CROWD;
    const wide = crowded ? WIDEST : Math.min(Math.max(this.root.clientWidth - 18, NARROWEST), WIDEST);
    const high = Math.min(Math.max(people.length * 22, 420), 1100);
    const nodes = people.map((name) => ({ id: name }));
    const links = crowded ? strongest(both(ties), people) : both(ties);
    place(nodes, links, wide, high);
    const told = el("p", { class: "tip", "aria-live": "polite" }, `${many(people.length, "person", "people")}, ${many(ties.length, "acquaintance")}${crowded ? `, of each the ${STRONGEST} strongest` : ""}. Choose one.`);
    const drawn = links.map((link) => svg("line", {
      class: "tie", x1: link.source.x, y1: link.source.y, x2: link.target.x, y2: link.target.y, "stroke-width": 1 + Math.min(Math.log2(1 + link.weight), 5),
    }));
    const dots = nodes.map(({ id, x, y }) => svg("g", {
      class: `person ${id in agents ? "agent" : ""}`, transform: `translate(${x.toFixed(1)} ${y.toFixed(1)})`, role: "button", tabindex: "0", "aria-label": id,
      on: { click: () => choose(id), keydown: (event) => event.key === "Enter" && choose(id) },
    }, svg("circle", { r: 7 }), svg("text", { y: -11, "text-anchor": "middle" }, id)));
    const choose = (name) => {
      this.#chosen = true;
      links.forEach((link, i) => drawn[i].classList.toggle("chosen", [link.source.id, link.target.id].includes(name)));
      nodes.forEach((node, i) => dots[i].classList.toggle("chosen", node.id === name));
      fill(told, words(name, agents, ties));
    };
    return fill(this.root, el("div", { class: "map" }, svg("svg", { viewBox: `0 0 ${wide} ${high}`, width: wide, height: high, role: "group", "aria-label": "Who knows whom" }, drawn, dots)), told);
  }
}

/** One line for what two know of each other. */
function both(ties) {
  const found = new Map();
  for (const { who, whom, lines } of ties) {
    const key = [who, whom].sort().join("\n");
    const link = found.get(key) ?? { source: who, target: whom, weight: 0 };
    link.weight += lines;
    found.set(key, link);
  }
  return [...found.values()];
}

/** Of each person's ties those by which most was said. */
function strongest(links, people) {
  const sorted = links.toSorted((a, b) => b.weight - a.weight);
  return [...new Set(people.flatMap((name) => sorted.filter(({ source, target }) => [source, target].includes(name)).slice(0, STRONGEST)))];
}

function place(nodes, links, wide, high) {
  const { forceSimulation, forceLink, forceManyBody, forceX, forceY, forceCollide } = globalThis.d3;
  forceSimulation(nodes)
    .force("link", forceLink(links).id((node) => node.id).distance(110).strength(0.15))
    .force("charge", forceManyBody().strength(-320))
    .force("x", forceX(wide / 2).strength(0.06))
    .force("y", forceY(high / 2).strength(0.09))
    .force("apart", forceCollide(30))
    .stop()
    .tick(STEPS);
  for (const node of nodes) {
    node.x = Math.min(Math.max(node.x, EDGE), wide - EDGE);
    node.y = Math.min(Math.max(node.y, 24), high - 14);
  }
}

function words(name, agents, ties) {
  const knows = ties.filter(({ who }) => who === name).sort((a, b) => b.lines - a.lines);
  const known = ties.filter(({ whom }) => whom === name).map(({ who }) => who);
  const called = name in agents ? el("a", { href: `/agents/${agents[name]}/#people` }, name) : el("b", {}, name);
  return [called, knows.length ? " knows " : " is no agent; what it knows is not recorded. ",
    knows.map(({ whom, meetings, lines }, i) => `${i ? "; " : ""}${whom} (${many(meetings, "meeting")}, ${many(lines, "line")})`),
    knows.length ? ". " : "", known.length ? `Known to ${known.join(", ")}.` : ""];
}
