/* The map: rooms where the compass puts them, the ways between them, and who is in each. */

import { el, fill, setAttribute, svg } from "./dom.js";
import { many } from "./words.js";

const WIDE = 164;
const HIGH = 92;
const GAP = 26;
const NAMES = 3;
const LONGEST = 21;
/** Ways by the compass, in cells. */
const COMPASS = {
  north: [0, -1], south: [0, 1], east: [1, 0], west: [-1, 0],
  northeast: [1, -1], northwest: [-1, -1], southeast: [1, 1], southwest: [-1, 1],
};
/** Those that a flat map has no direction for: aslant, where there is room once all else lies. */
const ASLANT = { up: [1, -1], down: [-1, 1], in: [1, 1], out: [-1, -1] };

/** Where each room lies, in cells: by its first neighbour's exit, or the nearest free cell. */
export function layout(rooms, ways) {
  const cells = new Map();
  const taken = new Set();
  const put = (id, x, y) => {
    cells.set(id, [x, y]);
    taken.add(`${x} ${y}`);
  };
  for (const { id } of rooms) {
    if (cells.has(id)) continue;
    // What no way leads to begins below all that is there.
    put(id, 0, cells.size ? Math.max(...[...cells.values()].map(([, y]) => y)) + 1 : 0);
    const here = ways.filter(({ end }) => rooms.some((room) => room.id === end));
    for (let way; (way = next(here, cells)); ) {
      const [x, y] = cells.get(way.start);
      const [right, down] = COMPASS[way.name] ?? ASLANT[way.name] ?? [1, 0];
      put(way.end, ...free(taken, x + right, y + down));
    }
  }
  return cells;
}

/** A way from a room that lies to one that does not yet: first those of the compass. */
function next(ways, cells) {
  const open = ways.filter(({ start, end }) => cells.has(start) && !cells.has(end));
  return open.find(({ name }) => name in COMPASS) ?? open[0];
}

function free(taken, x, y) {
  for (let far = 0; ; far++) {
    for (let down = -far; down <= far; down++) {
      for (let right = -far; right <= far; right++) {
        if (Math.max(Math.abs(right), Math.abs(down)) === far && !taken.has(`${x + right} ${y + down}`)) return [x + right, y + down];
      }
    }
  }
}

/** Where an agent was in that minute of the day; null where that is not known. */
export function placeAt(agent, minute) {
  return agent.places.findLast(([from]) => from <= minute)?.[1] ?? null;
}

export class WorldMap {
  #shape = "";
  #rooms = new Map();
  #chosen = null;

  constructor(root, list) {
    Object.assign(this, { root, list });
  }

