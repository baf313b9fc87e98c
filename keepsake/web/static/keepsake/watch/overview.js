/* All agents at a glance, in a table that updates itself. */

import {
  badges,
  bar,
  compactionFlag,
  failing,
  nextCompaction,
  serverBadge,
  tokensBar,
  trouble,
} from "./agent_state.js";
import { get } from "./api.js";
import {
  ago,
  announce,
  bindKeys,
  byId,
  count,
  el,
  fill,
  many,
  percent,
  rowKeys,
  seconds,
  setAttribute,
  throttled,
  time,
  whyLink,
} from "./dom.js";
import { Feed } from "./feed.js";
import { nextPlans, planLine } from "./next_plan.js";
import { followOneAgent } from "./questions.js";
import { sentence } from "./sentences.js";
import { GAP, Stream, StreamState } from "./stream.js";

const SOON = 1500;
const POLL = 4000;
/** Plans change rarely, and each answer reads the books of all agents. */
const PLANS = 30000;
const COLUMNS = {
  name: { by: (a) => a.name.toLowerCase() },
  state: { by: (a) => a.state },
  place: { by: (a) => a.place.toLowerCase() },
  act: { by: (a) => a.last_act?.time ?? "", down: true },
  waiting: { by: (a) => a.waiting ?? -1, down: true },
  used: { by: (a) => (a.budget ? a.used / a.budget : 0), down: true },
  memories: { by: (a) => a.memories, down: true },
  thoughts: { by: (a) => a.ended, down: true },
  trouble: { by: (a) => trouble(a).length, down: true },
};

const body = byId("agents");
const filter = byId("filter");
const rows = new Map();
const sorting = { column: "trouble", down: true };
let overview = null;

// -- drawing

function draw() {
  if (overview === null) return;
  const shown = sorted(overview.agents.filter(wanted));
  for (const agent of overview.agents) drawRow(agent);
  const known = new Set(overview.agents.map((agent) => agent.id));
  for (const id of rows.keys()) if (!known.has(id)) rows.delete(id);
  const wantedRows = shown.map((agent) => rows.get(agent.id).row);
  // A row that is moved loses the focus, so rows move only if their order has changed.
  if (
    body.childElementCount !== wantedRows.length ||
    wantedRows.some((row, i) => body.children[i] !== row)
  )
    reorder(wantedRows);
  drawSummary(shown.length);
  drawServers();
}

function reorder(wantedRows) {
  const focus = body.contains(document.activeElement) ? document.activeElement : null;
  fill(body, wantedRows);
  if (focus && body.contains(focus)) focus.focus({ preventScroll: true });
}

function drawRow(agent) {
  const known = rows.get(agent.id);
  const seen = JSON.stringify([
    agent,
    ...[agent.last_act, agent.last_words].map((each) => each && ago(each.time, now())),
  ]);
  if (known?.seen === seen) return;
  const row = known?.row ?? el("tr", { tabindex: "-1", "data-row": true, role: "row" });
  const hadFocus = row.contains(document.activeElement) && document.activeElement !== row;
  setAttribute(row, "class", trouble(agent).length ? "stuck" : null);
  fill(row, cells(agent));
  if (hadFocus) row.querySelector("a").focus({ preventScroll: true });
  rows.set(agent.id, { row, seen });
}

function cells(agent) {
  const problems = trouble(agent);
  const words = problems.join("; ");
  const link = el(
    "a",
    { href: `/agents/${agent.id}/`, "data-opens": true, dir: "auto" },
    agent.name,
  );
  return [
    cell(
      "Agent",
      link,
      " ",
      words ? el("small", { class: "problem", title: words, dir: "auto" }, words) : null,
      el(
        "small",
        {},
        el("a", { class: "where", href: `/agents/${agent.id}/#plans` }, "what next?"),
      ),
    ),
    cell("State", badges(agent)),
    cell("Place", agent.place ? el("bdi", {}, agent.place) : "nowhere"),
    cell("Last act", act(agent)),
    cell(
      "Waiting",
      agent.waiting === null ? el("span", { class: "none" }, "–") : seconds(agent.waiting),
    ),
    cell("Prompt", tokensBar(agent), compactionFlag(agent)),
    cell("Memories", count(agent.memories), el("small", {}, nextCompaction(agent)), lost(agent)),
    cell(
      "Thoughts",
      count(agent.ended),
      agent.failed ? el("small", {}, ` ${count(agent.failed)} failed`) : null,
    ),
  ];
}

