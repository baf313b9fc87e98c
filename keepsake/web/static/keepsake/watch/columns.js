/* Rooms in columns: all of them share the first screen, and each shows the newest lines of its talk. */

import { el, fill } from "./dom.js";

/** Milliseconds until a room where nothing more is said stands among the quiet ones. */
const LATELY = 600000;
/** The least pixels of a column, and those between two. */
const LEAST = 320;
const GAP = 13;
/** The most pixels of a talk of which only the last line is shown, and of one where the page is a single column. */
const LOWEST = 96;
const PAGE = 260;
/** Milliseconds for which rooms stay where they are, also if a column is half empty: somebody reads them. */
const SETTLED = 10000;

/** The columns in the element `root`; a room is `{ name, node, talk }`. */
export class Columns {
  #rooms = [];
  #names = "";
  #at = 0;

  constructor(root) {
    this.root = root;
  }

  /** How many there are. */
  get number() {
    return this.#rooms.length;
  }

  /** Put rooms into columns, each into the one that is lowest so far. They end at `bottom`, in pixels of the screen; a
   * single column is as long as it needs. */
  lay(shown, bottom) {
    const wide = Math.max(Math.floor((this.root.clientWidth + GAP) / (LEAST + GAP)), 1);
    const number = Math.min(wide, shown.length);
    const names = shown.map(({ name }) => name).join("\n");
    const free = bottom - this.root.getBoundingClientRect().top - scrollY;
    const changed = names !== this.#names || number !== this.number;
    const moved = changed || (Date.now() - this.#at > SETTLED && hasHole(this.#rooms, free));
    if (moved) {
      this.#names = names;
      this.#at = Date.now();
      // How high a room is shows once it stands in a column.
      if (changed) this.#place([shown, ...Array(Math.max(number - 1, 0)).fill([])]);
      this.#place(inColumns(shown, number));
    }
    for (const rooms of this.#rooms) fitColumn(rooms, number > 1 ? free : Infinity, moved);
  }

  #place(rooms) {
    this.#rooms = rooms;
    const column = (each) =>
      el(
        "div",
        { class: "column" },
        each.map(({ node }) => node),
      );
    fill(this.root, rooms.map(column));
  }
}

/** The rooms of each column. */
function inColumns(shown, number) {
  const columns = Array.from({ length: number }, () => ({ rooms: [], high: 0 }));
  for (const room of shown) {
    const lowest = columns.reduce((one, other) => (other.high < one.high ? other : one));
    lowest.rooms.push(room);
    lowest.high += wish(room) + GAP;
  }
  return columns.map(({ rooms }) => rooms);
}

/** How high a room would be with all its lines, but not more than half a screen. */
function wish({ node, talk }) {
  return node.offsetHeight - talk.list.offsetHeight + Math.min(talk.high, innerHeight / 2);
}

/** Whether one column has more to show than it has room for, and another is half empty. */
function hasHole(columns, free) {
  const wishes = columns.map((rooms) => rooms.reduce((sum, room) => sum + wish(room) + GAP, 0));
  return Math.max(...wishes) > free && Math.min(...wishes) < free / 2;
}

/** Share the height of a column among its rooms: one with few lines leaves its share to the others, and where nothing
 * moves a line is enough if the others need more. */
function fitColumn(rooms, free, moved) {
  const heads = rooms.map(({ node, talk }) => node.offsetHeight - talk.list.offsetHeight);
  let left = free - heads.reduce((sum, high) => sum + high, 0) - GAP * (rooms.length - 1);
  const wanted = rooms.map(({ talk }) => Math.min(talk.high, free === Infinity ? PAGE : free));
  const given = rooms.map(({ talk }) => Math.min(talk.newestHigh, LOWEST));
  left -= given.reduce((sum, high) => sum + high, 0);
  // Each round shares what is left among those that want more.
  while (left >= 1) {
    const some = rooms.map((_, i) => i).filter((i) => given[i] < wanted[i]);
    const lively = some.filter((i) => isLately(rooms[i]));
    const these = lively.length ? lively : some;
    if (!these.length) break;
    const share = left / these.length;
    for (const i of these) {
      const more = Math.min(share, wanted[i] - given[i]);
      given[i] += more;
      left -= more;
    }
  }
  rooms.forEach(({ talk }, i) => talk.fit(Math.floor(given[i]), moved));
}

/** Whether something was said or done in a room lately. */
export function isLately({ talk }) {
  return Date.now() - talk.newest < LATELY;
}
