/* The state of an agent: badges, a bar of its tokens, and its problems in words. */

import { count, el, many, percent, seconds } from "./dom.js";
import { AgentState, ServerHealth } from "./kinds.js";
import { reason } from "./plain_words.js";

/** Seconds of waiting for the model after which an agent counts as stuck. */
const STUCK = 30;
/** Styles of the badges of states that are no problem. */
const TONES = {
  [AgentState.IDLE]: "calm",
  [AgentState.ASLEEP]: "asleep",
  [AgentState.PAUSED]: "paused",
  [AgentState.WAITING]: "busy",
  [AgentState.GOING_HOME]: "asleep",
};
const SHORT = { [AgentState.WAITING]: "thinking", [AgentState.GOING_HOME]: "going home" };
/** Fewer failures than this among the last thoughts are not reported. */
const FEW = 3;

/** The agent's problems, in words; empty if there are none. */
export function trouble(agent) {
  const problems = agent.problem ? [agent.problem] : [];
  if (agent.waiting !== null && agent.waiting > STUCK)
    problems.push(`waits for ${seconds(agent.waiting)}`);
  if (!(agent.state in TONES) && !problems.length) problems.push(agent.state);
  const { recent_failed: failed, recent_ended: ended } = agent;
  if (failed >= FEW && failed > ended / 2)
    problems.push(`${count(failed)} of its last ${many(ended, "thought")} failed`);
  return problems;
}

/** A badge for each state that is true at once: a sleeping agent may be paused as well. */
export function badges(agent) {
  const words = new Set([agent.state]);
  if (agent.asleep) words.add(AgentState.ASLEEP);
  if (agent.paused) words.add(AgentState.PAUSED);
  return [...words].map((each) =>
    el("span", { class: `badge ${TONES[each] || "trouble"}`, title: each }, SHORT[each] || each),
  );
}

/** A model server as a badge. */
export function serverBadge({ health }) {
  if (health === ServerHealth.UNASKED) return el("span", { class: "badge paused" }, health);
  return el(
    "span",
    { class: `badge ${health === ServerHealth.READY ? "calm" : "trouble"}` },
    health === ServerHealth.READY ? "ready" : "not ready",
  );
}

/** The model servers that were used and do not work. */
export function failing(servers) {
  return servers.filter(
    ({ health }) => health !== ServerHealth.READY && health !== ServerHealth.UNASKED,
  );
}

/** A sentence for each model server that does not work. */
export function failingServers(servers) {
  return failing(servers).map(
    (each) =>
      `The model server ${each.provider} ${each.host ? `(${each.host}) ` : ""}does not work: ${each.health}`,
  );
}

/** A bar of `part` in `whole` with a label; with `limit` a nearly full bar is coloured. */
export function bar(part, whole, words, limit = false) {
  const share = whole > 0 ? part / whole : 0;
  const tone = !limit ? "" : share > 1 ? "over" : share > 0.85 ? "high" : "";
  return el(
    "span",
    { class: `bar ${tone}`, title: limit ? `${percent(share)} of ${count(whole)}` : null },
    el(
      "span",
      { class: "track", "aria-hidden": "true" },
      el("span", { class: "level", vars: { "--share": `${Math.min(share, 1) * 100}%` } }),
    ),
    el("span", { class: "figure" }, words),
  );
}

/** The tokens of the agent's last prompt, of those that a prompt may have now; `before`, `after`: words about them. */
export function tokensBar({ used, budget }, before = "", after = "") {
  const title = `A prompt may have ${many(budget, "token")} now, by the agents' model and the settings`;
  if (!used) return el("span", { class: "dim", title }, "no prompt since the start");
  return bar(used, budget, `${before}${count(used)} / ${count(budget)}${after}`, true);
}

/** At which memory the next compaction is due; if it is due already, the flag beside it says so. */
export function nextCompaction({ next_due: next, memories, due, compacting }) {
  if (!next || due || compacting) return "";
  return next > memories ? ` next compaction at ${count(next)}` : " compaction due";
}

/** The compaction that is under way or due; null for none. */
export function compactionFlag(agent) {
  if (agent.compacting) return el("span", { class: "flag busy" }, "compacting");
  if (!agent.due) return null;
  const title = `A compaction is due: ${reason(agent.due)}. Without a model the summary quotes the most important sentences.`;
  const when = agent.when_due ? `: ${agent.when_due}` : ", begins within a minute";
  return el(
    "span",
    { class: "flag due", title },
    "compaction due",
    el("span", { class: "when-due" }, when),
  );
}
