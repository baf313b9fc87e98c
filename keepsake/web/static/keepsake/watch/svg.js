/* Helpers for SVG elements. Texts are only ever inserted as text nodes. */

const SPACE = "http://www.w3.org/2000/svg";

/** An SVG element with attributes and children; children that are null are left out. */
export function svg(tag, attributes = {}, ...children) {
  const node = document.createElementNS(SPACE, tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined && value !== false) node.setAttribute(name, value);
  }
  node.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined));
  return node;
}

/** Words in at most two lines of about `most` characters. */
export function twoLines(words, most) {
  if (words.length <= most) return [words];
  const spaces = [...words].flatMap((letter, i) => (letter === " " ? [i] : []));
  const middle = words.length / 2;
  const at = spaces.sort((a, b) => Math.abs(a - middle) - Math.abs(b - middle))[0];
  const lines = at === undefined ? [words] : [words.slice(0, at), words.slice(at + 1)];
  return lines.map((line) => (line.length > most + 3 ? `${line.slice(0, most + 2)}…` : line));
}
