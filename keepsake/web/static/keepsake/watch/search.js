/* Search for words in the memories of all agents. */

import { get } from "./api.js";
import { announce, bindKeys, byId, count, el, fill, many, rowKeys, time, whereLink, whyLink } from "./dom.js";
import { MemoryKind } from "./kinds.js";
import { sentence } from "./sentences.js";

const MOST = 50;
const hits = byId("hits");

async function search(words) {
  byId("q").value = words;
  if (!words) return;
  fill(byId("summary"), "Searching …");
  try {
    const answer = await get("search", { q: words, limit: MOST });
    if (byId("q").value.trim() !== words) return;
    byId("trouble-here").hidden = true;
    draw(answer, words);
    announce(byId("summary").textContent);
  } catch (problem) {
    fill(byId("summary"));
    byId("trouble-here").hidden = false;
    fill(byId("trouble-here"), problem.message);
  }
}

function draw(found, asked) {
  const most = found.hits.length === MOST ? `the newest ${count(MOST)} memories` : many(found.hits.length, "memory", "memories");
  fill(byId("summary"), found.hits.length ? most : "No memory has these words.",
    found.complete ? "" : " The archives are so long that only their newest part was read.");
  const words = asked.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? [];
  fill(hits, found.hits.map(({ id, agent, memory }) => el("li", { "data-row": true, tabindex: "-1" },
    el("a", { href: `/agents/${id}/#memory/${memory.number}`, "data-opens": true }, `${agent}, memory ${count(memory.number)}`), " ",
    el("small", {}, time(memory.time), memory.place ? ` · ${memory.place}` : "", memory.kind === MemoryKind.ACT ? " · its own act" : "", " · ",
      memory.kind === MemoryKind.ACT ? [whyLink(id, memory.number), " · "] : null, whereLink(id, memory.number)),
    el("p", { class: "what", dir: "auto" }, marked(sentence(memory), words)))));
}

/** The text with the searched words marked. */
function marked(text, words) {
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
const asked = new URLSearchParams(location.search).get("q");
if (asked) search(asked); // else keep what was typed while the page loaded
