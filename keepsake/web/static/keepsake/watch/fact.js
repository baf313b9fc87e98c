/* Where did it go? A fact on the map and in time: who said it, who heard it, who knows it, who lost it. */

import { get, mayAct } from "./api.js";
import { announce, bindKeys, byId, count, el, fill, many, rowKeys, setText } from "./dom.js";
import { account, answer, drawUnknowing } from "./fact_answer.js";
import { drawKnowers, standing, tellStanding } from "./fact_knowers.js";
import {
  kindOf,
  makeFolded,
  nameOf,
  page,
  seconds,
  spellAt,
  take,
  typed,
  unfold,
} from "./fact_state.js";
import { drawMeant, near } from "./fact_meant.js";
import { drawSources } from "./fact_sources.js";
import { drawTellings, line, markTelling } from "./fact_tellings.js";
import { Hold } from "./kinds.js";
import { WorldMap } from "./map.js";
import { PastAgent } from "./past.js";
import { TimeScrubber, setTierBar, tierBar } from "./scrubber.js";
import { drawStrands } from "./strands.js";

const LINK = "#memory/";
/** What an address of this page asks, in the order in which the API is asked ahead of the script. */
const ASKED = ["q", "agent", "n", "also", "without"];
let map;
let chosen = 0;
let most = 0;

/** Load the map and the past; what was typed meanwhile is followed afterwards. */
async function start() {
  try {
    const [world, past] = await Promise.all([get("map"), get("past")]);
    const present = new Map(
      world.rooms.flatMap((room) => room.agents.map(([id]) => [id, room.name])),
    );
    page.agents = past.agents.map(
      (each) => new PastAgent(each, past.places, present.get(each.id) ?? ""),
    );
    most = Math.max(...page.agents.map((each) => each.tiersAt(past.now).total), 1);
    map = new WorldMap(byId("map"), world.rooms, showAgent);
    page.scrubber = new TimeScrubber(byId("scrubber"), {
      first: past.first,
      last: past.now,
      agents: page.agents,
      moved: () => draw(),
    });
    mayAct(past.may_act);
    fill(
      byId("minds"),
      page.agents.map((each) =>
        el(
          "li",
          { id: `mind-${each.id}` },
          el("a", { href: `/agents/${each.id}/`, dir: "auto" }, each.name),
          el("span", {}, tierBar(each.tiersAt(past.now), most)),
        ),
      ),
    );
    draw();
    return true;
  } catch (problem) {
    trouble(problem);
    return false;
  }
}

async function follow() {
  const asks = Object.fromEntries(ASKED.map((name) => [name, page.parameters.get(name)]));
  const { q, agent, n } = asks;
  if (q) byId("q").value = q;
  if (!q && !agent) return explain();
  byId("begin").hidden = true;
  fill(byId("summary"), "Following …");
  // It is asked for along with the map and the past, and drawn after them.
  const asked = get("fact", asks);
  asked.catch(() => {});
  const nearby = near();
  if (!(await ready)) return null;
  try {
    take(await asked);
    byId("trouble-here").hidden = true;
  } catch (problem) {
    take();
    trouble(problem);
  }
  const { fact } = page;
  chosen = 0;
  byId("q").value = fact.words;
  drawWords(agent, n);
  page.scrubber.mark(fact.tellings.map((telling) => [seconds(telling.time), kindOf(telling)]));
  map.drawTellings(
    fact.tellings.map((telling) => ({ ...telling, kind: kindOf(telling), title: line(telling) })),
    showTelling,
  );
  drawKnowers();
  drawUnknowing();
  drawTellings(showTelling);
  drawStrands(byId("strands"));
  drawMeant(byId("meant"), nearby, goTo);
  draw();
  makeFolded(draw);
  announce(byId("answer").textContent || byId("ignorant").textContent);
  return null;
}

function explain() {
  fill(byId("summary"));
  byId("begin").hidden = false;
}

function trouble(problem) {
  fill(byId("summary"));
  byId("trouble-here").hidden = false;
  fill(byId("trouble-here"), problem.message);
}

