/* The village now: a column for each room with its people, who thinks, and their talk; the plans due next. */

import { get } from "./api.js";
import { byTheClock } from "./clock.js";
import { Columns, isLately } from "./columns.js";
import {
  announce,
  bindKeys,
  byId,
  count,
  el,
  fill,
  many,
  personLink,
  rowKeys,
  seconds,
  throttled,
} from "./dom.js";
import { learn, mark } from "./faces.js";
import { EventKind } from "./kinds.js";
import { asPlans, byTime, dueTime, secretFlag } from "./next_plan.js";
import { Stream, StreamState } from "./stream.js";
import { Talk } from "./talk.js";

const POLL = 3000;
const SOON = 400;
/** Plans change rarely, and each answer reads the books of all agents. */
const PLANS = 15000;
const DUE = 12;
/** The most people of a room that are shown one by one. */
const CROWD = 8;
/** The pixels of the foot of the page, with the space above it and that above the line of the empty rooms. */
const FOOT = 68;

const rooms = new Map();
const columns = new Columns(byId("rooms"));
let map = { rooms: [] };
let agents = new Map();
let asking = false;
let begun = false;

/** The column of a place: made when something is first shown in it. */
function room(name) {
  const known = rooms.get(name);
  if (known) return known;
  const people = el("ul", { class: "people", "aria-label": "Who is here" });
  const list = el("ol", {
    class: "talk",
    role: "list",
    tabindex: "0",
    "aria-label": `Talk in ${name}`,
  });
  const node = el(
    "section",
    { class: "room", "aria-label": name },
    el("header", {}, el("h3", { dir: "auto" }, name), people),
    list,
  );
  const made = { name, node, people, talk: new Talk(list) };
  rooms.set(name, made);
  return made;
}

/** Where the rooms end, in pixels from the top of the screen: the line that names the empty ones stands below them. */
function bottom() {
  return innerHeight - byId("quiet").offsetHeight - FOOT;
}

// -- who is where

function draw() {
  const quiet = [];
  const shown = [];
  const here = new Map();
  for (const each of map.rooms) {
    const of = here.get(each.name) ?? { agents: [], players: [] };
    of.agents.push(...each.agents);
    of.players.push(...each.players);
    here.set(each.name, of);
  }
  for (const [name, of] of here) {
    const used = of.agents.length + of.players.length > 0;
    if (!used && !rooms.get(name)?.talk.size) {
      quiet.push(name);
      continue;
    }
    const column = room(name);
    const open = Boolean(column.people.querySelector("details")?.open);
    fill(
      column.people,
      gathering([...of.agents.map(agentHere), ...of.players.map(playerHere)], open),
    );
    shown.push(column);
  }
  for (const column of rooms.values()) if (!here.has(column.name)) shown.push(column);
  // Rooms where something happens come first: on a phone the others are far below.
  shown.sort((a, b) => busy(b, here) - busy(a, here) || a.name.localeCompare(b.name));
  fill(byId("quiet"), quiet.length ? `Nobody is in ${quiet.join(", ")}.` : "");
  columns.lay(shown, bottom());
  const lived = [...here.values()].filter((of) => of.agents.length).length;
  const thinking = [...agents.values()].filter(({ waiting }) => waiting !== null).length;
  const thoughts = thinking ? `${count(thinking)} thinking` : "nobody is thinking";
  fill(byId("summary"), `${many(agents.size, "agent")} in ${many(lived, "room")}; ${thoughts}.`);
}

/** How much happens in a room: somebody plays there, something was said lately, or long ago. */
function busy({ name, talk }, here) {
  const plays = Boolean(here.get(name)?.players.length);
  return 4 * plays + 2 * isLately({ talk }) + Boolean(talk.size);
}

function agentHere([id, name]) {
  const agent = [...agents.values()].find((each) => each.id === id);
  const state = [agent?.asleep && "asleep", agent?.paused && "paused"].filter(Boolean).join(" ");
  const thinks = agent && agent.waiting !== null;
  return el(
    "li",
    { title: state || null },
    mark(name, `face-of ${state}`),
    el("a", { href: `/agents/${id}/`, dir: "auto" }, name),
    thinks ? el("span", { class: "thinking" }, `thinking for ${seconds(agent.waiting)}`) : null,
    state ? el("span", { class: "unseen" }, state) : null,
  );
}

