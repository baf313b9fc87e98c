/* What the page "Where did it go?" shows now, and what its parts ask of it. */

import { sameDay, tick } from "./dom.js";
import { Manner, Way } from "./kinds.js";
import { lastBefore } from "./past.js";

const NONE = {
  words: "",
  memory: null,
  suggested: [],
  complete: true,
  tellings: [],
  knowers: [],
  outsiders: [],
  noted: [],
  echoes: [],
  strands: [],
  who: { answer: "", knowing: [], sources: [], news: [] },
  reader: false,
};

/** The fact that is followed, the lines near in meaning that do not count, all agents, what the address asks, and the scrubber once there is one. */
export const page = {
  fact: NONE,
  near: [],
  agents: [],
  scrubber: null,
  parameters: new URLSearchParams(location.search),
};

export const seconds = (iso) => Date.parse(iso) / 1000;

/** Take an answer of the API, or nothing; each telling gets its number, each knower how it came to know it first. */
export function take(answer = {}) {
  const fact = { ...NONE, ...answer };
  page.fact = fact;
  page.near = []; // they come later
  const numbered = new Map(fact.tellings.map((telling, i) => [telling.happening, i + 1]));
  for (const telling of fact.tellings) {
    telling.number = numbered.get(telling.happening);
    telling.at = seconds(telling.time);
    telling.from = numbered.get(telling.came_from) ?? 0;
    // What it came from is earlier in the list; of a clock that was set back, nothing is known.
    telling.step =
      telling.from && telling.from < telling.number ? fact.tellings[telling.from - 1].step + 1 : 0;
  }
  for (const [i, each] of fact.knowers.entries()) {
    // The answer of the server says how somebody came to know it first, and what they have of it now.
    const { n, time, happening, ...known } = fact.who.knowing[i];
    Object.assign(each, known);
    each.first = { n, time, telling: fact.tellings[numbered.get(happening) - 1] ?? null };
    each.strand = strandOf(each.id, n, each.first.telling);
    each.noted = fact.noted.filter(({ id }) => id === each.id);
    each.since = each.spells.map(({ time: at }) => seconds(at));
  }
}

/** Whether words were typed, so that what each heard may be a sentence of its own. */
export const typed = () => Boolean(page.fact.words);

/** Whether typed words are of several facts: those that are likely are followed together. */
export const several = () => page.fact.strands.filter((each) => each.likely).length > 1;

/** Whether somebody said which of the lines mean the typed words. */
export const chosen = () => ["also", "without"].some((name) => page.parameters.has(name));

export const nameOf = (id) => page.agents.find((each) => each.id === id)?.name ?? `agent ${id}`;

/** Who said a telling. */
export function who({ id, speaker }) {
  return id ? nameOf(id) : speaker || "the world";
}

export function kindOf({ private: hidden, manner }) {
  return hidden || manner === Manner.WHISPER ? "whispered" : manner ? "said" : "seen";
}

/** The telling that an agent remembers as a memory; null for none. */
export function tellingOf(id, number) {
  const told = ({ hearings }) => hearings.some((each) => each.id === id && each.n === number);
  return page.fact.tellings.find(told) ?? null;
}

/** The strand of typed words in which a line stands. */
export function strandOf(id, number, telling) {
  const has = ({ happenings = [], knowers }) =>
    happenings.includes(telling?.happening) ||
    knowers.some((each) => each.id === id && each.n === number);
  return page.fact.strands.find(has) ?? null;
}

/** How somebody has the fact at a time, in seconds; null before they knew it. */
export function spellAt(knower, now) {
  return knower?.spells[lastBefore(knower.since, now, (at) => at)] ?? null;
}

/**
 * Whether an agent said a name that nobody is known to have told it. Other words it may have by itself.
 */
export function isUntold({ id, way, heard }) {
  if (way !== Way.SAID || began({ id, way })) return false;
  const names = page.fact.words.match(/[\p{L}]{2,}/gu) ?? [];
  return names.some((word) =>
    heard.includes(`${word[0].toUpperCase()}${word.slice(1).toLowerCase()}`),
  );
}

/** Whether it began with this agent, as far as the archives say. */
export function began({ id, way }) {
  return way === Way.SAID && page.fact.tellings[0]?.id === id;
}

/** The hour of a time; with the day if the fact was told on several days. */
export function hour(iso) {
  const { tellings } = page.fact;
  return tick(iso, !tellings.length || !sameDay(tellings[0].time, tellings.at(-1).time));
}

export function grouped(items, key) {
  const found = new Map();
  for (const each of items) found.set(key(each), [...(found.get(key(each)) ?? []), each]);
  return found;
}

/** The page that searches for the words by meaning. */
export const searched = () => `/agents/search/?${new URLSearchParams({ q: page.fact.words })}`;

// -- lists that are folded away, whose rows are made once the rest of the page is shown

let folded = [];

export function later(list, rows) {
  folded.push(() => list.append(...rows()));
  return list;
}

/** Make what is folded away: of a fact that fifty agents know it is most of the page. */
export function makeFolded(then) {
  const lists = folded;
  folded = [];
  if (!lists.length) return;
  setTimeout(() => {
    for (const make of lists) make();
    then();
  });
}

/** Open what a row is folded into. */
export function unfold(row) {
  for (
    let fold = row?.parentElement.closest("details");
    fold;
    fold = fold.parentElement.closest("details")
  )
    fold.open = true;
}
