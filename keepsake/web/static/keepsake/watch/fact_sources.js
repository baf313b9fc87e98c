/* Who told whom: a short line for each telling by which somebody came to know a fact, faces before words. */

import { byId, count, el, fill, sameDay, tick } from "./dom.js";
import { face } from "./faces.js";
import { doubtful, grouped, page, spellAt } from "./fact_state.js";
import { Way } from "./kinds.js";

/** The most lines, and the most faces of one. */
const MOST = 10;
const FACES = 8;

/** All who came to know it until a time, agents and players, each with from whom and by which telling. */
function known(until) {
  const { knowers, outsiders } = page.fact;
  const agents = knowers
    .filter((each) => spellAt(each, until))
    .map((each) => ({
      id: each.id,
      name: each.agent,
      way: each.way,
      source: each.source,
      time: each.first.time,
      happening: each.first.telling?.happening ?? `${each.id}`,
      private: each.first.telling?.private ?? false,
      doubtful: doubtful(each),
    }));
  const others = outsiders
    .filter(({ time }) => Date.parse(time) / 1000 <= until)
    .map((each) => ({ ...each, doubtful: false }));
  return [...agents, ...others];
}

/** Who perhaps knows it, by lines that perhaps tell it, each once. */
export function perhaps() {
  const there = new Set(page.fact.knowers.map(({ id }) => id));
  const found = [];
  for (const strand of page.fact.strands.filter((each) => each.perhaps && !each.refused))
    for (const each of strand.knowers.filter(({ id }) => !there.has(id))) {
      there.add(each.id);
      found.push({
        ...each,
        name: each.agent,
        time: strand.time,
        happening: `${strand.id} ${strand.n}`,
        private: strand.private,
        doubtful: true,
      });
    }
  return found;
}

/** Draw who told whom until a time; `now`: whether that is the present. */
export function drawSources(until, now) {
  const all = [...known(until), ...(now ? perhaps() : [])];
  const places = new Map(page.agents.map(({ name, id }) => [name, id]));
  const groups = [...grouped(all, key).values()]
    .filter((group) => !isSource(group, all))
    .toSorted(
      (a, b) => a[0].doubtful - b[0].doubtful || Date.parse(a[0].time) - Date.parse(b[0].time),
    );
  const drawn = JSON.stringify([groups, now]);
  const list = byId("sources");
  if (list.dataset.drawn === drawn) return;
  list.dataset.drawn = drawn;
  const hours = all.length > 0 && all.every(({ time }) => sameDay(time, all[0].time));
  const lines = groups.map((group) => line(group, places, hours));
  fill(
    list,
    lines.slice(0, MOST),
    lines.length > MOST
      ? el(
          "li",
          {},
          el(
            "details",
            {},
            el("summary", {}, `${count(lines.length - MOST)} more`),
            el("ol", { class: "sources" }, lines.slice(MOST)),
          ),
        )
      : null,
  );
}

/** Whether those of a line said it, and stand in another line as those who told it then. */
function isSource([{ way, name, happening }, ...more], all) {
  const told = (each) => each.source === name && each.happening === happening;
  return way === Way.SAID && !more.length && all.some(told);
}

/** What puts those in one line who know it from one telling. */
function key({ name, happening, way, source, doubtful: unsure }) {
  return `${unsure} ${way === Way.SAID ? `${name} said` : source} ${happening}`;
}

function line(group, places, hours) {
  const [{ way, source, time, private: hidden, doubtful: unsure }] = group;
  const shown = group.slice(0, FACES);
  const who = [
    shown.map((each) => face(each)),
    group.length > FACES ? el("span", { class: "dim" }, ` +${count(group.length - FACES)}`) : null,
  ];
  const from = source
    ? [face({ name: source, id: places.get(source) ?? null, source: true }), el("span", { class: "to" }, "→")]
    : null;
  return el(
    "li",
    { class: hidden ? "whispered" : unsure ? "doubtful" : "" },
    unsure ? el("span", { class: "dim" }, "perhaps ") : null,
    from,
    who,
    el("span", { class: "dim" }, ` ${how(group, way, hidden)}, ${tick(time, !hours)}`),
  );
}

/** How those of a line came to know it: in private, aloud, by overhearing. */
function how(group, way, hidden) {
  if (way === Way.SAID) return "said it, from whom is not known";
  if (way === Way.SAW) return "saw it";
  if (hidden || way === Way.WHISPERED) return "in private";
  return group.every((each) => each.way === Way.OVERHEARD) ? "overheard" : "aloud";
}