function drawWords(agent, n) {
  const { fact } = page;
  const { memory, suggested } = fact;
  fill(
    byId("sentence"),
    memory
      ? [
          el("q", { dir: "auto" }, memory.what.words || memory.text),
          " ",
          el(
            "small",
            {},
            `memory ${count(memory.number)} of `,
            el("a", { href: `/agents/${agent}/${LINK}${n}` }, nameOf(Number(agent))),
          ),
        ]
      : "",
  );
  fill(
    byId("suggested"),
    suggested.slice(0, 12).map(({ word, count: others }) =>
      el(
        "button",
        {
          type: "button",
          "aria-pressed": String(fact.words === word),
          title: `${many(others, "other memory", "other memories")} have it`,
          on: { click: () => go(word, agent, n) },
        },
        word,
        " ",
        el("small", {}, count(others)),
      ),
    ),
  );
  byId("by-word").hidden = !suggested.length;
}

/** How often it was told until a time, and how many of those who knew it had it only by recall. */
function tally(until, now) {
  const { told, lost } = account(until, now);
  const gone = lost
    ? `; ${many(lost, "agent")} ${lost === 1 ? "has" : "have"} it only by recall`
    : "";
  const more = page.fact.complete ? "" : ". There are too many to follow all of them";
  return `${many(told, "telling")}${gone}${more}.`;
}

/** Follow other words, or another memory: what was chosen of the lines before is forgotten. */
function go(words, agent = null, n = null) {
  const given = Object.entries({ q: words, agent, n }).filter(([, value]) => value);
  goTo(`?${new URLSearchParams(given)}`);
}

function goTo(address) {
  history.pushState(null, "", address);
  page.parameters = new URLSearchParams(location.search);
  follow();
}

// -- what happens as the scrubber moves

function draw() {
  const { agents, fact, scrubber } = page;
  if (!map || !scrubber) return;
  const now = scrubber.time;
  // At its end the scrubber shows all: a telling may have come in the second in which the page was made.
  const until = now === scrubber.last ? Infinity : now;
  const knows = new Map(fact.knowers.map((knower) => [knower.id, knower]));
  map.drawFaces(
    agents.map((agent) => {
      const spell = spellAt(knows.get(agent.id), until);
      return {
        id: agent.id,
        name: agent.name,
        place: now === scrubber.last ? agent.present : agent.placeAt(now),
        ring: ring(knows.get(agent.id), spell, now === scrubber.last),
        words: spell ? standing(knows.get(agent.id), spell) : "does not know it",
      };
    }),
  );
  map.showTellings(until, chosen);
  for (const agent of agents) {
    const row = byId(`mind-${agent.id}`);
    if (!row) continue;
    setTierBar(row.lastElementChild.firstElementChild, agent.tiersAt(now), most);
    row.firstElementChild.href = `/agents/${agent.id}/#memory${now === scrubber.last ? "" : `/@${now}`}`;
  }
  for (const each of fact.knowers) {
    const row = byId(`knower-${each.id}`);
    if (row) tellStanding(row, each, spellAt(each, until));
  }
  setText(byId("answer"), answer(until, now === scrubber.last));
  drawSources(until, showTelling);
  if (page.parameters.has("q") || fact.memory)
    setText(byId("summary"), fact.tellings.length ? tally(until, now === scrubber.last) : "");
  for (const row of byId("main").querySelectorAll("[data-time]"))
    row.classList.toggle("to-come", Number(row.dataset.time) > until);
}

/** How somebody has the fact, for their face on the map. As on their card, their books count now. */
function ring(knower, spell, now) {
  if (!spell) return "unknowing";
  const held = now && knower.hold === Hold.BOOK ? Hold.BOOK : spell.standing;
  return `${held} ${knower.way}`;
}

function showAgent(id) {
  const row = byId(`knower-${id}`) ?? byId(`mind-${id}`);
  unfold(row);
  row?.focus();
  row?.scrollIntoView({ block: "nearest" });
}

function showTelling(number) {
  chosen = number;
  const { fact, scrubber } = page;
  const telling = fact.tellings.find((each) => each.number === number);
  if (scrubber.time < telling.at) scrubber.goTo(telling.at);
  markTelling(number);
  draw();
}

byId("fact").addEventListener("submit", (event) => {
  event.preventDefault();
  const words = byId("q").value.trim();
  if (words) go(words);
});
addEventListener("popstate", () => location.reload());
const ready = start();
bindKeys([
  ["/", "type words", () => byId("q").focus()],
  ["t", "move in time", () => byId("scrubber").querySelector("input").focus()],
  ...rowKeys(() => byId("main")),
  ["u", "up to all agents", () => byId("up").click()],
]);
follow();
