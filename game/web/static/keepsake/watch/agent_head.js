/* The head of an agent's page: how it is, and the buttons that act on it. */

import { badge, compactionFlag, tokensBar, trouble } from "./agent_state.js";
import { get, post } from "./api.js";
import { announce, byId, el, fill, setText } from "./dom.js";
import { ago, many, seconds, time } from "./words.js";

const ACTS = {
  pause: "It perceives and remembers, but thinks no more", resume: "It thinks again",
  compact: "Summarise the oldest of its window now", sleep: "Send it to bed", wake: "Wake it up",
};
/** What each of the three buttons does, in that state: two of them change their minds. */
const OFFERS = [
  (state) => (state === "paused" ? "resume" : "pause"),
  () => "compact",
  (state) => (state === "asleep" ? "wake" : "sleep"),
];

/** Keeps the head up to date; calls `back` when the server answers again after it did not. */
export class Head {
  #asking = false;
  #was = "";

  constructor(id, back) {
    this.id = id;
    this.back = back;
    fill(byId("acts"), OFFERS.map(() => el("button", {
      type: "button", on: { click: ({ currentTarget }) => this.#act(currentTarget) },
    })));
    this.#offer("");
  }

  async refresh() {
    if (this.#asking || document.hidden) return;
    this.#asking = true;
    try {
      this.#draw(await get(`agents/${this.id}`));
      if (!byId("trouble-here").hidden) this.back();
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
  }

  #offer(state) {
    // The same buttons with other words: whoever has just pressed one keeps the focus there.
    OFFERS.forEach((offer, i) => {
      const name = offer(state);
      const button = byId("acts").children[i];
      button.dataset.act = name;
      button.title = ACTS[name];
      setText(button, name[0].toUpperCase() + name.slice(1));
    });
  }

  async #act(button) {
    if (button.getAttribute("aria-busy") === "true") return;
    const name = button.dataset.act;
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
