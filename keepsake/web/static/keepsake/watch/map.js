/* The map of the world as a picture: rooms, exits, faces, and how a fact went from room to room. */

import { fill, setAttribute } from "./dom.js";
import { svg, twoLines } from "./svg.js";

/** The sizes of a map: of a room with the gap beside it, of the room, and the letters of a line of its name. */
const WIDE = { cell: { width: 168, height: 112 }, room: { width: 146, height: 86 }, letters: 18 };
const NARROW = { cell: { width: 116, height: 112 }, room: { width: 108, height: 90 }, letters: 14 };
/** The least pixels of a column of a wide map: with less its names are too small to read. */
const LEAST = 120;
const FACE = 12;
/** The part of a room below its name, where the faces are. */
const TOP = -9;
const INSIDE = 50;
/** The sizes of faces: the more there are in a room, the smaller they are. */
const SIZES = [1, 0.8, 0.6, 0.45, 0.34, 0.26];
const ELSEWHERE = "elsewhere";
/** The most pixels of a unit of the picture. */
const LARGEST = 1.6;

/** The size of each of `number` faces in `width`, the side of the square that it has, and how many stand in a row. */
function crowd(number, width) {
  const fitting = SIZES.map((size) => {
    const side = (2 * FACE + 3) * size;
    return { size, side, columns: Math.floor(width / side), rows: Math.floor(INSIDE / side) };
  });
  return fitting.find(({ columns, rows }) => columns * rows >= number) ?? fitting.at(-1);
}

/** A map in the SVG element `root`; `choose(id)` is called with a face's id when it is clicked. */
export class WorldMap {
  #places = new Map();
  #rooms;
  #ways;
  #faces = new Map();
  #marks = [];
  #drawn = new Map();

