/* What an agent keeps beside its memories: a section for each kind of book. */

import { act, actButton, actForm, field, get } from "./api.js";
import { el, fill, time } from "./dom.js";

const PAGE = 30;
const NAMES = { kept: "what is always in its prompts" };

/** A section over one book, or over several of which one is chosen. */
export class Book {
  #shown = PAGE;

  constructor(root, id, ...books) {
    Object.assign(this, { id, of: books[0] });
    this.list = el("ol", { class: "book" });
    this.more = el("button", { type: "button", hidden: true, on: { click: () => this.#next() } });
    const choice = el("select", { "aria-label": "Which", on: { change: () => this.#turn(choice.value) } },
      books.map((name) => el("option", { value: name }, NAMES[name] ?? name)));
    this.above = el("div", {});
    fill(root, this.above, books.length > 1 ? el("div", { class: "tools" }, choice) : null, this.list, this.more);
  }

  async load() {
    this.#shown = PAGE;
    fill(this.list);
    await this.#draw();
    if (!this.list.hasChildNodes()) fill(this.list, el("li", { class: "empty", "data-row": true, tabindex: "-1" }, "Nothing yet."));
  }

  /** Put what is not shown yet of the newest pages below the others. */
  async #draw() {
    const found = await get(`agents/${this.id}/book`, { of: this.of, limit: this.#shown });
    const there = this.list.childElementCount;
    this.list.append(...found.slice(there).map((page, i) => this.#page(page, there + i === 0)));
    this.more.hidden = found.length < this.#shown;
    fill(this.more, "Older pages");
  }

  /** What else stands below a page. */
  beside(_page) {
    return null;
  }

  async #next() {
    try {
      this.#shown += PAGE;
      await this.#draw();
    } catch (problem) {
      fill(this.more, `${problem.message} Try again`);
    }
  }

  #turn(name) {
    this.of = name;
    this.load().catch((problem) => fill(this.list, el("li", { class: "problem" }, problem.message)));
  }

  #page({ title, at, text, facts, file }, open) {
    const said = Object.entries(facts).map(([name, value]) => `${name} ${value}`).join(" · ");
    return el("li", { "data-row": true, tabindex: "-1" }, el("details", { open },
      el("summary", { "data-opens": true }, el("b", { dir: "auto" }, title), at ? el("small", {}, time(at)) : null, el("small", { dir: "auto" }, said)),
      el("pre", { class: "text prose", dir: "auto", title: file }, linked(text)), this.beside({ file, text })));
  }
}

/** Numbers of memories lead to where they stand. */
function linked(text) {
  return text.split(/((?<=\bmemor(?:y|ies)\b[*]*:? )\d+(?:, \d+)*)/).map((part, i) => (i % 2
    ? part.split(", ").flatMap((n, place) => [place ? ", " : "", el("a", { href: `#memory/${n}` }, n)]) : part));
}

export class Notes extends Book {
  constructor(root, id) {
    super(root, id, "notes", "kept");
    const again = () => this.load();
    fill(this.above, actForm("Write a note", () => [field("Title", "title", { most: 60 }), field("Text", "text", { lines: 4 })], (said) => act(id, "note", said), again),
      actForm("Pin a line", () => field("Line", "text", { most: 300 }), (said) => act(id, "pin", said), again));
  }

  /** Behind each pinned line the way to take it out. */
  beside({ file, text }) {
    if (file !== "pinned.md") return null;
    const lines = [...text.matchAll(/^[ \t]*-[ \t]+(.*?)[ \t]*(?:<!--.*-->)?$/gm)].map(([, line]) => line);
    return el("ul", {}, lines.map((line, i) => el("li", {}, line, " ", actButton("Unpin", "Sure?", () => act(this.id, "unpin", { text: String(i + 1) }), () => this.load()))));
  }
}
