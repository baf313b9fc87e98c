/* The head of an agent's page: its state, and the buttons that act on it. */

import { badges, compactionFlag, failingServers, tokensBar, trouble } from "./agent_state.js";
import { act, get, mayAct } from "./api.js";
import { ago, byId, el, fill, many, seconds, setText, time } from "./dom.js";
import { sentence } from "./sentences.js";

/** What each of the three buttons does in the agent's present state: [operation, label, tooltip]. */
const OFFERS = [
  ({ paused }) =>
    paused
      ? ["resume", "Resume", "It thinks again, once it is awake"]
      : ["pause", "Pause", "It perceives and remembers, but does not think"],
  () => ["compact", "Compact", "Summarise the oldest memories of its window now"],
  ({ asleep, going_home: going }) => {
    if (asleep) return ["wake", "Wake", "Wake it up"];
    return going ? ["wake", "Stay up", "Keep it awake"] : ["sleep", "Sleep", "Send it to bed"];
  },
];
const SERVERS = 15000;
const SLOW = 5;

/** Keeps the head up to date, and reports changes that concern the whole page.
 *
 * Calls `back()` when the server answers again after a failure, `refused()` when the account has lost
 * its access, and `gone()` when the agent is deleted. After `gone()` it sends no more requests.
 */
export class Head {
  #asking = false;
  #was = "";
  #over = false;
  #servers = 0;

  constructor(id, { back, refused, gone }) {
    Object.assign(this, { id, back, refused, gone });
    fill(
      byId("acts"),
      OFFERS.map(() =>
        el("button", {
          type: "button",
          disabled: true,
          on: { click: ({ currentTarget }) => this.#act(currentTarget) },
        }),
      ),
    );
    this.#offer({ may_act: false });
  }

  async refresh() {
    if (this.#asking || this.#over || document.hidden) return;
    this.#asking = true;
    try {
      const agent = await get(`agents/${this.id}`);
      this.#draw(agent);
      if (!byId("trouble-here").hidden) this.back();
      byId("trouble-here").hidden = true;
      await this.#look(agent);
    } catch (problem) {
      this.#failed(problem);
    } finally {
      this.#asking = false;
    }
  }

  #draw(agent) {
    const now = JSON.stringify([agent, agent.last_act && ago(agent.last_act.time)]);
    if (now === this.#was) return;
    this.#was = now;
    const problems = trouble(agent);
    this.#called(agent.name);
    fill(
      byId("state"),
      badges(agent),
      compactionFlag(agent),
      el("span", {}, agent.place ? ["in ", el("bdi", {}, agent.place)] : "nowhere"),
      tokensBar(agent, "prompt ", " tokens"),
      el("span", { class: "dim" }, many(agent.memories, "memory", "memories")),
      agent.waiting === null ? null : el("span", {}, `waits for ${seconds(agent.waiting)}`),
      agent.last_act
        ? el(
            "span",
            { class: "dim act" },
            el("bdi", {}, sentence(agent.last_act)),
            " ",
            el("small", {}, time(agent.last_act.time, ago)),
          )
        : null,
    );
    byId("problem").hidden = !problems.length;
    fill(byId("problem"), problems.join("; "));
    byId("may-not").hidden = agent.may_act;
    mayAct(agent.may_act);
    this.#offer(agent);
  }

  /** Update the name: the agent may have been renamed since the page was opened. */
  #called(name) {
    document.title = document.title.replace(document.body.dataset.name, () => name);
    document.body.dataset.name = name;
    setText(byId("name"), name);
  }

  #offer(agent) {
    // Change the labels of the same buttons, so that a pressed button keeps the focus.
    OFFERS.forEach((offer, i) => {
      const [name, words, means] = offer(agent);
      const button = byId("acts").children[i];
      button.dataset.act = name;
      button.title = means;
      button.disabled = !agent.may_act;
      setText(button, words);
    });
  }

  /** If the agent waits or has a problem, the cause may be a model server: show those that do not work, but not one
   * that its problem names already. */
  async #look(agent) {
    const notice = byId("servers-problem");
    if (agent.waiting > SLOW || agent.problem) {
      if (Date.now() < this.#servers + SERVERS) return;
      this.#servers = Date.now();
      const { servers } = await get("agents");
      fill(
        notice,
        failingServers(servers.filter(({ host }) => !host || !agent.problem.includes(host))).join(
          " ",
        ),
      );
    } else fill(notice);
    notice.hidden = !notice.textContent;
  }

  async #act(button) {
    if (button.getAttribute("aria-busy") === "true") return;
    const name = button.dataset.act;
    button.setAttribute("aria-busy", "true");
    await act(this.id, name);
    button.removeAttribute("aria-busy");
    byId("acts").hidePopover?.(); // on a phone; what came of it stands on the page
    this.refresh();
  }

  #failed(problem) {
    const notice = byId("trouble-here");
    notice.hidden = false;
    if (problem.status === 404) this.#ended(notice);
    else if (problem.status === 403) {
      fill(
        notice,
        problem.message,
        " ",
        el("a", { href: `/auth/login/?next=${encodeURIComponent(location.pathname)}` }, "Log in"),
      );
      this.refused();
    } else fill(notice, problem.message);
  }

  #ended(notice) {
    this.#over = true;
    fill(
      notice,
      `${document.body.dataset.name} was deleted. `,
      el("a", { href: "/agents/" }, "To all agents"),
    );
    fill(byId("state"), el("span", { class: "badge paused" }, "deleted"));
    for (const each of ["problem", "outcome", "may-not", "servers-problem"])
      byId(each).hidden = true;
    this.#offer({ may_act: false });
    this.gone();
  }
}
