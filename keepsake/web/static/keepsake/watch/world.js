/* The world now: who is where and what comes next, a map with the faces of agents and players, and the rooms as a list. */

import { get } from "./api.js";
import { bindKeys, byId, el, fill, personLink, rowKeys, sameDay, tick, time } from "./dom.js";
import { face } from "./faces.js";
import { WorldMap } from "./map.js";
import { QuestionKind } from "./kinds.js";
import { nextPlan, planLine } from "./next_plan.js";
import { answerIn } from "./short_answer.js";

const POLL = 5000;
let map;
let drawn = "";
/** The name of who is looked for; empty for nobody. */
const SOUGHT = new URLSearchParams(location.search).get("who") ?? "";

/** The address of what agents remember of a place, the newest first. */
function happenedAt(name) {
  return `/agents/search/?by=words&place=${encodeURIComponent(name)}`;
}

/** An exit and the room behind it: `east to Pump Square`; an exit that is called like its room is not said twice. */
function way({ name, to }, names) {
  const there = names.get(to);
  return there && there !== name ? `${name} to ${there}` : name;
}

function row({ name, exits, agents, players }, names) {
  const here = [
    ...agents.map(([id, agent]) => el("a", { href: `/agents/${id}/`, "data-opens": true }, agent)),
    ...players.map((player) => personLink(player)),
  ];
  return el(
    "li",
    { "data-row": true, tabindex: "-1" },
    el("a", { href: happenedAt(name), title: `What happened at ${name}` }, el("b", {}, name)),
    " ",
    el(
      "small",
      {},
      exits.length ? `exits: ${exits.map((exit) => way(exit, names)).join(", ")}` : "no exits",
    ),
    here.length
      ? el(
          "p",
          { class: "what" },
          here.flatMap((each, i) => (i ? [", ", each] : [each])),
        )
      : null,
  );
}

async function refresh() {
  if (document.hidden) return;
  const notice = byId("trouble-here");
  try {
    const [{ rooms, away = [], complete }, plans] = await Promise.all([get("map"), get("plans")]);
    draw(rooms);
    drawWhere(rooms, away);
    const next = nextPlan(plans);
    fill(byId("next"), next ? [el("b", {}, "Next by plan: "), planLine(next)] : "");
    fill(
      byId("summary"),
      complete ? "" : "The world is larger: these rooms are nearest to the agents.",
    );
    notice.hidden = true;
  } catch (problem) {
    notice.hidden = false;
    fill(notice, problem.message);
  }
}

/** The hour of a time, with the day if it is not today. */
const when = (iso) => tick(iso, !sameDay(iso, Date.now()));

/** Who is in which room, in one short line each, and which players are away. */
function drawWhere(rooms, away) {
  const here = rooms.filter(({ agents, players }) => agents.length + players.length);
  fill(
    byId("where"),
    here.map(({ name, agents, players }) =>
      el(
        "li",
        {},
        agents.map(([id, agent]) => face({ id, name: agent })),
        players.map((player) => face({ name: player })),
        el("span", { class: "dim" }, name),
      ),
    ),
    away.map(({ key, name, place, last_met: met }) =>
      el(
        "li",
        { class: "away" },
        face({ key, name }),
        el("span", { class: "dim" }, place ? `left the game at ${place}, last met ` : "away, last met ", time(met, when)),
      ),
    ),
  );
}

function draw(rooms) {
  const layout = JSON.stringify(rooms.map(({ id, name, x, y, exits }) => [id, name, x, y, exits]));
  if (layout !== drawn) {
    drawn = layout;
    map = new WorldMap(
      byId("map"),
      rooms,
      (id) => typeof id === "number" && location.assign(`/agents/${id}/`),
      happenedAt,
    );
  }
  map.drawFaces(
    rooms.flatMap(({ name: place, agents, players }) => [
      ...agents.map(([id, name]) => ({ id, name, place, ring: "agent", words: `in ${place}` })),
      ...players.map((name) => ({
        id: `player ${name}`,
        name,
        place,
        ring: "player",
        words: `a player, in ${place}`,
      })),
    ]),
  );
  if (byId("rooms").contains(document.activeElement)) return;
  const names = new Map(rooms.map(({ id, name }) => [id, name]));
  const used = ({ agents, players }) => agents.length + players.length;
  fill(
    byId("rooms"),
    [...rooms]
      .sort((a, b) => used(b) - used(a) || a.name.localeCompare(b.name))
      .map((room) => row(room, names)),
  );
}

if (SOUGHT) answerIn(byId("sought"), null, QuestionKind.WHERE, SOUGHT);
bindKeys([...rowKeys(() => byId("rooms")), ["u", "up to all agents", () => byId("up").click()]]);
setInterval(refresh, POLL);
refresh();
