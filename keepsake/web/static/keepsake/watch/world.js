/* The rooms with agents and those next to them: who is there, and the exits. */

import { get } from "./api.js";
import { bindKeys, byId, el, fill, rowKeys } from "./dom.js";

const POLL = 5000;

function room({ name, exits, agents, players }) {
  const here = [...agents.map(([id, agent]) => el("a", { href: `/agents/${id}/`, "data-opens": true }, agent)),
    ...players.map((player) => el("bdi", {}, player))];
  return el("li", { "data-row": true, tabindex: "-1" }, el("b", {}, name), " ",
    el("small", {}, exits.length ? `to ${exits.join(", ")}` : "no exits"),
    el("p", { class: "what" }, here.length ? here.flatMap((each, i) => (i ? [", ", each] : [each])) : "nobody"));
}

async function refresh() {
  if (document.hidden) return;
  const notice = byId("trouble-here");
  try {
    const rooms = await get("world");
    if (!byId("rooms").contains(document.activeElement)) fill(byId("rooms"), rooms.map(room));
    notice.hidden = true;
  } catch (problem) {
    notice.hidden = false;
    fill(notice, problem.message);
  }
}

bindKeys([...rowKeys(() => byId("rooms")), ["u", "up to all agents", () => byId("up").click()]]);
setInterval(refresh, POLL);
refresh();