/** The way to what the last compaction lost; null if there was none. */
function lost({ id, compacted }) {
  if (!compacted) return null;
  const href = `/agents/${id}/#compactions/last`;
  return el(
    "small",
    {},
    " compacted ",
    time(compacted, (iso) => ago(iso, now())),
    " · ",
    el("a", { class: "where", href }, "lost?"),
  );
}

function act(agent) {
  const { last_act: last, last_words: said } = agent;
  if (!last) return el("span", { class: "none" }, "none yet");
  return [
    line(agent.id, last),
    said && said.number !== last.number
      ? el("div", { class: "said-last" }, line(agent.id, said))
      : null,
  ];
}

/** What an agent did, when, and the way to why. */
function line(id, memory) {
  const words = sentence(memory);
  return [
    el("bdi", { class: memory.confidants ? "act whisper" : "act", title: words }, words),
    " ",
    el(
      "small",
      {},
      time(memory.time, (iso) => ago(iso, now())),
      " · ",
      whyLink(id, `m${memory.number}`),
    ),
  ];
}

function cell(label, ...children) {
  return el("td", { role: "cell", "data-label": label }, el("div", {}, children));
}

function drawSummary(shown) {
  const all = overview.agents;
  const bad = all.filter((agent) => trouble(agent).length).length;
  const hidden = shown < all.length ? `, ${count(shown)} shown` : "";
  fill(byId("summary"), `${many(all.length, "agent")}${hidden}`);
  fill(byId("trouble"), verdict(bad));
  fill(byId("no-model"), overview.servers.length ? null : noModel());
  // What has passed stands among the events, which nobody looks through.
  const past = byId("feed").querySelectorAll(".event.trouble").length;
  fill(byId("past-trouble"), past ? ` with ${many(past, "problem")}` : "");
  byId("none").hidden = shown > 0;
  fill(
    byId("none"),
    all.length ? "No agent matches." : "There are no agents. In the game: @agent/create",
  );
  byId("log-problem").hidden = !overview.log_problem;
  fill(byId("log-problem"), overview.log_problem);
}

/** The way to what is said of models, for a village without one. */
function noModel() {
  const open = () => (byId("models").open = true);
  return ["· ", el("a", { href: "#models", on: { click: open } }, "no model: rules answer")];
}

/** A summary of the problems that there are now: agents, model servers and the event log. */
function verdict(bad) {
  const servers = failing(overview.servers).length;
  const problems = [
    bad && `${many(bad, "agent")} with problems`,
    servers && `${many(servers, "model server")} not ready`,
    overview.log_problem && "the event log cannot be written",
  ].filter(Boolean);
  return problems.length ? problems.join(", ") : "no problem now";
}

/** What will happen next by plan. The line is always there, so that nothing below it moves. */
async function drawNext() {
  if (document.hidden) return;
  const [plans, promises] = await Promise.all([
    get("plans").catch(() => []),
    get("promises").catch(() => []),
  ]);
  const [next] = nextPlans(plans, promises);
  const line = next ? planLine(next) : "nothing is planned for a certain time";
  const all = el("a", { href: "/agents/plans" }, many(plans.length, "open plan"));
  fill(byId("next"), el("b", {}, "Next: "), line, " · ", all);
}