function playerHere(player) {
  return el("li", {}, mark(player, "face-of player"), personLink(player));
}

/** The people of a room; of a crowd the others are folded, unless the fold is `open`. */
function gathering(rows, open) {
  const more = rows.slice(CROWD);
  if (!more.length) return rows;
  const folded = el(
    "details",
    { open },
    el("summary", {}, `+${count(more.length)}`),
    el("ul", { class: "people" }, more),
  );
  return [rows.slice(0, CROWD), el("li", {}, folded)];
}

async function refresh() {
  if (asking || document.hidden) return;
  asking = true;
  try {
    const [world, overview] = await Promise.all([get("map"), get("agents")]);
    map = world;
    agents = new Map(overview.agents.map((each) => [each.name, each]));
    learn(map.rooms.flatMap(({ players }) => players).concat([...agents.keys()]));
    byId("trouble-here").hidden = true;
    if (!begun) begin(overview.agents);
    draw();
  } catch (problem) {
    byId("trouble-here").hidden = false;
    fill(byId("trouble-here"), problem.message);
  } finally {
    asking = false;
  }
}

/** Begin the talk of each room with what its agents said and did last, which may be long ago. */
function begin(rows) {
  begun = true;
  for (const { id, name, place, last_act: act, last_words: words } of rows)
    for (const last of [act, words])
      if (last && last.place === place)
        room(place).talk.add({ remembered: last, agent: name, agent_id: id, n: last.number });
}

// -- plans

async function drawPlans() {
  if (document.hidden) return;
  const found = await Promise.all([get("plans"), get("promises")]).catch(() => null);
  if (found === null) return;
  const [plans, promises] = found;
  const due = [...plans, ...asPlans(promises).map(promised)].toSorted(byTime);
  const none = el("li", { class: "dim" }, "Nobody has made a plan.");
  const rows = due.slice(0, DUE).map(planRow);
  fill(byId("due"), due.length ? rows : none);
  fill(byId("all-due"), due.length > 1 ? `All ${count(due.length)} plans` : "All plans");
  if (columns.number < 2) return;
  // Beside the rooms, those that the screen has room for.
  const past = rows.findIndex((row) => row.getBoundingClientRect().bottom > innerHeight - FOOT);
  if (past > 0) rows.slice(past).forEach((row) => row.remove());
}

/** A promise for a certain day, with its line. */
function promised(promise) {
  const { whom } = promise;
  const text = promise.dated || promise.text;
  return { ...promise, line: `${dueTime(promise)}, promised ${whom ? `${whom}: ` : ""}${text}` };
}

function planRow({ id, agent, line, begun, private: hidden }) {
  const style = [begun && "begun", hidden && "whisper"].filter(Boolean).join(" ");
  return el(
    "li",
    { class: style, "data-row": true, tabindex: "-1" },
    el("a", { href: `/agents/${id}/`, "data-opens": true, dir: "auto" }, agent),
    " ",
    secretFlag(hidden),
    " ",
    el("bdi", {}, byTheClock(line)),
  );
}

// -- what happens

const soon = throttled(refresh, SOON);

function onEvent(kind, record) {
  if (kind === EventKind.MEMORY && record.remembered?.place)
    room(record.remembered.place).talk.add(record);
  soon();
}

function onState(state, words) {
  byId("live").className = `connection ${state}`;
  fill(byId("live"), words);
  if (state === StreamState.LOST) announce("No events arrive. The page tries again.");
}

bindKeys([
  ...rowKeys(() => document.querySelector(".village")),
  ["u", "up to all agents", () => byId("up").click()],
]);
document.addEventListener("visibilitychange", refresh);
addEventListener("resize", throttled(draw, SOON));
setInterval(refresh, POLL);
setInterval(drawPlans, PLANS);
refresh();
drawPlans();
new Stream({ onEvent, onState }).start();
