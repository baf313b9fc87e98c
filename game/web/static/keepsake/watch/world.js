/* The page of the world: one day of all agents, and a slider that goes through it. */

import { get } from "./api.js";
import { announce, byId, fill, setAttribute, setText } from "./dom.js";
import { exportButtons } from "./export.js";
import { bindKeys } from "./keys.js";
import { Stream } from "./stream.js";
import { Ties } from "./ties.js";
import { drawTalk } from "./talk.js";
import { Timeline } from "./timeline.js";
import { WorldMap } from "./world_map.js";
import { tick } from "./words.js";

const LATER = 10000;
/** Milliseconds after which it is looked again who knows whom. */
const MUCH_LATER = 60000;
const STEP = 80;
const LAST = 1439;
/** Minutes that one step of playing takes. */
const LEAP = 4;

const map = new WorldMap(byId("map"), byId("room"));
const timeline = new Timeline(byId("timeline"), (minute) => show(minute));
const ties = new Ties(byId("ties"));
let world = null;
let following = true;
let playing = null;

function today() {
  return world.day === world.last;
}

/** The farthest minute that has been lived. */
function latest() {
  return today() ? world.minute : LAST;
}

async function load(day = null) {
  try {
    world = await get("world", { day });
    byId("trouble-here").hidden = true;
    Object.assign(byId("day"), { min: world.first, max: world.last, value: world.day });
    byId("before").disabled = world.day <= world.first;
    byId("after").disabled = today();
    timeline.draw(world);
    show(following && today() ? latest() : Number(byId("minute").value));
  } catch (problem) {
    byId("trouble-here").hidden = false;
    fill(byId("trouble-here"), problem.message);
  }
}

function show(minute) {
  const at = Math.min(Math.max(minute, 0), latest());
  const slider = byId("minute");
  slider.value = at;
  const words = clock(at);
  setAttribute(slider, "aria-valuetext", words);
  setText(byId("at"), words);
  timeline.point(at);
  map.draw(world, at);
  drawTalk(byId("talk"), world, at, words);
}

function clock(minute) {
  return tick(new Date(Date.parse(world.begins) + minute * 60000).toISOString(), true);
}

/** The day that lies so many days away. */
function beside(days) {
  const day = new Date(`${world.day}T12:00Z`);
  day.setUTCDate(day.getUTCDate() + days);
  return turn(day.toISOString().slice(0, 10));
}

function turn(day) {
  if (!day || day < world.first || day > world.last) return;
  following = day === world.last;
  load(day);
}

function play() {
  byId("play").setAttribute("aria-pressed", String(playing === null));
  if (playing !== null) {
    clearInterval(playing);
    playing = null;
    return;
  }
  following = false;
  if (Number(byId("minute").value) >= latest()) show(0);
  playing = setInterval(() => {
    const at = Number(byId("minute").value);
    if (at >= latest()) play();
    else show(at + LEAP);
  }, STEP);
}

function toNow() {
  if (playing !== null) play();
  following = true;
  load();
}

byId("minute").addEventListener("input", ({ target }) => {
  following = today() && Number(target.value) >= latest();
  show(Number(target.value));
});
byId("day").addEventListener("change", ({ target }) => turn(target.value));
byId("before").addEventListener("click", () => beside(-1));
byId("after").addEventListener("click", () => beside(1));
byId("play").addEventListener("click", play);
byId("now").addEventListener("click", toNow);
bindKeys([
  ["[", "the day before", () => beside(-1)],
  ["]", "the day after", () => beside(1)],
  ["n", "now", toNow],
  ["p", "play the day, or hold it", play],
  ["u", "up to all agents", () => byId("up").click()],
]);
// Of what happens it needs to know only that something did: the files tell what.
const stream = new Stream({
  took: () => {},
  turned(state, words) {
    byId("live").className = `connection ${state}`;
    fill(byId("live"), words);
    announce(state === "lost" ? "The live stream was lost. It is tried again." : "");
  },
});
setInterval(() => following && !document.hidden && world && load(), LATER);
byId("timeline").after(exportButtons(() => "world"));
byId("ties").after(exportButtons(() => "acquaintances"));
setInterval(() => following && !document.hidden && ties.again(), MUCH_LATER);
await load();
ties.load();
stream.start();
