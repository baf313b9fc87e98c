/* Ask an agent again without some of its memories: both answers side by side, heard and remembered by nobody. */

import { builders, post } from "./api.js";
import { announce, count, el, fill, many } from "./dom.js";

/** Milliseconds to wait for an answer: the server waits two minutes for the model. */
const PATIENCE = 130000;

/** A folded form that asks the agent of that id.
 *
 * `question`: the words to begin with. `without`: the numbers of the memories to leave out, which may be changed.
 * `spoken`: what it said then, if anything; it is shown beside the new answers.
 */
export class AskAgain {
  constructor(id, { question = "", without = [], spoken = "" }) {
    Object.assign(this, { id, spoken });
    this.question = el("input", { required: true, maxlength: "500", value: question, dir: "auto" });
    this.without = el("input", {
      required: true,
      maxlength: "1200",
      value: without.join(", "),
      pattern: "\\s*\\d+(\\s*,\\s*\\d+)*\\s*",
      title: "numbers of memories: 17, 31",
    });
    this.send = el("button", {}, "Ask");
    this.answers = el("div", { class: "answers", role: "status" });
    const form = el(
      "form",
      { class: "act-form", on: { submit: (event) => this.#ask(event) } },
      el("label", {}, el("span", {}, "Question"), this.question),
      el("label", {}, el("span", {}, "Without memories"), this.without),
      this.send,
      el(
        "p",
        { class: "dim" },
        "Asked twice: with all its memories, and without these. Nobody in the game hears it, and nobody remembers it.",
      ),
    );
    this.node = builders(
      el(
        "details",
        { class: "ask-again" },
        el("summary", {}, "Ask again without this memory"),
        form,
        this.answers,
      ),
    );
  }

  /** Open the form for other memories. */
  open(numbers) {
    this.without.value = numbers.join(", ");
    this.node.open = true;
    this.node.scrollIntoView({ block: "nearest" });
    this.question.focus();
  }

  async #ask(event) {
    event.preventDefault();
    const without = this.without.value.split(",").map(Number);
    const question = this.question.value;
    this.send.disabled = true;
    fill(this.answers, el("p", { class: "dim" }, "The model is asked. This may take a minute …"));
    const failed = (problem) => ({ words: "", problem: problem.message });
    const ask = (lacking) =>
      post(`agents/${this.id}/ask`, { question, without: lacking }, PATIENCE).catch(failed);
    const [whole, lacking] = await Promise.all([ask([]), ask(without)]);
    this.send.disabled = false;
    const named = `without ${without.length > 3 ? many(without.length, "memory", "memories") : `memory ${without.map(count).join(", ")}`}`;
    fill(
      this.answers,
      this.spoken ? answer("what it said then", { words: this.spoken }) : null,
      answer("with all its memories", whole),
      answer(named, lacking),
    );
    announce(`${whole.words || whole.problem}; ${named}: ${lacking.words || lacking.problem}`);
  }
}

function answer(title, { words, problem, model, summarised }) {
  return el(
    "figure",
    {},
    el("figcaption", {}, el("b", {}, title), model ? el("small", {}, model) : null),
    words ? el("blockquote", { dir: "auto" }, words) : el("p", { class: "problem" }, problem),
    summarised?.length
      ? el(
          "p",
          {},
          el(
            "small",
            {},
            `A summary in its prompt covers memory ${summarised.map(count).join(", ")}, and may still tell of it.`,
          ),
        )
      : null,
  );
}
