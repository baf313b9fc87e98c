/* Words in the memories of all agents. */

import { get } from "./api.js";
import { announce, byId, el, fill } from "./dom.js";
import { bindKeys, rowKeys } from "./keys.js";
import { count, many, time } from "./words.js";

const MOST = 50;
const hits = byId("hits");
let only = null;
let found = null;

async function search(words) {
  byId("q").value = words;
  if (!words) return;
  fill(byId("summary"), "Looking …");
  try {
    const answer = await get("search", { q: words, limit: MOST });
    if (byId("q").value.trim() !== words) return;
    found = answer;
    only = null;
    byId("trouble-here").hidden = true;
    draw();
    announce(byId("summary").textContent);
  } catch (problem) {
    fill(byId("summary"));
    byId("trouble-here").hidden = false;
    fill(byId("trouble-here"), problem.message);
  }
}

function draw() {
  const all = found.agents.reduce((sum, agent) => sum + agent.found, 0);
  const capped = found.agents.some((agent) => agent.found >= found.most_each);
  const shown = found.hits.filter(({ id }) => only === null || id === only);
  const part = found.hits.length < all ? `, the newest ${count(found.hits.length)} below` : "";
  fill(byId("summary"), all ? `${many(all, "memory", "memories")}${capped ? " or more" : ""} of ${many(found.agents.length, "agent")}${part}` : "Nobody remembers that.",
    found.complete ? "" : " So much was lived that only the newest of it was read.");
  fill(byId("who"), found.agents.map(({ id, name, found: times }) => el("li", {}, el("button", {
    type: "button", "aria-pressed": String(only === id), on: { click: () => {
      only = only === id ? null : id;
      draw();
    } },
  }, `${name} ${count(times)}${times >= found.most_each ? "+" : ""}`))));
  const words = found.question.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? [];
  fill(hits, shown.map((hit) => el("li", { "data-row": true, tabindex: "-1" },
    el("a", { href: `/agents/${hit.id}/#memory/${hit.n}`, "data-opens": true }, `${hit.agent}, memory ${count(hit.n)}`), " ",
    el("small", {}, time(hit.at), hit.place ? ` · ${hit.place}` : "", hit.kind === "act" ? " · its own act" : ""),
    el("p", { class: "what", dir: "auto" }, marked(hit.text, words)))));
}

/** The text, with the words that were looked for marked. */
export function marked(text, words) {
  if (!words.length) return text;
  const pattern = new RegExp(`(?<![\\p{L}\\p{N}_])(${words.map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("|")})`, "giu");
  return text.split(pattern).map((part, i) => (i % 2 ? el("mark", {}, part) : part));
}

byId("search").addEventListener("submit", (event) => {
  event.preventDefault();
  const words = byId("q").value.trim();
  history.pushState(null, "", words ? `?q=${encodeURIComponent(words)}` : location.pathname);
  search(words);
});
addEventListener("popstate", () => search(new URLSearchParams(location.search).get("q") ?? ""));
bindKeys([
  ["/", "type into the field", () => byId("q").focus()],
  ...rowKeys(() => hits),
  ["u", "up to all agents", () => byId("up").click()],
]);
search(new URLSearchParams(location.search).get("q") ?? "");
