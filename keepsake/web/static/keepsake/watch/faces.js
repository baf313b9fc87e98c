/* People as faces: round ones are agents, square ones players. No two names that a page knows have the same letters. */

import { el, personLink } from "./dom.js";

/** The letters of each name that the page has learnt. */
let letters = new Map();

/** Learn names before their faces are drawn: names that begin alike are told apart by a later letter. */
export function learn(names) {
  const known = new Set(letters.keys());
  const all = [...new Set([...known, ...names])].toSorted();
  if (all.length > known.size) letters = apart(all);
}

/** Two letters for a name. */
export function initials(name) {
  return letters.get(name) ?? begins(name);
}

/** A hue for a name, in degrees: the same one on all pages. */
export function hue(name) {
  let sum = 0;
  for (const letter of name) sum = (sum * 31 + letter.codePointAt(0)) % 9973;
  return String(Math.round(sum * TURN) % 360);
}

/** The golden angle: names that follow each other get distant hues. */
const TURN = 137.508;

const begins = (name) => [...name].slice(0, 2).join("");

/** The letters of all names: their first two where only one name has them, else the first and a later one. */
function apart(names) {
  const groups = Map.groupBy(names, begins);
  const taken = new Set(groups.keys());
  const found = new Map();
  for (const [two, alike] of groups) {
    for (const name of alike) {
      const [first, , ...later] = [...name];
      const other = later.map((letter) => first + letter).find((each) => !taken.has(each));
      const own = alike.length > 1 && other ? other : two;
      taken.add(own);
      found.set(name, own);
    }
  }
  return found;
}

/** The letters of a face, as an element; `tag`: a link where it leads somewhere. */
export function mark(name, style, tag = "span", attributes = { "aria-hidden": "true" }, ...more) {
  const words =
    tag === "span" ? initials(name) : el("span", { "aria-hidden": "true" }, initials(name));
  return el(tag, { class: style, vars: { "--hue": hue(name) }, ...attributes }, words, more);
}

/** A face with a name: round for an agent, square for a player. */
export function face({ id = null, key: identity = "", name }) {
  const agent = id !== null && id !== undefined;
  return el(
    "span",
    { class: agent ? "who" : "who player", title: agent ? "an agent" : "a player, no agent" },
    mark(name, "face"),
    agent
      ? el("a", { href: `/agents/${id}/`, dir: "auto" }, name)
      : personLink(name, { key: identity }),
  );
}
