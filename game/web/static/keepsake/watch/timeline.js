/* A day of all agents, a row each: what they were about, minute by minute. */

import { el, fill, svg } from "./dom.js";

const DAY = 1440;

/** `choose(minute)` is called when somebody points at one. */
export class Timeline {
  constructor(root, choose) {
    this.root = root;
    this.cursor = el("div", { class: "cursor", "aria-hidden": "true" });
    this.rows = el("ol", { class: "lanes" });
    this.lanes = el("div", { class: "field", on: { click: (event) => {
      const box = this.lanes.querySelector(".lane svg")?.getBoundingClientRect();
      if (box && event.clientX >= box.left && !event.target.closest("a")) choose(Math.floor(((event.clientX - box.left) / box.width) * DAY));
    } } }, this.rows, this.cursor);
    fill(root, this.lanes, el("div", { class: "hours", "aria-hidden": "true" },
      ["00:00", "06:00", "12:00", "18:00", "24:00"].map((hour) => el("span", {}, hour))));
  }

  draw({ agents }) {
    fill(this.rows, agents.map((agent) => el("li", { class: "lane" },
      el("a", { href: `/agents/${agent.id}/`, dir: "auto" }, agent.name),
      svg("svg", { viewBox: `0 0 ${DAY} 1`, preserveAspectRatio: "none", role: "img", "aria-label": summed(agent.minutes) },
        runs(agent.minutes).map(([from, length, what]) => svg("rect", { class: `state ${what}`, x: from, width: Math.max(length, 3), height: 1 }))))));
  }

  point(minute) {
    this.cursor.style.setProperty("--at", String(minute / DAY));
  }
}

/** The stretches in which an agent was about something: [from, minutes, what]. */
export function runs(minutes) {
  return [...minutes.matchAll(/([^.])\1*/g)].map((found) => [found.index, found[0].length, found[1]]);
}

function summed(minutes) {
  const count = (sign) => [...minutes].filter((each) => each === sign).length;
  return `asleep ${count("z")} minutes, thinking in ${count("t")}, talking in ${count("s")}, walking in ${count("w")}`;
}
