/* The map of the world as a picture: rooms, exits, faces, and how a fact went from room to room. */

import { KEY, el, fill, setAttribute, setText } from "./dom.js";
import { hue, initials, learn } from "./faces.js";
import { lastBefore } from "./past.js";
import { svg, twoLines } from "./svg.js";

/** The sizes of a map: of a room with the gap beside it, of the room, and the letters of a line of its name. `top` and
 * `inside`: where below its centre the faces begin, under its name, and the height that they have. */
const WIDE = {
  cell: { width: 168, height: 116 },
  room: { width: 150, height: 92 },
  letters: 17,
  top: -5,
  inside: 50,
};
const FLAT = {
  cell: { width: 200, height: 92 },
  room: { width: 184, height: 76 },
  letters: 21,
  top: 0,
  inside: 34,
};
const NARROW = {
  cell: { width: 124, height: 116 },
  room: { width: 116, height: 94 },
  letters: 12,
  top: -5,
  inside: 50,
};
/** The least pixels of a column of a wide map: with less its names are too small to read. */
const LEAST = 120;
const FACE = 12;
/** The sizes of faces: the more there are in a room, the smaller they are. Smaller ones could not be told apart. */
const SIZES = [1, 0.8];
/** The width of a mark of a telling, with the gap beside it. */
const MARK = 20;
/** The most tellings of which single ones, or those of one speaker, have a mark; of more, each room has one mark. */
const MOST_TOLD = 24;
const ELSEWHERE = "elsewhere";
/** The most pixels of a unit of the picture. */
const LARGEST = 1.6;

/** The sizes that show a map of so many columns and rows largest in its holder: of a low one, flat rooms. */
function sizesOf(root, columns, rows) {
  const width = root.parentElement.clientWidth;
  // A world that is wider than a phone can still be moved under the finger, beginning where most people are.
  if (width / columns < LEAST) return NARROW;
  const height = parseFloat(getComputedStyle(root).maxHeight) || Infinity;
  const scale = ({ cell }) => Math.min(width / columns / cell.width, height / rows / cell.height);
  return scale(FLAT) > scale(WIDE) ? FLAT : WIDE;
}

/** The size of each of `number` faces in `width` and `height`, the side of the square that it has, how many stand in a
 * row, and how many are shown: of a crowd, the last place is for a sign that counts the others. */
function crowd(number, width, height) {
  const fitting = SIZES.map((size) => {
    const side = (2 * FACE + 3) * size;
    const columns = Math.floor(width / side);
    return { size, side, columns, room: columns * Math.floor(height / side) };
  });
  const found = fitting.find(({ room }) => room >= number) ?? fitting.at(-1);
  return { ...found, shown: number > found.room ? found.room - 1 : number };
}

/** The tellings of one room in groups, a mark for each: if they have no room in a row, those of one speaker; and if these
 * are too many, the last group has all others. */
function gathered(tellings, inRow) {
  if (tellings.length <= inRow) return tellings.map((telling) => [telling]);
  const groups = new Map();
  for (const telling of tellings) {
    const key = telling.id || telling.speaker;
    groups.set(key, [...(groups.get(key) ?? []), telling]);
  }
  const found = [...groups.values()];
  return found.length <= inRow
    ? found
    : [
        ...found.slice(0, inRow - 1),
        found
          .slice(inRow - 1)
          .flat()
          .toSorted((a, b) => a.at - b.at),
      ];
}

/** A map in the SVG element `root`; `choose(id)` is called with a face's id when it is clicked. `roomAt(name)`: the
 * address that a room leads to, if there is one. */
export class WorldMap {
  #places = new Map();
  #rooms;
  #ways;
  #faces = new Map();
  #crowds = new Map();
  #marks = [];
  #draws = [];
  #drawn = new Map();

  constructor(root, rooms, choose, roomAt = null) {
    this.root = root;
    this.roomAt = roomAt;
    this.choose = choose;
    const shown = rooms.length ? rooms : [{ id: 0, name: ELSEWHERE, x: 0, y: 0, exits: [] }];
    const columns = Math.max(...shown.map(({ x }) => x)) + 1;
    const rows = Math.max(...shown.map(({ y }) => y)) + 1;
    const sizes = sizesOf(root, columns, rows);
    root.classList.toggle("narrow", sizes === NARROW);
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
    this.#rooms = svg(
      "g",
      { class: "rooms" },
      shown.map((room) => this.#room(room, centre(room))),
    );
    this.outer = svg(
      "text",
      { x: this.outside.x, y: this.outside.y - box.height / 2 + 6, class: "name outer" },
      ELSEWHERE,
    );
    this.way = svg("g", { class: "way" });
    this.faces = svg("g", { class: "faces" });
    this.told = svg("g", { class: "told" });
    this.others = svg("g", { class: "others" });
    this.list = el("div", { class: "crowd", popover: true });
    root.parentElement.append(this.list);
    const exits = shown.flatMap((room) =>
      room.exits
        .filter(
          ({ to }) =>
            byId.has(to) &&
            (to > room.id || !byId.get(to).exits.some((back) => back.to === room.id)),
        )
        .map(({ to }) => [centre(room), centre(byId.get(to))]),
    );
    fill(
      this.#ways,
      exits.map(([from, to]) => svg("line", { x1: from.x, y1: from.y, x2: to.x, y2: to.y })),
    );
    fill(
      root,
      svg("title", {}, "The map of the world"),
      this.#ways,
      this.#rooms,
      this.outer,
      this.way,
      this.faces,
      this.others,
      this.told,
    );
    this.#fitNames();
  }

