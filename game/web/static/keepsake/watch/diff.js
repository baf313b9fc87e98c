/* Two texts word by word: what stayed, what went, what came (E. Myers, "An O(ND) Difference
 * Algorithm and Its Variations", 1986). */

/** Differences beyond which two texts count as two texts: more would only take memory. */
const MOST = 1500;
/** Words that have to stay in a row to count as having stayed. */
const FEWEST = 2;
const WORD = /[\p{L}\p{N}]+/gu;

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

/** Runs of the same kind put together; what went stands before what came in its place. */
function joined(steps) {
  const parts = [];
  let change = { gone: "", new: "" };
  const end = () => {
    for (const how of ["gone", "new"]) if (change[how]) parts.push([how, change[how]]);
    change = { gone: "", new: "" };
  };
  for (const run of runs(steps)) {
    const stays = run.how === "same" && (run.edge || run.text.match(WORD)?.length >= FEWEST);
    if (stays) {
      end();
      parts.push(["same", run.text]);
    } else if (run.how === "same") {
      // A lone word between two changes: as a part of both it is easier to read.
      change.gone += run.text;
      change.new += run.text;
    } else change[run.how] += run.text;
  }
  end();
  return parts;
}

function runs(steps) {
  const found = [];
  for (const [how, text] of steps) {
    const last = found.at(-1);
    if (last?.how === how) last.text += text;
    else found.push({ how, text, edge: false });
  }
  if (found.length) found[0].edge = found.at(-1).edge = true;
  return found;
}
