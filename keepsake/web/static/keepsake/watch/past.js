/* The past of all agents: where they were and how their memories stood, at any second. */

/** The index of the last item whose first element is at most `time`; -1 if there is none. */
export function lastBefore(items, time, at = (item) => item[0]) {
  let [low, high] = [0, items.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (at(items[middle]) <= time) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** An agent of the API's answer `past`; times are seconds since 1970. `present`: where it is now. */
export class PastAgent {
  constructor(of, places, present) {
    this.id = of.id;
    this.name = of.agent;
    this.moves = of.moves;
    this.counts = of.counts;
    this.tiers = of.tiers.map(([time, kind, compaction, first, longterm_last, recent_last]) => ({
      time,
      kind,
      compaction,
      first,
      longterm_last,
      recent_last,
    }));
    this.places = places;
    this.present = present;
  }

  /** The name of the place where it was: the first known place before it remembers any. */
  placeAt(time) {
    if (!this.moves.length) return this.present;
    return this.places[this.moves[Math.max(lastBefore(this.moves, time), 0)][1]];
  }

  /** How many memories each tier had: `{ cleared, longterm, recent, window, total }`. */
  tiersAt(time) {
    const counted = lastBefore(this.counts, time);
    const changed = lastBefore(this.tiers, time, (each) => each.time);
    const tiers =
      changed < 0 ? { first: 1, longterm_last: 0, recent_last: 0 } : this.tiers[changed];
    // Counts are samples; a compaction between two of them is later than the first.
    const total = Math.max(counted < 0 ? 0 : this.counts[counted][1], tiers.recent_last);
    return {
      cleared: tiers.first - 1,
      longterm: Math.max(tiers.longterm_last - tiers.first + 1, 0),
      recent: Math.max(tiers.recent_last - Math.max(tiers.longterm_last, tiers.first - 1), 0),
      window: Math.max(total - tiers.recent_last, 0),
      total,
    };
  }
}

/** How many memories all agents made in each of `parts` equal parts of a picture; `share(time)` is a time's place in it. */
export function density(agents, share, parts) {
  const made = new Array(parts).fill(0);
  for (const { counts } of agents) {
    for (let i = 1; i < counts.length; i++) {
      const at = Math.min(Math.floor(share(counts[i][0]) * parts), parts - 1);
      made[Math.max(at, 0)] += counts[i][1] - counts[i - 1][1];
    }
  }
  return made;
}