  /** Narrow the lines of names that are longer than their room: how wide letters are is known only once they are drawn. */
  #fitNames() {
    const most = this.room.width - 6;
    for (const line of this.#rooms.querySelectorAll("tspan")) {
      if (line.getComputedTextLength() <= most) continue;
      line.setAttribute("textLength", most);
      line.setAttribute("lengthAdjust", "spacingAndGlyphs");
    }
  }

  #room({ name }, { x, y }) {
    const { width, height } = this.room;
    const lines = twoLines(name, this.letters);
    const way = this.roomAt ? { href: this.roomAt(name) } : null;
    return svg(
      way ? "a" : "g",
      { class: "room", ...way },
      svg("rect", { x: x - width / 2, y: y - height / 2, width, height, rx: 7 }),
      svg(
        "text",
        { class: "name", "text-anchor": "middle" },
        lines.map((line, i) => [
          i ? " " : null, // readers of the text do not see that a line has ended
          svg("tspan", { x, y: y - height / 2 + 18 + 16 * i }, line),
        ]),
      ),
      svg("title", {}, way ? `What happened at ${name}` : name),
    );
  }

  /** The centre of a place; of an unknown one a place outside of the map. */
  centreOf(place) {
    return this.#places.get(place) ?? this.outside;
  }

  /** Draw the faces: `{ id, name, place, ring, words }`, `ring` the class of a face's ring. */
  drawFaces(people) {
    learn(people.map(({ name }) => name));
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
    setAttribute(
      this.root,
      "viewBox",
      `0 0 ${this.size.width} ${this.size.height + (outside ? this.cell.height : 0)}`,
    );
    const crowds = new Map();
    for (const person of people) {
      const centre = this.centreOf(person.place);
      crowds.set(centre, [...(crowds.get(centre) ?? []), person]);
    }
    const first = this.#drawn.size === 0;
    for (const [centre, here] of crowds) this.#drawCrowd(centre, here);
    for (const [centre, node] of this.#crowds) if (!crowds.has(centre)) node.style.display = "none";
    if (first && people.length)
      this.#lookAt([...crowds].toSorted((a, b) => b[1].length - a[1].length)[0][0]);
  }

  /** Draw the faces in one place: those with a ring first, as many as have room, and a sign for the others. */
  #drawCrowd(centre, here) {
    const inside = this.room.width - 10;
    const { size, side, columns, shown } = crowd(here.length, inside, this.inside);
    const ringed =
      shown < here.length
        ? here.toSorted((a, b) => (a.ring === "unknowing") - (b.ring === "unknowing"))
        : here;
    const at = (nth) =>
      `translate(${centre.x - inside / 2 + side / 2 + (nth % columns) * side} ${
        centre.y + this.top + side / 2 + Math.floor(nth / columns) * side
      }) scale(${size})`;
    ringed.forEach((person, nth) => {
      const node = this.#faces.get(person.id) ?? this.#newFace(person);
      const transform = nth < shown ? at(nth) : "";
      const now = `${transform} ${person.ring} ${person.words}`;
      if (this.#drawn.get(person.id) === now) return; // most stand still while a scrubber moves
      this.#drawn.set(person.id, now);
      node.style.display = transform ? "inline" : "none";
      node.setAttribute("class", `face ${person.ring}`);
      node.lastElementChild.textContent = `${person.name}: ${person.words}`;
      if (transform) node.setAttribute("transform", transform);
    });
    const sign = this.#crowds.get(centre) ?? (shown < here.length ? this.#newSign(centre) : null);
    if (!sign) return;
    sign.style.display = shown < here.length ? "inline" : "none";
    if (shown === here.length) return;
    sign.setAttribute("transform", at(shown));
    setText(sign.children[1], `+${here.length - shown}`);
    setText(
      sign.lastElementChild,
      `${here.length - shown} others in ${here[0].place}: open the list of all ${here.length}`,
    );
    sign.people = ringed;
  }

  /** The sign in a crowded room: it opens a list of all who are there. */
  #newSign(centre) {
    const node = svg(
      "g",
      { class: "face others", tabindex: "0", role: "button", "aria-haspopup": "dialog" },
      svg("circle", { r: FACE }),
      svg("text", { "text-anchor": "middle", y: 4 }),
      svg("title", {}),
    );
    const open = () => {
      fill(
        this.list,
        el("b", { dir: "auto" }, node.people[0].place),
        el(
          "ul",
          {},
          node.people.map(({ id, name, words, ring }) =>
            el(
              "li",
              {},
              el(
                "button",
                { type: "button", class: `plain ${ring}`, on: { click: () => this.#chosen(id) } },
                el("bdi", {}, name),
                el("small", {}, ` ${words}`),
              ),
            ),
          ),
        ),
      );
      this.list.showPopover();
      this.list.querySelector("button").focus();
    };
    node.addEventListener("click", open);
    node.addEventListener("keydown", (event) => {
      if (event.key !== KEY.enter) return;
      event.preventDefault(); // else the key also presses the button that gets the focus
      open();
    });
    this.#crowds.set(centre, node);
    this.others.append(node);
    return node;
  }

  #chosen(id) {
    this.list.hidePopover();
    this.choose(id);
  }

  /** Move a map that is wider than its holder so that a place is in the middle. */
  #lookAt({ x }) {
    const holder = this.root.parentElement;
    holder.scrollLeft = (x / this.size.width) * holder.scrollWidth - holder.clientWidth / 2;
  }

  #newFace({ id, name }) {
    const node = svg(
      "g",
      { tabindex: "0", role: "button" },
      svg("circle", { r: FACE }),
      svg("text", { "text-anchor": "middle", y: 4, "aria-hidden": "true" }, initials(name)),
      svg("title", {}),
    );
    node.style.setProperty("--hue", hue(name));
    node.addEventListener("click", () => this.choose(id));
    node.addEventListener("keydown", (event) => event.key === KEY.enter && this.choose(id));
    this.#faces.set(id, node);
    this.faces.append(node);
    return node;
  }

  /** Draw the tellings, each a numbered mark in its room, and the ways between them; hidden until their time. */
  drawTellings(tellings, choose) {
    const inPlace = new Map();
    for (const telling of tellings) {
      const centre = this.centreOf(telling.place);
      inPlace.set(centre, [...(inPlace.get(centre) ?? []), telling]);
    }
    const inRow = Math.floor((this.room.width - 20) / MARK);
    const at = new Map();
    const groups = (here) => (tellings.length > MOST_TOLD ? [here] : gathered(here, inRow));
    this.#marks = [...inPlace].flatMap(([centre, here]) =>
      groups(here).map((group, nth, all) => {
        const place = {
          x: centre.x + this.room.width / 2 - (all.length - nth - 0.5) * MARK,
          y: centre.y + this.room.height / 2 + 1, // on the lower border: the name is at the upper one
        };
        for (const { number } of group) at.set(number, place);
        return this.#mark(group, place, choose);
      }),
    );
    fill(
      this.told,
      this.#marks.map(({ node }) => node),
    );
    this.#draws = this.#waysBetween(tellings, at);
    fill(
      this.way,
      this.#draws.map(({ node }) => node),
    );
  }

  /** A mark for tellings: the number of the first, and how many there are by now. */
  #mark(group, { x, y }, choose) {
    const [{ kind, number, title }] = group;
    const node = svg(
      "g",
      { class: `mark ${kind}`, transform: `translate(${x} ${y})`, tabindex: "0", role: "button" },
      svg("circle", { r: 9 }),
      svg("text", { "text-anchor": "middle", y: 4 }, String(number)),
      svg("text", { class: "times", "text-anchor": "middle", y: 17 }),
      svg("title", {}, title),
    );
    node.addEventListener("click", () => choose(number));
    node.addEventListener("keydown", (event) => event.key === KEY.enter && choose(number));
    return { group, node, titles: title };
  }

  /** The ways between the marks of tellings: one for all tellings that go the same way. */
  #waysBetween(tellings, at) {
    const drawn = new Map();
    for (const { from, number, kind, at: time } of tellings) {
      const [begin, end] = [at.get(from), at.get(number)];
      if (!begin || begin === end) continue;
      const bend = {
        x: (begin.x + end.x) / 2 + (end.y - begin.y) * 0.15,
        y: (begin.y + end.y) / 2 - (end.x - begin.x) * 0.15 - 14,
      };
      const d = `M${begin.x} ${begin.y} Q${bend.x} ${bend.y} ${end.x} ${end.y}`;
      if (!drawn.has(d)) drawn.set(d, { at: time, node: svg("path", { class: kind, d }) });
    }
    return [...drawn.values()];
  }

  /** Show the tellings until a time, and which one is chosen. */
  showTellings(time, chosen) {
    const show = (node, shown) => {
      const display = shown ? "inline" : "none";
      if (node.style.display !== display) node.style.display = display;
    };
    for (const { at, node } of this.#draws) show(node, at <= time);
    for (const { group, node, titles } of this.#marks) {
      const told = lastBefore(group, time, (each) => each.at) + 1;
      show(node, told > 0);
      setText(node.querySelector(".times"), told > 1 ? `×${told}` : "");
      setText(node.lastElementChild, told > 1 ? `${titles} And ${told - 1} more` : titles);
      node.classList.toggle(
        "chosen",
        group.some(({ number }) => number === chosen),
      );
    }
  }
}
