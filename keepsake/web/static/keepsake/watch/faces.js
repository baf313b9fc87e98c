/* People as faces with their names: round ones are agents, square ones players. */

import { el, personLink } from "./dom.js";

/** A face with a name: round for an agent, square for a player. */
export function face({ id = null, key: identity = "", name }) {
  const agent = id !== null && id !== undefined;
  return el(
    "span",
    { class: agent ? "who" : "who player", title: agent ? "an agent" : "a player, no agent" },
    el("span", { class: "face", "aria-hidden": "true" }, [...name].slice(0, 2).join("")),
    agent
      ? el("a", { href: `/agents/${id}/`, dir: "auto" }, name)
      : personLink(name, { key: identity }),
  );
}
