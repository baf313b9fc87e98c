/* The first sentence of "Where did it go?", as it is now and was before, and who has not heard of it. */

import { byId, count, el, fill, many, tick } from "./dom.js";
import { began, isUntold, page, searched, spellAt, typed } from "./fact_state.js";
import { Hold, Standing, Way } from "./kinds.js";
import { WHISPERED } from "./privacy.js";
import { inWords } from "./sentences.js";

/** How somebody came to know it first: from Anneke, aloud. */
export function fromWhom(knower) {
  const { agent, way, source } = knower;
  if (knower.first?.telling?.asks) return source ? `heard ${source} ask` : "only asked";
  if (way === Way.SAID)
    return began(knower)
      ? "said it first"
      : isUntold(knower)
        ? `said it, and nobody told ${agent} in these words`
        : "said it, from whom is not known";
  if (way === Way.DID) return "did it";
  if (way === Way.GOT) return source ? `got it from ${source}` : "got it";
  if (way === Way.SAW || !source) return "saw it";
  if (way === Way.OVERHEARD) return `overheard ${source}`;
  const hidden = knower.first?.telling?.private;
  return `from ${source}, ${hidden || (way === Way.WHISPERED ? WHISPERED : "aloud")}`;
}

/** The answer as it was at a time, in seconds; `now`: whether that is the present time. Who told whom stands below it. */
export function answer(until, now) {
  const { fact, agents } = page;
  if (now) return fact.who.answer;
  const had = fact.knowers.filter((each) => spellAt(each, until));
  const sure = had.filter((each) => !each.doubtful);
  // Who told it, or did it, did not hear of it.
  const heard = ({ way, time }) =>
    ![Way.SAID, Way.DID].includes(way) && Date.parse(time) / 1000 <= until;
  const players = fact.outsiders.filter(heard);
  const when = `By ${tick(new Date(until * 1000).toISOString(), true)}, `;
  const number = `${sure.length ? count(sure.length) : "none"} of ${sure.length ? "" : "the "}${count(agents.length)}`;
  const of = agents.length === 1 ? "agent" : "agents";
  const others = players.length ? ` and ${many(players.length, "player")}` : "";
  const what = typed() ? `knew of “${fact.words}”` : "knew it";
  const rest = had.filter((each) => each.doubtful).map(({ agent }) => agent);
  const doubt = rest.length ? ` Perhaps ${inWords(rest)} too.` : "";
  return `${when}${number} ${of}${others} ${what}.${doubt}`;
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

/** Words that were typed were looked for as such, and in no others. Who heard a near line perhaps knows it from there. */
function unknowing(others) {
  const named = (some) => inWords(some.map(({ name }) => name));
  if (!typed()) return `It has not reached ${named(others)}, as far as the archives say.`;
  const near = new Set(page.near.flatMap(({ knowers }) => knowers.map(({ id }) => id)));
  const perhaps = others.filter(({ id }) => near.has(id));
  const rest = others.filter(({ id }) => !near.has(id));
  return [
    perhaps.length
      ? `${named(perhaps)} heard lines near in meaning, which do not count unless you choose them. `
      : "",
    rest.length ? `Not found with ${named(rest)}, who may have it in other words. ` : "",
    search(),
  ];
}

function search() {
  return [el("a", { href: searched() }, "Search for memories near in meaning"), "."];
}

/** How often it was told until a time, and how many had it only by recall; `now`: whether that is the present time. */
export function account(until, now) {
  const { fact } = page;
  const told = fact.tellings.filter(({ at }) => at <= until).length;
  const isLost = (each) =>
    now ? each.hold === Hold.RECALL : spellAt(each, until)?.standing === Standing.LOST;
  return { told, lost: fact.knowers.filter(isLost).length };
}
