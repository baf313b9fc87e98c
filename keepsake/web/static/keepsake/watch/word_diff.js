/* The difference of two texts, word by word. */

/** The most pairs of words that are compared. */
const MOST = 4e6;

/** `[["same" | "gone" | "new", text], …]`, or null if the texts are too long. The space beside a word, and the bullet
 * before it, are shown as they are after the change, and are no difference. */
export function wordDiff(before, after) {
  const [a, b] = [before, after].map((text) => text.match(/(?:• )?\S+\s*|\s+/g) ?? []);
  if (a.length * b.length > MOST) return null;
  const [bare, other] = [a, b].map((words) => words.map((word) => word.replace(/^• /, "").trim()));
  const parts = [];
  const add = (how, text) => {
    if (parts.at(-1)?.[0] === how) parts.at(-1)[1] += text;
    else parts.push([how, text]);
  };
  const common = lengths(bare, other);
  const wide = b.length + 1;
  for (let i = 0, j = 0; i < a.length || j < b.length;) {
    if (i < a.length && j < b.length && bare[i] === other[j]) {
      add("same", b[j++]);
      i++;
    } else if (
      j === b.length ||
      (i < a.length && common[(i + 1) * wide + j] >= common[i * wide + j + 1])
    )
      add("gone", a[i++]);
    else add("new", b[j++]);
  }
  return parts;
}

/** For each i and j, the length of the longest common subsequence of `a` from i and `b` from j. */
function lengths(a, b) {
  const wide = b.length + 1;
  const common = new Uint16Array((a.length + 1) * wide);
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      common[i * wide + j] =
        a[i] === b[j]
          ? common[(i + 1) * wide + j + 1] + 1
          : Math.max(common[(i + 1) * wide + j], common[i * wide + j + 1]);
    }
  }
  return common;
}
