/* The world now: who is where and what comes next, a map with the faces of agents and players, and the rooms as a list. */

import { get } from "./api.js";
import { formatter } from "./clock.js";
import { bindKeys, byId, el, fill, many, personLink, rowKeys, sameDay, tick, time } from "./dom.js";
import { WorldMap } from "./map.js";
import { PlanState, QuestionKind } from "./kinds.js";
import { begunAndNext, planLine } from "./next_plan.js";
import { PHONE } from "./questions.js";
import { answerIn } from "./short_answer.js";

/** The plans and promises that come next which are shown before the others are folded. */
const NEXT = 6;

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

/** A room with its exits; who is there stands above. */
function row({ name, exits }, names) {
  const to = { href: happenedAt(name), title: `What happened at ${name}`, "data-opens": true };
  return el(
    "li",
    { "data-row": true, tabindex: "-1" },
    el("a", to, el("b", {}, name)),
    " ",
    el(
      "small",
      {},
      exits.length ? `exits: ${exits.map((exit) => way(exit, names)).join(", ")}` : "no exits",
    ),
  );
}

async function refresh() {
  if (document.hidden) return;
  const notice = byId("trouble-here");
  try {
    const [{ rooms, away = [], complete }, plans, promises] = await Promise.all([
      get("map"),
      get("plans"),
      get("promises"),
    ]);
    draw(rooms);
    drawWhere(rooms, away);
    drawNext(begunAndNext(plans, promises));
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

const date = formatter({ weekday: "short", day: "numeric", month: "short" });

/** The day of a time; empty for today. */
const dayOf = (iso) => (sameDay(iso, Date.now()) ? "" : date.format(new Date(iso)));

/** A row for each room with somebody in it, and one for the players who are away. */
function drawWhere(rooms, away) {
  const here = rooms.filter(({ agents, players }) => agents.length + players.length);
  const places = here
    .toSorted((a, b) => a.name.localeCompare(b.name))
    .map(({ name, agents, players }) => [
      el("dt", {}, name),
      el("dd", {}, listed([...agents.map(agentLink), ...players.map((one) => player(one))])),
    ]);
  fill(
    byId("where"),
    places,
    away.length ? [el("dt", {}, "Left the game"), el("dd", {}, left(away))] : null,
  );
}

/** What is done now and what comes next, by the hour: some rows, and the others folded. */
function drawNext(found) {
  const rows = found.map((plan, i) => {
    const row = el("li", {}, el("b", {}, whichOf(plan, found[i - 1])), planLine(plan));
    row.title = row.textContent;
    return row;
  });
  const shown = found.slice(0, NEXT);
  const rest = rows.slice(NEXT);
  const was = byId("next").querySelector("details");
  const day = rest.length ? until(found.at(-1), shown.at(-1)) : "";
  const fold = el(
    "details",
    { open: Boolean(was?.open) },
    el("summary", {}, `${many(rest.length, "more", "more")}${day}`),
    el("ol", { start: NEXT + 1 }, rest),
  );
  fill(byId("next"), rows.slice(0, NEXT), rest.length ? el("li", { class: "rest" }, fold) : null);
}

/** The word before a plan: what is begun comes before all others. */
function whichOf({ state }, before) {
  if (state === PlanState.DOING) return "Now: ";
  return !before || before.state === PlanState.DOING ? "Next: " : "Then: ";
}

/** Until which day plans reach that are folded, if that is not the day of the last one shown. */
function until(last, shown) {
  return sameDay(last.at, shown.at) ? "" : `, until ${date.format(new Date(last.at))}`;
}

/** Elements with commas between them. */
function listed(each) {
  return each.flatMap((one, i) => (i ? [", ", one] : [one]));
}

function agentLink([id, name]) {
  return el("a", { href: `/agents/${id}/`, "data-opens": true, dir: "auto" }, name);
}

/** A player, who is marked as one. */
function player(name, key = "") {
  return el("span", {}, personLink(name, { key }), el("small", {}, " player"));
}

/** The players who are not in the game, by the place and the day where and when they were met last. */
function left(away) {
  const groups = Map.groupBy(away, ({ place, last_met: met }) =>
    [place && `at ${place}`, dayOf(met)].filter(Boolean).join(", "),
  );
  return [...groups].map(([where, players]) =>
    el(
      "p",
      {},
      listed(
        players.map(({ key, name, last_met: met }) => [
          personLink(name, { key }),
          " ",
          el("small", {}, time(met, tick)),
        ]),
      ),
      el("small", {}, ` ${where}`),
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
  fill(
    byId("rooms"),
    rooms.toSorted((a, b) => a.name.localeCompare(b.name)).map((room) => row(room, names)),
  );
}

// On a phone the list of rooms is folded: the map above it has them all.
byId("exits").open = !PHONE.matches;
if (SOUGHT) answerIn(byId("sought"), null, QuestionKind.WHERE, SOUGHT);
bindKeys([...rowKeys(() => byId("rooms")), ["u", "up to all agents", () => byId("up").click()]]);
setInterval(refresh, POLL);
refresh();
