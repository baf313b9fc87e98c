/* Two texts word by word: what stayed, what went, what came. */

/** Beyond this many pairs of words two texts are shown as two texts. */
const MOST = 4e6;

/** `[["same" | "gone" | "new", text], …]`, or null when the texts are too long. */
export function wordDiff(before, after) {
  const [a, b] = [before, after].map((text) => text.match(/\S+\s*|\s+/g) ?? []);
  if (a.length * b.length > MOST) return null;
  const parts = [];
  const add = (how, text) => {
    if (parts.at(-1)?.[0] === how) parts.at(-1)[1] += text;
    else parts.push([how, text]);
  };
  const common = lengths(a, b);
  const wide = b.length + 1;
  for (let i = 0, j = 0; i < a.length || j < b.length;) {
    if (i < a.length && j < b.length && a[i] === b[j]) add("same", a[i++] && b[j++]);
    else if (j === b.length || (i < a.length && common[(i + 1) * wide + j] >= common[i * wide + j + 1])) add("gone", a[i++]);
    else add("new", b[j++]);
  }
  return parts;
}

/** How many words the rest of `a` from i on and the rest of `b` from j on have in common, in order. */
function lengths(a, b) {
  const wide = b.length + 1;
  const common = new Uint16Array((a.length + 1) * wide);
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      common[i * wide + j] = a[i] === b[j]
        ? common[(i + 1) * wide + j + 1] + 1
        : Math.max(common[(i + 1) * wide + j], common[i * wide + j + 1]);
    }
  }
  return common;
}
