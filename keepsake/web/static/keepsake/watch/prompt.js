/* The last prompt, section by section with the tokens of each, or as it was sent. */

import { get } from "./api.js";
import { cachedShare, count, el, fill, many, percent, time } from "./dom.js";

/** The number of section colours: one for each section that a prompt can have. */
const HUES = 11;
/** Milliseconds by which the two records of one prompt's time may differ: the log rounds its latency. */
const SAME = 1500;
const NEWER = "Show the newer prompt";

/** The section "Prompt" of an agent's page. */
export class Prompt {
  #open = new Set();
  #shown = null;
  #prompt = null;
  #hues = new Map();

  constructor(root, id) {
    this.id = id;
    const again = () =>
      this.load().catch((problem) => fill(this.newer, `${problem.message} Try again`));
    this.newer = el("button", { type: "button", hidden: true, on: { click: again } }, NEWER);
    this.whole = el("input", { type: "checkbox", on: { change: () => this.#drawText() } });
    this.text = el("div", {});
    this.view = el("div", {});
    fill(root, el("div", { class: "tools" }, this.newer), this.view);
  }

  /** A thought ended: offer its prompt by a button if it is newer than what is on the screen. */
  outdated({ t, latency, prompt }) {
    if (!this.#shown || !prompt) return;
    const sent = Date.parse(t) - 1000 * (latency ?? 0);
    const newer = sent - Date.parse(this.#shown) > SAME;
    if (newer) this.newer.hidden = false;
    else if (!this.#prompt.answer) this.load().catch(() => {}); // the answer to the prompt that is shown
  }

  /** Show the prompt of a thought by its number in the log: `#prompt/1234`. */
  async show(seq) {
    const prompt = await get(`agents/${this.id}/prompt`, { seq });
    this.#shown = null; // an old one is asked for: nothing newer is offered
    this.newer.hidden = true;
    this.whole.checked = true;
    this.draw(prompt);
  }

  async load() {
    const prompt = await get(`agents/${this.id}/prompt`);
    this.#shown = prompt.at;
    this.newer.hidden = true;
    fill(this.newer, NEWER);
    this.draw(prompt);
  }

  draw(prompt) {
    if (!prompt.at) {
      fill(
        this.view,
        el("p", { class: "empty" }, "The event log has no prompt of this agent yet."),
      );
      return;
    }
    this.#prompt = prompt;
    this.#hues = new Map(Object.keys(prompt.sections).map((name, i) => [name, i % HUES]));
    // Only the newest prompt has the sections of its lines; older ones are shown whole.
    if (!prompt.sent.some(({ name }) => name)) this.whole.checked = true;
    this.#drawText();
    fill(
      this.view,
      this.#facts(prompt),
      this.#stack(prompt),
      prompt.sent.length
        ? el("label", { class: "switch" }, this.whole, "as it was sent, whole")
        : null,
      this.text,
      el("h3", {}, "The raw answer"),
      el("pre", { class: "text", dir: "auto" }, prompt.answer || "No answer yet."),
    );
  }

  #drawText() {
    const prompt = this.#prompt;
    fill(
      this.text,
      this.whole.checked && prompt.sent.length
        ? el(
            "ol",
            { class: "sent" },
            prompt.sent.map((each) => this.#stretch(each)),
          )
        : el(
            "ol",
            { class: "sections" },
            [...this.#hues.keys()].map((name) => this.#section(name, prompt)),
          ),
    );
  }

  /** Consecutive lines of one section, with its colour and its name beside them. */
  #stretch({ name, text }) {
    const hue = this.#hues.has(name) ? `hue-${this.#hues.get(name)}` : "";
    return el(
      "li",
      { "data-row": true, tabindex: "-1", "aria-label": name || null },
      el("span", { class: `swatch ${hue}`, title: name }),
      el("small", {}, name || "all"),
      el("pre", { class: "text", dir: "auto" }, text),
    );
  }

  #facts(prompt) {
    const server = prompt.server_tokens
      ? `${many(prompt.server_tokens, "token")} by the server's count, ` +
        `${cachedShare(prompt.cached, prompt.server_tokens)} of them from its cache`
      : "the server does not report its count";
    return el(
      "p",
      {},
      "Sent ",
      time(prompt.at),
      ` about “${prompt.trigger}”: ${many(total(prompt), "token")} of the ` +
        `${count(prompt.budget)} that a prompt could have then; ${server}.`,
    );
  }

  #stack(prompt) {
    const whole = Math.max(prompt.budget, total(prompt), 1);
    const sections = Object.entries(prompt.sections);
    const label = sections.map(([name, tokens]) => `${name} ${tokens}`).join(", ");
    return el(
      "div",
      { class: "stack", role: "img", "aria-label": `Tokens by section: ${label}` },
      sections.map(([name, tokens], i) =>
        el("span", {
          class: `part hue-${i % HUES}`,
          title: `${name}: ${many(tokens, "token")}`,
          vars: { "--share": `${(tokens / whole) * 100}%` },
        }),
      ),
    );
  }

  #section(name, prompt) {
    const [tokens, hue] = [prompt.sections[name], `hue-${this.#hues.get(name)}`];
    const share = tokens / Math.max(total(prompt), 1);
    const words = prompt.sent
      .filter((each) => each.name === name)
      .map(({ text }) => text)
      .join("\n");
    const head = el(
      "summary",
      { "data-opens": true },
      el("span", { class: `swatch ${hue}` }),
      el("b", {}, name),
      el("span", { class: "figure" }, `${many(tokens, "token")}, ${percent(share)}`),
      el(
        "span",
        { class: "track", "aria-hidden": "true" },
        el("span", { class: `level ${hue}`, vars: { "--share": `${share * 100}%` } }),
      ),
    );
    const details = el(
      "details",
      {
        open: this.#open.has(name),
        on: {
          toggle: () => {
            this.#open[details.open ? "add" : "delete"](name);
          },
        },
      },
      head,
      el(
        "pre",
        { class: "text", dir: "auto" },
        words || "The text of this section is not stored: see the whole prompt.",
      ),
    );
    return el("li", { "data-row": true, tabindex: "-1" }, details);
  }
}

/** The tokens of all sections. */
function total({ sections }) {
  return Object.values(sections).reduce((sum, tokens) => sum + tokens, 0);
}
