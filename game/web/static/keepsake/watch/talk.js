/* Who talks with whom, until a minute of the day. */

import { bar } from "./agent_state.js";
import { el, fill } from "./dom.js";
import { count, many } from "./words.js";

const MOST = 15;

/** The pairs that spoke most, with how often each spoke to the other. */
export function pairs(talks, minute) {
  const found = new Map();
  for (const [at, who, to] of talks) {
    if (at > minute) break;
    const both = [who, to].sort();
    const key = both.join("\n");
    const pair = found.get(key) ?? { both, said: { [both[0]]: 0, [both[1]]: 0 }, all: 0 };
    pair.said[who] += 1;
    pair.all += 1;
    found.set(key, pair);
  }
  return [...found.values()].sort((a, b) => b.all - a.all || (a.both[0] < b.both[0] ? -1 : 1));
}

export function drawTalk(root, world, minute, words) {
  const all = pairs(world.talks, minute);
  const most = all[0]?.all ?? 0;
  const numbers = new Map(world.agents.map(({ name, id }) => [name, id]));
  const who = (name) => (numbers.has(name) ? el("a", { href: `/agents/${numbers.get(name)}/` }, name) : name);
  fill(root, el("p", { class: "dim" }, all.length
    ? `${many(all.length, "pair")} until ${words}${all.length > MOST ? `, the ${MOST} that spoke most` : ""}`
    : `Nobody has spoken to anybody by name until ${words}.`),
  el("ul", { class: "pairs" }, all.slice(0, MOST).map(({ both: [a, b], said, all: times }) => el("li", {},
    el("span", { class: "both" }, who(a), " and ", who(b)), bar(times, most, count(times)),
    el("small", {}, `${a} ${count(said[a])}, ${b} ${count(said[b])}`)))));
}
