/* An agent's page: its sections by anchor, each loaded when it is opened. */

import { Head } from "./agent_head.js";
import { get } from "./api.js";
import { Book, Notes } from "./book.js";
import { Charts } from "./charts.js";
import { Compactions } from "./compactions.js";
import { announce, bindKeys, byId, el, fill, rowKeys, setAttribute, throttled } from "./dom.js";
import { Feed } from "./feed.js";
import { Interview } from "./interview.js";
import { EventKind, MemoryOp } from "./kinds.js";
import { Recall } from "./memories.js";
import { PlanSection } from "./plan_section.js";
import { Prompt } from "./prompt.js";
import { answerInPlace } from "./questions.js";
import { GAP, Stream, StreamState } from "./stream.js";
import { Tiers } from "./tiers.js";
import { Why } from "./why.js";

const id = Number(document.body.dataset.agent);
const SOON = 1000;
const POLL = 4000;
const SEEDED = 60;
const LIVE = "live";
/** Where the panel of questions leaves room for what happens. */
const ROOMY = "(width >= 64rem) and (height >= 40rem)";
const RELOADED = [
  "charts",
  "compactions",
  "prompt",
  "journal",
  "people",
  "plans",
  "notes",
  "nights",
];
const CLASSES = {
  prompt: Prompt,
  memory: Tiers,
  recall: Recall,
  talk: Interview,
  compactions: Compactions,
  charts: Charts,
  why: Why,
  journal: Book,
  people: Book,
  plans: PlanSection,
  notes: Notes,
  nights: Book,
};
const NAMES = [LIVE, ...Object.keys(CLASSES)];

const sections = {};
const stream = new Stream({ agent: id, onEvent, onState });
const head = new Head(id, { back: () => stream.hurry(), refused: () => stream.refuse(), gone });
const feed = new Feed(byId("feed"));
let over = false;

// -- the sections

function panel(name) {
  return byId(`panel-${name}`);
}

/** The section and the item from the anchor: `#memory/17`. */
function wanted() {
  const [name, at = ""] = location.hash.slice(1).split("/");
  return [NAMES.includes(name) ? name : LIVE, at];
}

async function open() {
  if (location.hash === "#main") return; // the skip link, not a section
  const [name, at] = wanted();
  for (const each of NAMES) panel(each).hidden = each !== name;
  for (const link of byId("sections").querySelectorAll("a")) {
    setAttribute(link, "aria-current", link.hash === `#${name}` ? "page" : null);
    if (link.hash === `#${name}`) fill(byId("section"), link.textContent);
  }
  byId("sections").hidePopover?.();
  offerQuestions(name);
  document.title = `${document.body.dataset.name}: ${name}`;
  if (name in CLASSES && !over) await load(name, at);
}

/** Open the panel of questions for whoever comes to the page without one; who asked for a section has its answer. */
function offerQuestions(name) {
  const panelOfQuestions = byId("questions");
  if (panelOfQuestions) panelOfQuestions.open = name === LIVE && matchMedia(ROOMY).matches;
}

async function load(name, at) {
  const failed = panel(name).querySelector(".failed");
  const first = !(name in sections);
  const section = (sections[name] ??= new CLASSES[name](
    panel(name).querySelector("div"),
    id,
    name,
  ));
  if (first) fill(failed, el("span", { class: "dim" }, "Loading …"));
  try {
    if (at && section.show) await section.show(at);
    else if (first || RELOADED.includes(name) || section.isPast) await section.load();
    fill(failed);
  } catch (problem) {
    if (first) delete sections[name]; // so that the next try creates it again
    fill(
      failed,
      problem.message,
      " ",
      el("button", { type: "button", on: { click: open } }, "Try again"),
    );
  }
}

function go(name) {
  if (wanted()[0] === name) panel(name).scrollIntoView({ block: "nearest" });
  else location.hash = `#${name}`;
}

// -- updates

/** Add the agent's newest memories, so that the stream does not begin with an empty page. */
async function seed() {
  const { total } = await get(`agents/${id}/tiers`);
  if (!total) return;
  const first = Math.max(1, total - SEEDED + 1);
  const memories = await get(`agents/${id}/memories`, { first, last: total });
  for (const memory of memories) {
    const { number: n, kind: of, repeats: times, time: t } = memory;
    feed.add(EventKind.MEMORY, {
      op: MemoryOp.APPEND,
      n,
      of,
      times,
      t,
      agent: document.body.dataset.name,
      agent_id: id,
      remembered: memory,
    });
  }
}

const soon = throttled(() => head.refresh(), SOON);

function onEvent(kind, record) {
  if (kind === GAP)
    seed().catch(() => {}); // the archive still has the memories at least
  else feed.add(kind, record);
  if (kind === EventKind.THOUGHT) sections.prompt?.outdated(record);
  if (kind === EventKind.MEMORY) sections.memory?.outdated(record);
  if (kind === EventKind.COMPACTION) sections.compactions?.outdated(record);
  soon();
}

let lost = false;

function onState(state, words) {
  lost = state === StreamState.LOST;
  byId("live-sign").className = `connection ${state}`;
  fill(byId("live-sign"), words);
  if (over) return;
  if (state === StreamState.LOST) announce("No events arrive. The page tries again.");
  if (state === StreamState.LIVE) announce("");
  soon();
}

/** The agent was deleted: keep what is on the screen, and stop all requests. */
function gone() {
  over = true;
  clearInterval(polling);
  stream.stop("deleted");
  announce(byId("trouble-here").textContent);
}

bindKeys([
  ...NAMES.slice(0, 9).map((name, i) => [String(i + 1), `section “${name}”`, () => go(name)]),
  ...rowKeys(() => panel(wanted()[0])),
  [
    "/",
    "type into the section's field",
    () => panel(wanted()[0]).querySelector("input[type=search], input")?.focus(),
  ],
  ["p", "hold the stream, or continue it", () => feed.pause()],
  ["u", "up to all agents", () => byId("up").click()],
]);
addEventListener("hashchange", open);
document.addEventListener("visibilitychange", () => head.refresh());
const polling = setInterval(() => {
  head.refresh();
  if (lost && !document.hidden) seed().catch(() => {}); // memories instead of events
}, POLL);
head.refresh();
open();
answerInPlace(byId("questions"), id);
stream.start();
// A memory that the stream sends too is shown once: each has one row. If this fails, the page starts empty.
seed().catch(() => {});