  draw(world, minute) {
    this.#lay(world);
    const live = world.day === world.last && minute >= world.minute;
    const there = new Map(world.rooms.map(({ name }) => [name, []]));
    const away = [];
    for (const agent of world.agents) {
      const place = (live && agent.place) || placeAt(agent, minute);
      (there.get(place) ?? away).push(agent);
    }
    for (const [name, node] of this.#rooms) this.#fill(node, name, there.get(name), minute);
    this.#tell(there, away, minute);
  }

  /** Rooms and ways, drawn again only where they are others. */
  #lay({ rooms, ways }) {
    const shape = JSON.stringify([rooms, ways]);
    if (shape === this.#shape) return;
    this.#shape = shape;
    const cells = layout(rooms, ways);
    const [left, top] = [0, 1].map((i) => Math.min(...[...cells.values()].map((cell) => cell[i])));
    const [right, low] = [0, 1].map((i) => Math.max(...[...cells.values()].map((cell) => cell[i])));
    const at = (id) => {
      const [x, y] = cells.get(id);
      return [(x - left) * (WIDE + GAP) + 4, (y - top) * (HIGH + GAP) + 4];
    };
    const size = [(right - left + 1) * (WIDE + GAP) - GAP + 8, (low - top + 1) * (HIGH + GAP) - GAP + 8];
    this.#rooms = new Map(rooms.map(({ id, name }) => [name, this.#room(name, at(id))]));
    fill(this.root, svg("svg", { viewBox: `0 0 ${size.join(" ")}`, width: size[0], height: size[1], role: "group", "aria-label": "Map" },
      lines(ways, at), [...this.#rooms.values()]));
    this.root.scrollLeft = (this.root.scrollWidth - this.root.clientWidth) / 2;
  }

  #room(name, [x, y]) {
    const choose = () => {
      this.#chosen = this.#chosen === name ? null : name;
      this.again?.();
    };
    return svg("g", {
      class: "room", transform: `translate(${x} ${y})`, role: "button", tabindex: "0",
      on: { click: choose, keydown: (event) => ["Enter", " "].includes(event.key) && (event.preventDefault(), choose()) },
    }, svg("title"), svg("rect", { width: WIDE, height: HIGH, rx: 6 }),
    svg("text", { x: 8, y: 18, class: "name" }, short(name)), svg("g", { class: "people" }));
  }

  #fill(node, name, agents, minute) {
    const names = agents.map((agent) => agent.name);
    node.querySelector("title").textContent = `${name}: ${names.join(", ") || "nobody"}`;
    setAttribute(node, "aria-label", `${name}: ${names.join(", ") || "nobody"}`);
    setAttribute(node, "class", `room${agents.length ? " full" : ""}${name === this.#chosen ? " chosen" : ""}`);
    const shown = agents.slice(0, agents.length > NAMES ? NAMES - 1 : NAMES);
    const rest = agents.length - shown.length;
    node.querySelector(".people").replaceChildren(...shown.map((agent, i) => svg("g", { transform: `translate(8 ${36 + i * 19})` },
      svg("circle", { class: `state ${doing(agent, minute)}`, cx: 5, cy: -4, r: 5 }), svg("text", { x: 16 }, short(agent.name)))),
    ...(rest ? [svg("text", { x: 8, y: 36 + shown.length * 19 }, `and ${rest} more`)] : []));
  }

  /** Below the map, in words and with links: a room that was chosen, or who is nowhere on it. */
  #tell(there, away, minute) {
    this.again = () => {
      for (const [name, node] of this.#rooms) node.classList.toggle("chosen", name === this.#chosen);
      const here = there.get(this.#chosen);
      fill(this.list, here ? el("p", {}, el("b", {}, this.#chosen), ": ", people(here, minute)) : null,
        away.length ? el("p", { class: "dim" }, `${many(away.length, "agent")} not known to be anywhere yet: `, people(away, minute)) : null);
    };
    this.again();
  }
}

const DOING = { z: "asleep", t: "thinking", s: "talking", w: "walking" };

/** What an agent is about: in that minute, or in the few before it. */
function doing(agent, minute) {
  const lately = agent.minutes.slice(Math.max(minute - 4, 0), minute + 1);
  return [...lately].findLast((each) => each !== ".") ?? "idle";
}

function people(agents, minute) {
  if (!agents.length) return "nobody";
  return agents.flatMap((agent, i) => [i ? ", " : "", el("a", { href: `/agents/${agent.id}/` }, agent.name),
    DOING[doing(agent, minute)] ? ` (${DOING[doing(agent, minute)]})` : ""]);
}

function lines(ways, at) {
  const drawn = new Set();
  return ways.flatMap(({ start, end, name }) => {
    const key = [start, end].sort((a, b) => a - b).join(" ");
    if (drawn.has(key)) return [];
    drawn.add(key);
    const [[x1, y1], [x2, y2]] = [at(start), at(end)];
    return [svg("line", { class: `way ${name in COMPASS ? "" : "other"}`, x1: x1 + WIDE / 2, y1: y1 + HIGH / 2, x2: x2 + WIDE / 2, y2: y2 + HIGH / 2 })];
  });
}

function short(name) {
  return name.length > LONGEST ? `${name.slice(0, LONGEST - 1)}…` : name;
}