  constructor(root, rooms, choose) {
    this.root = root;
    this.choose = choose;
    const shown = rooms.length ? rooms : [{ id: 0, name: ELSEWHERE, x: 0, y: 0, exits: [] }];
    const columns = Math.max(...shown.map(({ x }) => x)) + 1;
    const rows = Math.max(...shown.map(({ y }) => y)) + 1;
    // A world that is wider than a phone can still be moved under the finger, beginning where most people are.
    const sizes = root.parentElement.clientWidth / columns < LEAST ? NARROW : WIDE;
    const { cell, room: box } = sizes;
    Object.assign(this, sizes);
    root.style.setProperty("--columns", columns);
    this.outside = { x: cell.width / 2, y: rows * cell.height + cell.height / 2 };
    this.size = { width: columns * cell.width, height: rows * cell.height };
    root.setAttribute("viewBox", `0 0 ${this.size.width} ${this.size.height}`);
    root.style.maxWidth = `${LARGEST * this.size.width}px`; // two rooms need not fill a screen
    const centre = ({ x, y }) => ({ x: (x + 0.5) * cell.width, y: (y + 0.5) * cell.height });
    const byId = new Map(shown.map((room) => [room.id, room]));
    // Of rooms with one name, agents' memories do not say which it was: the first is taken.
    for (const room of [...shown].reverse()) this.#places.set(room.name, centre(room));
    this.#ways = svg("g", { class: "ways" });
    this.#rooms = svg("g", { class: "rooms" }, shown.map((room) => this.#room(room, centre(room))));
    this.outer = svg("text", { x: this.outside.x, y: this.outside.y - box.height / 2 + 6, class: "name outer" }, ELSEWHERE);
    this.way = svg("g", { class: "way" });
    this.faces = svg("g", { class: "faces" });
    this.told = svg("g", { class: "told" });
    const exits = shown.flatMap((room) => room.exits
      .filter(({ to }) => byId.has(to) && (to > room.id || !byId.get(to).exits.some((back) => back.to === room.id)))
      .map(({ to }) => [centre(room), centre(byId.get(to))]));
    fill(this.#ways, exits.map(([from, to]) => svg("line", { x1: from.x, y1: from.y, x2: to.x, y2: to.y })));
    fill(root, svg("title", {}, "The map of the world"), this.#ways, this.#rooms, this.outer, this.way, this.faces, this.told);
  }

  #room({ name }, { x, y }) {
    const { width, height } = this.room;
    const lines = twoLines(name, this.letters);
    return svg("g", { class: "room" },
      svg("rect", { x: x - width / 2, y: y - height / 2, width, height, rx: 7 }),
      svg("text", { class: "name", "text-anchor": "middle" }, lines.map((line, i) =>
        svg("tspan", { x, y: y - height / 2 + 16 + 14 * i }, line))),
      svg("title", {}, name));
  }

  /** The centre of a place; of an unknown one a place outside of the map. */
  centreOf(place) {
    return this.#places.get(place) ?? this.outside;
  }

  /** Draw the faces: `{ id, name, place, ring, words }`, `ring` the class of a face's ring. */
  drawFaces(people) {
    const inPlace = new Map();
    const shown = new Set(people.map(({ id }) => id));
    for (const [id, node] of this.#faces) {
      if (!shown.has(id)) {
        node.remove();
        this.#faces.delete(id);
        this.#drawn.delete(id);
      }
    }
    const outside = people.some(({ place }) => !this.#places.has(place));
    this.outer.classList.toggle("used", outside);
    setAttribute(this.root, "viewBox", `0 0 ${this.size.width} ${this.size.height + (outside ? this.cell.height : 0)}`);
    const crowds = new Map();
    for (const { place } of people) crowds.set(this.centreOf(place), (crowds.get(this.centreOf(place)) ?? 0) + 1);
    const inside = this.room.width - 10;
    const first = this.#drawn.size === 0;
    for (const person of people) {
      const centre = this.centreOf(person.place);
      const nth = inPlace.get(centre) ?? 0;
      inPlace.set(centre, nth + 1);
      const node = this.#faces.get(person.id) ?? this.#newFace(person);
      const { size, side, columns } = crowd(crowds.get(centre), inside);
      const x = centre.x - inside / 2 + side / 2 + (nth % columns) * side;
      const y = centre.y + TOP + side / 2 + Math.floor(nth / columns) * side;
      const transform = `translate(${x} ${y}) scale(${size})`;
      const now = `${transform} ${person.ring} ${person.words}`;
      if (this.#drawn.get(person.id) === now) continue; // most stand still while a scrubber moves
      this.#drawn.set(person.id, now);
      node.setAttribute("transform", transform);
      node.setAttribute("class", `face ${person.ring}`);
      node.lastElementChild.textContent = `${person.name}: ${person.words}`;
    }
    if (first && people.length) this.#lookAt([...crowds].toSorted((a, b) => b[1] - a[1])[0][0]);
  }

  /** Move a map that is wider than its holder so that a place is in the middle. */
  #lookAt({ x }) {
    const holder = this.root.parentElement;
    holder.scrollLeft = (x / this.size.width) * holder.scrollWidth - holder.clientWidth / 2;
  }

  #newFace({ id, name }) {
    const node = svg("g", { tabindex: "0", role: "button" },
      svg("circle", { r: FACE }), svg("text", { "text-anchor": "middle", y: 4, "aria-hidden": "true" }, [...name].slice(0, 2).join("")), svg("title", {}));
    node.addEventListener("click", () => this.choose(id));
    node.addEventListener("keydown", (event) => event.key === "Enter" && this.choose(id));
    this.#faces.set(id, node);
    this.faces.append(node);
    return node;
  }

  /** Draw the tellings, each a numbered mark in its room, and the ways between them; hidden until their time. */
  drawTellings(tellings, choose) {
    const inPlace = new Map();
    const at = new Map();
    const inRow = Math.floor((this.room.width - 20) / 20);
    this.#marks = tellings.map((telling) => {
      const centre = this.centreOf(telling.place);
      const nth = inPlace.get(centre) ?? 0;
      inPlace.set(centre, nth + 1);
      const place = { x: centre.x + this.room.width / 2 - 10 - (nth % inRow) * 20, y: centre.y - this.room.height / 2 - 2 - Math.floor(nth / inRow) * 18 };
      at.set(telling.number, place);
      const node = svg("g", { class: `mark ${telling.kind}`, transform: `translate(${place.x} ${place.y})`, tabindex: "0", role: "button" },
        svg("circle", { r: 9 }), svg("text", { "text-anchor": "middle", y: 4 }, String(telling.number)), svg("title", {}, telling.title));
      node.addEventListener("click", () => choose(telling.number));
      node.addEventListener("keydown", (event) => event.key === "Enter" && choose(telling.number));
      return { at: telling.at, number: telling.number, node, way: null };
    });
    fill(this.told, this.#marks.map(({ node }) => node));
    fill(this.way, tellings.map((telling, i) => {
      if (!at.has(telling.from)) return null;
      const [begin, end] = [at.get(telling.from), at.get(telling.number)];
      const bend = { x: (begin.x + end.x) / 2 + (end.y - begin.y) * 0.15, y: (begin.y + end.y) / 2 - (end.x - begin.x) * 0.15 - 14 };
      this.#marks[i].way = svg("path", { class: telling.kind, d: `M${begin.x} ${begin.y} Q${bend.x} ${bend.y} ${end.x} ${end.y}` });
      return this.#marks[i].way;
    }));
  }

  /** Show the tellings until a time, and which one is chosen. */
  showTellings(time, chosen) {
    for (const { at, number, node, way } of this.#marks) {
      const shown = at <= time ? "inline" : "none";
      if (node.style.display !== shown) {
        node.style.display = shown;
        if (way) way.style.display = shown;
      }
      node.classList.toggle("chosen", number === chosen);
    }
  }
}
