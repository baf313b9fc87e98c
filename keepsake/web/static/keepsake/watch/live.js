/* The village now: a column for each room with its people, who thinks, and their talk; the plans due next. */

import { get } from "./api.js";
import { byTheClock } from "./clock.js";
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
/** Milliseconds until a room where nothing more is said stands among the quiet ones. */
const LATELY = 600000;
/** The least pixels of a column, and those between two. */
const LEAST = 320;
const GAP = 13;
/** The most people of a room that are shown one by one. */
const CROWD = 8;
/** The pixels of a talk of which one line is shown, and the most of one where the page is a single column. */
const LOWEST = 56;
const PAGE = 260;
/** The pixels below the rooms: the line that names the empty ones, and the foot of the page. */
const FOOT = 76;

const rooms = new Map();
let map = { rooms: [] };
let agents = new Map();
/** What the columns show now. */
let laid = { names: "", columns: 0, rooms: [] };
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
  lay(shown);
  fill(byId("quiet"), quiet.length ? `Nobody is in ${quiet.join(", ")}.` : "");
  const lived = [...here.values()].filter((of) => of.agents.length).length;
  const thinking = [...agents.values()].filter(({ waiting }) => waiting !== null).length;
  const thoughts = thinking ? `${count(thinking)} thinking` : "nobody is thinking";
  fill(byId("summary"), `${many(agents.size, "agent")} in ${many(lived, "room")}; ${thoughts}.`);
}

/** Put rooms into columns, each into the one that is lowest so far, and give each the height that fits the screen. */
function lay(shown) {
  const root = byId("rooms");
  const wide = Math.max(Math.floor((root.clientWidth + GAP) / (LEAST + GAP)), 1);
  const number = Math.min(wide, shown.length);
  const names = shown.map(({ name }) => name).join("\n");
  const moved = names !== laid.names || number !== laid.columns;
  if (moved) {
    laid = { names, columns: number, rooms: inColumns(shown, number) };
    fill(
      root,
      laid.rooms.map((rooms) =>
        el(
          "div",
          { class: "column" },
          rooms.map(({ node }) => node),
        ),
      ),
    );
  }
  const free = innerHeight - root.getBoundingClientRect().top - scrollY - FOOT;
  for (const rooms of laid.rooms) fitColumn(rooms, number > 1 ? free : Infinity, moved);
}

/** The rooms of each column: as many in each, in rows from left to right. */
function inColumns(shown, number) {
  return Array.from({ length: number }, (_, at) => shown.filter((_, i) => i % number === at));
}

/** Share the height of a column among its rooms: one with few lines leaves its share to the others, and where nothing
 * moves a line is enough if the others need more. */
function fitColumn(rooms, free, moved) {
  const heads = rooms.map(({ node, talk }) => node.offsetHeight - talk.list.offsetHeight);
  let left = free - heads.reduce((sum, high) => sum + high, 0) - GAP * (rooms.length - 1);
  const wanted = rooms.map(({ talk }) => Math.min(talk.high, free === Infinity ? PAGE : free));
  const given = rooms.map(() => LOWEST);
  // Each round shares what is left among those that want more.
  left -= LOWEST * rooms.length;
  for (let some = rooms.map((_, i) => i); left > 1 && some.length;) {
    some = some.filter((i) => given[i] < wanted[i]);
    const lively = some.filter((i) => isLately(rooms[i]));
    const these = lively.length ? lively : some;
    const share = left / Math.max(these.length, 1);
    for (const i of these) {
      const more = Math.min(share, wanted[i] - given[i]);
      given[i] += more;
      left -= more;
    }
    if (!these.length) break;
  }
  rooms.forEach(({ talk }, i) => talk.fit(Math.floor(given[i]), moved));
}

/** Whether something was said or done in a room lately. */
function isLately({ talk }) {
  return Date.now() - talk.newest < LATELY;
}

/** How much happens in a room: somebody plays there, something was said lately, or long ago. */
function busy({ name, talk }, here) {
  const plays = Boolean(here.get(name)?.players.length);
  return 4 * plays + 2 * isLately({ talk }) + Boolean(talk.size);
}

function agentHere([id, name]) {
  const agent = [...agents.values()].find((each) => each.id === id);
  const asleep = agent?.asleep ? "asleep" : "";
  const thinks = agent && agent.waiting !== null;
  return el(
    "li",
    {},
    mark(name, `face-of ${asleep}`),
    el("a", { href: `/agents/${id}/`, dir: "auto" }, name),
    thinks ? el("span", { class: "thinking" }, `thinking for ${seconds(agent.waiting)}`) : null,
    asleep ? el("span", { class: "dim" }, "asleep") : null,
    agent?.paused ? el("span", { class: "dim" }, "paused") : null,
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
  if (laid.columns < 2) return;
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
