/* What an agent said, and the answers to what was typed: the keys of their rows. The pages need no JavaScript. */

import { bindKeys, byId, rowKeys } from "./dom.js";
import { followOneAgent } from "./questions.js";
import { answerIn } from "./short_answer.js";

bindKeys([...rowKeys(() => byId("main")), ["u", "up to all agents", () => byId("up").click()]]);
followOneAgent();
for (const place of document.querySelectorAll(".lead[data-of]")) {
  const { agent, of, about } = place.dataset;
  answerIn(place, agent ?? null, of, about);
}