function drawServers() {
  if (failing(overview.servers).length) byId("models").open = true;
  fill(byId("model"), overview.model ? `The agents' model: ${overview.model}` : "");
  fill(
    byId("keeps-secrets"),
    overview.keeps_secrets ? `It keeps secrets: ${overview.keeps_secrets}` : "",
  );
  fill(
    byId("servers"),
    overview.servers.map((server) => {
      const good = !failing([server]).length;
      const waits = Object.entries(server.waiting)
        .filter(([, n]) => n)
        .map(([name, n]) => `${n} ${name}`);
      return el(
        "li",
        { class: good ? "" : "stuck" },
        serverBadge(server),
        el("b", {}, server.provider),
        el("span", { class: "dim" }, server.host),
        el("span", {}, server.models.join(", ")),
        bar(server.running, server.in_flight, `${server.running} of ${server.in_flight} calls`),
        el(
          "span",
          { class: "dim" },
          waits.length ? `waiting: ${waits.join(", ")}` : "nothing is waiting",
        ),
        el("span", { class: "dim" }, cacheFigures(server)),
        good ? null : el("small", { class: "problem" }, server.health),
      );
    }),
  );
}

/** What share of the prompts was in a server's cache: of all of them, and of the newest. */
function cacheFigures(server) {
  if (server.cached === null) return "cached: unknown";
  const last = server.last_cached === null ? "unknown" : percent(server.last_cached);
  return `${percent(server.cached)} of prompts cached, ${last} of the newest`;
}

// -- filtering and sorting

function wanted(agent) {
  const words = filter.value.trim().toLowerCase();
  return (
    !words ||
    `${agent.name} ${agent.place} ${agent.state} ${agent.last_act ? sentence(agent.last_act) : ""}`
      .toLowerCase()
      .includes(words)
  );
}

function sorted(agents) {
  const { by } = COLUMNS[sorting.column];
  const compare = (a, b) => (a > b) - (a < b);
  const sign = sorting.down ? -1 : 1;
  return agents.toSorted((a, b) => sign * compare(by(a), by(b)) || compare(a.name, b.name));
}

function sortBy(column, down) {
  Object.assign(sorting, { column, down });
  byId("sort").value = column;
  for (const head of document.querySelectorAll("th[data-sort]")) {
    const now = head.dataset.sort === column ? (down ? "descending" : "ascending") : null;
    setAttribute(head, "aria-sort", now);
  }
  draw();
}

// -- updates

function now() {
  return overview ? Date.parse(overview.now) : Date.now();
}

let asking = false;

async function refresh() {
  if (asking || document.hidden) return;
  asking = true;
  try {
    overview = await get("agents");
    if (!byId("trouble-here").hidden) stream.hurry();
    byId("trouble-here").hidden = true;
    draw();
  } catch (problem) {
    byId("trouble-here").hidden = false;
    fill(
      byId("trouble-here"),
      problem.message,
      " ",
      problem.status === 403 ? el("a", { href: "/auth/login/?next=/agents/" }, "Log in") : null,
    );
    if (problem.status === 403) stream.refuse();
  } finally {
    asking = false;
  }
}

const soon = throttled(refresh, SOON);
const feed = new Feed(byId("feed"), { named: true });

function onEvent(kind, record) {
  if (kind !== GAP) feed.add(kind, record);
  soon();
}

function onState(state, words) {
  const sign = byId("live");
  sign.className = `connection ${state}`;
  fill(sign, words);
  if (state === StreamState.LOST) announce("No events arrive. The page tries again.");
  if (state === StreamState.LIVE) announce("");
  soon();
}

for (const head of document.querySelectorAll("th[data-sort] button")) {
  const { sort: column } = head.closest("th").dataset;
  head.addEventListener("click", () => {
    const again = sorting.column === column;
    sortBy(column, again ? !sorting.down : Boolean(COLUMNS[column].down));
  });
}
byId("sort").addEventListener("change", ({ target }) => {
  sortBy(target.value, Boolean(COLUMNS[target.value].down));
});
filter.addEventListener("input", draw);
document.addEventListener("visibilitychange", refresh);
bindKeys([
  ["/", "filter the agents", () => filter.focus()],
  ...rowKeys(() => body),
  ["p", "hold the stream, or continue it", () => feed.pause()],
]);
followOneAgent();
const stream = new Stream({ onEvent, onState });
stream.start();
setInterval(refresh, POLL);
setInterval(drawNext, PLANS);
refresh();
drawNext();
