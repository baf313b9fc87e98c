/* Two texts word by word: what stayed, what went, what came (E. Myers, "An O(ND) Difference
 * Algorithm and Its Variations", 1986). */

/** Differences beyond which two texts count as two texts: more would only take memory. */
const MOST = 1500;

/** `[["same" | "gone" | "new", text], …]`, or null when the texts have too little in common. */
export function wordDiff(before, after) {
  const a = words(before);
  const b = words(after);
  const path = search(a, b);
  return path && joined(walkBack(path, a, b));
}

function words(text) {
  return text.match(/\s+|[\p{L}\p{N}]+|[^\s\p{L}\p{N}]/gu) ?? [];
}

/** The furthest reaching points on diagonals -d to d, for each number d of differences. */
function search(a, b) {
  const most = Math.min(a.length + b.length, MOST);
  const reached = new Int32Array(2 * most + 3);
  const path = [];
  for (let d = 0; d <= most; d++) {
    // As they were with one difference less, where d - 1 to d + 1 are looked at.
    path.push(reached.slice(most - d, most + d + 3));
    for (let k = -d; k <= d; k += 2) {
      const at = most + 1 + k;
      let x = isDown(reached, at, k, d) ? reached[at + 1] : reached[at - 1] + 1;
      while (x < a.length && x - k < b.length && a[x] === b[x - k]) x++;
      reached[at] = x;
      if (x >= a.length && x - k >= b.length) return path;
    }
  }
  return null;
}

function isDown(reached, at, k, d) {
  return k === -d || (k !== d && reached[at - 1] < reached[at + 1]);
}

function walkBack(path, a, b) {
  const steps = [];
  let x = a.length;
  let y = b.length;
  for (let d = path.length - 1; d > 0; d--) {
    const k = x - y;
    const at = d + 1 + k;
    const down = isDown(path[d], at, k, d);
    const fromX = path[d][down ? at + 1 : at - 1];
    const begins = down ? fromX : fromX + 1;
    while (x > begins) [x, y] = [same(steps, a, x), y - 1];
    steps.push(down ? ["new", b[--y]] : ["gone", a[--x]]);
  }
  while (x > 0) x = same(steps, a, x);
  return steps.reverse();
}

function same(steps, a, x) {
  steps.push(["same", a[x - 1]]);
  return x - 1;
}

function joined(steps) {
  const parts = [];
  for (const [how, text] of steps) {
    const last = parts.at(-1);
    if (last?.[0] === how) last[1] += text;
    else parts.push([how, text]);
  }
  return parts;
}
