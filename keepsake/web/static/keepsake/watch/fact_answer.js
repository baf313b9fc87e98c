/* The first sentence of "Where did it go?": how many know it, and who perhaps does. */

import { byId, count, el, fill, many, sameDay, tick } from "./dom.js";
import { takeIn } from "./fact_choice.js";
import {
  began,
  chosen,
  doubtful,
  grouped,
  isUntold,
  page,
  searched,
  several,
  spellAt,
  typed,
} from "./fact_state.js";
import { perhaps } from "./fact_sources.js";
import { Way } from "./kinds.js";
import { inWords } from "./sentences.js";

/** The most agents that the sentence names. */
const NAMED = 12;

/** How somebody came to know it first: from Anneke, aloud. */
export function fromWhom(knower) {
  const { agent, way, source } = knower;
  if (way === Way.SAID)
    return began(knower)
      ? "said it first"
      : isUntold(knower)
        ? `said it, and nobody is known to have told ${agent}`
        : "said it, from whom is not known";
  if (way === Way.SAW || !source) return "saw it";
  if (way === Way.OVERHEARD) return `overheard ${source}`;
  return `from ${source}, ${way === Way.WHISPERED ? "in private" : "aloud"}`;
}

/** The answer as it was at a time, in seconds; `now`: whether that is the present time. Who told whom stands below it. */
export function answer(until, now) {
  const { fact, agents } = page;
  const had = fact.knowers.filter((each) => spellAt(each, until));
  const sure = had.filter((each) => !doubtful(each));
  const players = fact.outsiders.filter(({ time }) => Date.parse(time) / 1000 <= until);
  const when = now ? "" : `By ${tick(new Date(until * 1000).toISOString(), true)}, `;
  const what = typed() ? `“${fact.words}”` : "it";
  const one = sure.length + players.length === 1;
  const verb = typed()
    ? `${now ? (one ? "has" : "have") : "had"} heard ${unsure() ? "lines that may be of" : "of"}`
    : now
      ? `know${one ? "s" : ""}`
      : "knew";
  if (!fact.tellings.length && typed())
    return now && perhaps().length
      ? `Perhaps ${names(perhaps())} ${perhaps().length === 1 ? "has" : "have"} heard of ${what}.`
      : fact.strands.length
        ? `Nobody said these words together: ${many(fact.strands.length, "line")} may mean them.`
        : "Nobody said these words.";
  if (!had.length && now && !fact.noted.length && !fact.echoes.length) return "";
  const none = when ? "none of the " : "None of the ";
  const number = `${sure.length ? `${count(sure.length)} of ` : none}${count(agents.length)}`;
  const of = agents.length === 1 ? "agent" : "agents";
  const others = players.length ? ` and ${many(players.length, "player")}` : "";
  const rest = [...had.filter(doubtful), ...(now ? [...perhaps(), ...inPart()] : [])];
  const doubt = rest.length ? ` Perhaps ${names(rest)} too.` : "";
  return `${when}${number} ${of}${others} ${verb} ${what}${day(sure)}.${doubt}`;
}

/** Whether the words alone say which lines are counted, and some may mean something else. */
function unsure() {
  const likely = page.fact.strands.filter((each) => each.likely && !each.judged);
  return several() && !chosen() && likely.some((each) => !each.written);
}

/** Agents that know only lines with a part of typed words, which nothing judged. */
function inPart() {
  const { fact, agents } = page;
  const known = new Set(fact.knowers.map(({ id }) => id));
  return agents
    .filter(({ id }) => !known.has(id) && partOf(id) && !partOf(id).judged)
    .map(({ name }) => ({ agent: name }));
}

/** What somebody heard that perhaps tells it, or has a part of the words; null if there is nothing. */
function partOf(id) {
  const heard = ({ likely, refused, judged, perhaps: may, knowers }) =>
    !likely && !refused && (may || !judged) && knowers.some((one) => one.id === id);
  return page.fact.strands.find(heard) ?? null;
}

const oneDay = (knowers) => sameDay(knowers[0].first.time, knowers.at(-1).first.time);

/** The day, if it was one and is not today. */
function day(knowers) {
  if (!knowers.length) return "";
  const { time } = knowers[0].first;
  if (!oneDay(knowers) || sameDay(time, Date.now())) return "";
  return `, on ${tick(time, true).replace(/ \S+$/, "")}`;
}

function names(knowers) {
  const named = knowers.slice(0, NAMED).map(({ agent }) => agent);
  const rest = knowers.length - named.length;
  return inWords(rest ? [...named, `${count(rest)} more`] : named);
}

/** Say who is not known to have it, and that nobody is if nobody is. */
export function drawUnknowing() {
  const { fact, agents } = page;
  const known = new Set([...fact.knowers, ...fact.echoes, ...fact.noted].map(({ id }) => id));
  const others = agents.filter(({ id }) => !known.has(id));
  if (!fact.tellings.length && typed()) {
    fill(byId("ignorant"), search());
    return;
  }
  fill(byId("ignorant"), known.size && others.length ? unknowing(others) : "");
}

/** Words that were typed were looked for as such, and in no others. */
function unknowing(others) {
  const without = others.filter(({ id }) => !typed() || !partOf(id));
  const all = inWords(without.map(({ name }) => name));
  if (!typed()) return `It has not reached ${all}, as far as the archives say.`;
  return [
    [...grouped(others.filter((each) => !without.includes(each)), ({ id }) => partOf(id))].map(inOther),
    without.length ? `Not found with ${all}, who may have it in other words. ` : "",
    search(),
  ];
}

/** A line that some heard and that perhaps tells it, or has a part of the words. */
function inOther([strand, who]) {
  const { n } = strand.knowers.find(({ id }) => id === who[0].id);
  return el(
    "span",
    { class: "part" },
    el("bdi", {}, inWords(who.map(({ name }) => name))),
    " perhaps in: ",
    el("a", { href: `/agents/${who[0].id}/#memory/${n}`, dir: "auto" }, strand.text),
    " ",
    takeIn(strand),
  );
}

function search() {
  return [el("a", { href: searched() }, "Search for memories near in meaning"), "."];
}

/** How often it was told until a time, and who had lost it. */
export function account(until) {
  const { fact } = page;
  const told = fact.tellings.filter(({ at }) => at <= until).length;
  const lost = fact.knowers.filter((each) => {
    const spell = spellAt(each, until);
    return spell?.standing === "lost" && !each.noted.length;
  });
  return { told, lost: lost.length };
}
