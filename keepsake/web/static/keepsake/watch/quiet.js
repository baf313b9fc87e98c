/* A scale of time in which stretches without anything happening are short. */

/** From how many seconds on a stretch is quiet, or from which share of all the time, whichever is longer. */
const QUIET = 900;
const QUIET_SHARE = 200;
/** The share of the picture that a quiet stretch has, and the most that all of them have. */
const NARROW = 0.03;
const MOST_NARROW = 0.4;

/** All the time from `first` to `last`, in which something happened at `times` (seconds, in order). */
export class QuietScale {
  constructor(first, last, times) {
    const least = Math.max(QUIET, (last - first) / QUIET_SHARE);
    const ends = [first, ...times.filter((time) => time > first && time < last), last];
    /** The quiet stretches: `{ from, to }`, in order. */
    this.quiet = [];
    for (let i = 1; i < ends.length; i++) {
      const [from, to] = [ends[i - 1], ends[i]];
      if (to - from > least) this.quiet.push({ from, to });
    }
    const slept = this.quiet.reduce((sum, { from, to }) => sum + to - from, 0);
    const busy = last - first - slept;
    const narrow = busy > 0 ? Math.min(this.quiet.length * NARROW, MOST_NARROW) : 1;
    const rate = busy > 0 ? (1 - narrow) / busy : 0;
    // Points of a broken line: [time, share of the picture].
    this.points = [[first, 0]];
    for (const { from, to } of this.quiet) {
      this.#go(from, rate);
      this.#go(to, busy > 0 ? narrow / this.quiet.length / (to - from) : 1 / slept);
    }
    this.#go(last, rate);
  }

  #go(time, rate) {
    const [before, share] = this.points.at(-1);
    if (time > before) this.points.push([time, share + (time - before) * rate]);
  }

  /** The place of a time, from 0 to 1. */
  share(time) {
    return this.#between(time, 0, 1);
  }

  /** The time at a place. */
  time(share) {
    return this.#between(share, 1, 0);
  }

  /** The quiet stretch in which a time is; undefined if there is none. */
  at(time) {
    return this.quiet.find(({ from, to }) => from < time && time < to);
  }

  #between(value, from, to) {
    let [low, high] = [0, this.points.length - 1];
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (this.points[middle][from] <= value) low = middle;
      else high = middle;
    }
    const [one, other] = [this.points[low], this.points[high]];
    const width = other[from] - one[from];
    const part = width ? Math.min(Math.max((value - one[from]) / width, 0), 1) : 0;
    return one[to] + part * (other[to] - one[to]);
  }
}

/** How long a stretch is, in a few letters: 40 min, 3 h, 2 d. */
export function short(seconds) {
  if (seconds < 5400) return `${Math.round(seconds / 60)} min`;
  return seconds < 129600 ? `${Math.round(seconds / 3600)} h` : `${Math.round(seconds / 86400)} d`;
}
