/* A talk with an agent outside the game: nobody there hears it, and the agent forgets it with the page. */

import { builders, get, post } from "./api.js";
import { announce, el, fill } from "./dom.js";

/** Milliseconds to wait for an answer: the server waits two minutes for the model. */
const PATIENCE = 130000;
/** The most questions before, and the most characters of an answer, that the server takes. */
const MOST_BEFORE = 20;
const LONGEST = 2000;

export class Interview {
  #talk = [];

  constructor(root, id) {
    this.id = id;
    this.name = document.body.dataset.name;
    this.words = el("input", {
      required: true,
      maxlength: "500",
      dir: "auto",
      "aria-label": `Say to ${this.name}`,
      placeholder: `What do you know of the ferry, ${this.name}?`,
    });
    this.by = el(
      "select",
      { on: { change: () => this.#talk.length && this.#forget() } },
      el("option", { value: "" }, "a stranger"),
    );
    this.send = el("button", {}, "Ask");
    this.forget = el(
      "button",
      { type: "button", hidden: true, on: { click: () => this.#forget() } },
      "Forget this talk",
    );
    this.lines = el("ol", { class: "interview", role: "list", "aria-label": "The talk" });
    this.said = el("p", { class: "dim", role: "status" });
    const form = el(
      "form",
      { class: "tools", on: { submit: (event) => this.#ask(event) } },
      this.words,
      el("label", {}, "as ", this.by),
      this.send,
      this.forget,
    );
    const what = `${this.name} answers from memory and plans as they are now. To a stranger no whisper is told; to somebody
      else, what they whispered themselves. Nobody in the game hears it, and ${this.name} does not remember it. This page
      knows what was said until you forget it or leave.`;
    fill(root, el("p", { class: "dim" }, what), this.lines, this.said, builders(form));
  }

  /** Offer everybody whom the agent has met. */
  async load() {
    const people = await get("people");
    const known = people.filter(({ known_by: by }) => by.includes(this.id));
    this.by.append(...known.map(({ key, name }) => el("option", { value: key }, name)));
  }

  async #ask(event) {
    event.preventDefault();
    if (this.send.disabled) return;
    const question = this.words.value.trim();
    if (!question) return;
    const before = this.#talk.slice(-MOST_BEFORE);
    const line = this.#add(question, this.by.selectedOptions[0].textContent);
    this.words.value = "";
    this.send.disabled = true;
    fill(this.said, "The model is asked. This may take a minute …");
    try {
      const { words, problem, model } = await post(
        `agents/${this.id}/ask`,
        { question, before, by: this.by.value },
        PATIENCE,
      );
      if (words) this.#talk.push({ question, answer: words.slice(0, LONGEST) });
      this.#answer(line, words || problem, words ? model : "", !words);
    } catch (problem) {
      this.#answer(line, problem.message, "", true);
    }
    fill(this.said, "");
    this.send.disabled = false;
    this.words.focus();
  }

  #add(question, as) {
    const line = el(
      "li",
      { "data-row": true, tabindex: "-1" },
      el(
        "p",
        {},
        el("b", {}, "You"),
        this.by.value ? [" ", el("small", {}, "as ", el("bdi", {}, as))] : null,
        " ",
        el("bdi", {}, question),
      ),
    );
    this.lines.append(line);
    this.forget.hidden = false;
    return line;
  }

  #answer(line, words, model, failed) {
    line.append(
      el(
        "p",
        { class: failed ? "problem" : "" },
        el("b", { dir: "auto" }, this.name),
        " ",
        el("span", { class: "flag" }, "outside the game"),
        " ",
        el("bdi", {}, words),
        model ? [" ", el("small", {}, model)] : null,
      ),
    );
    announce(`${this.name}: ${words}`);
  }

  #forget() {
    this.#talk = [];
    fill(this.lines);
    this.forget.hidden = true;
    fill(this.said, "Forgotten: the next question begins a new talk.");
    this.words.focus();
  }
}
