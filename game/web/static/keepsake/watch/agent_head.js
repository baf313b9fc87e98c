/* The head of an agent's page: how it is, and the buttons that act on it. */

import { badge, compactionFlag, tokensBar, trouble } from "./agent_state.js";
import { get, post } from "./api.js";
import { announce, byId, el, fill } from "./dom.js";
import { ago, many, seconds, time } from "./words.js";

const ACTS = {
  pause: "It perceives and remembers, but thinks no more", resume: "It thinks again",
  compact: "Summarise the oldest of its window now", sleep: "Send it to bed", wake: "Wake it up",
};

/** Keeps the head up to date; `changed(agent)` after each look. */
export class Head {
  #asking = false;
  #was = "";

  constructor(id, changed = () => {}) {
    this.id = id;
    this.changed = changed;
    fill(byId("acts"), Object.entries(ACTS).map(([name, words]) => el("button", {
      type: "button", "data-act": name, title: words, on: { click: () => this.#act(name) },
    }, name[0].toUpperCase() + name.slice(1))));
  }

  async refresh() {
    if (this.#asking || document.hidden) return;
    this.#asking = true;
    try {
      this.#draw(await get(`agents/${this.id}`));
      byId("trouble-here").hidden = true;
    } catch (problem) {
      this.#failed(problem);
    } finally {
      this.#asking = false;
    }
  }

  #draw(agent) {
    const now = JSON.stringify([agent, agent.last_act_at && ago(agent.last_act_at)]);
    if (now === this.#was) return;
    this.#was = now;
    const told = trouble(agent);
    fill(byId("state"), badge(agent.state), compactionFlag(agent),
      el("span", {}, agent.place ? `in ${agent.place}` : "nowhere"),
      tokensBar(agent), el("span", { class: "dim" }, many(agent.memories, "memory", "memories")),
      agent.waiting === null ? null : el("span", {}, `waits for ${seconds(agent.waiting)}`),
      agent.last_act_at ? el("span", { class: "dim act" }, `${agent.last_act}, `, time(agent.last_act_at, ago)) : null);
    byId("problem").hidden = !told.length;
    fill(byId("problem"), told.join("; "));
    this.#offer(agent.state);
    this.changed(agent);
  }

  #offer(state) {
    const useless = { pause: state === "paused", resume: state !== "paused", sleep: state === "asleep", wake: state !== "asleep" };
    // Not `disabled`, which would throw away the focus of whoever has just pressed it.
    for (const button of byId("acts").children) {
      button.setAttribute("aria-disabled", String(Boolean(useless[button.dataset.act])));
    }
  }

  async #act(name) {
    const button = byId("acts").querySelector(`[data-act=${name}]`);
    if (button.getAttribute("aria-busy") === "true") return;
    button.setAttribute("aria-busy", "true");
    try {
      const { done, said } = await post(`agents/${this.id}/${name}`);
      this.#say(said, done);
    } catch (problem) {
      this.#say(problem.message, false);
    } finally {
      button.removeAttribute("aria-busy");
      this.refresh();
    }
  }

  #say(words, good) {
    const line = byId("outcome");
    line.className = good ? "outcome" : "outcome problem";
    line.hidden = false;
    fill(line, words);
    announce(words);
  }

  #failed(problem) {
    byId("trouble-here").hidden = false;
    fill(byId("trouble-here"), problem.message, " ", problem.status === 403
      ? el("a", { href: `/auth/login/?next=${encodeURIComponent(location.pathname)}` }, "Log in") : null);
  }
}
