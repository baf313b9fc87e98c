/* An agent's books: a section for each kind of book. */

import { act, actButton, actForm, field, get } from "./api.js";
import { el, fill, time } from "./dom.js";

const PAGE = 30;
const NAMES = { kept: "what is always in its prompts" };

/** A section that shows one book, or one of several by choice. */
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

  /** Add those of the newest pages that are not shown yet below the others. */
  async #draw() {
    const found = await get(`agents/${this.id}/book`, { of: this.of, limit: this.#shown });
    const there = this.list.childElementCount;
    this.list.append(...found.slice(there).map((page, i) => this.#page(page, there + i === 0)));
    this.more.hidden = found.length < this.#shown;
    fill(this.more, "Older pages");
  }

  async #next() {
    this.#shown += PAGE;
    await this.#draw().catch((problem) => fill(this.more, `${problem.message} Try again`));
  }

  #turn(name) {
    this.of = name;
    this.load().catch((problem) => fill(this.list, el("li", { class: "problem" }, problem.message)));
  }

  #page({ title, at, text, facts, pins }, open) {
    const said = Object.entries(facts).map(([name, value]) => `${name}: ${value}`).join(" · ");
    return el("li", { "data-row": true, tabindex: "-1" }, el("details", { open },
      el("summary", { "data-opens": true }, el("b", { dir: "auto" }, title), at ? el("small", {}, time(at)) : null, el("small", { dir: "auto" }, said)),
      prose(text), this.beside?.({ pins })));
  }
}

const INLINE = /(\*\*[^*]+\*\*|\*[^*\s][^*]*\*|`[^`]+`|\d{4}-\d\d-\d\dT[\d:.]+\+00:00|\[[^\]]+\]\(#memory\/[\d-]+\))/;

/** Markdown as elements: headings, lists, emphasis, code, times, and links to memories. */
export function prose(text) {
  const page = el("div", { class: "text prose", dir: "auto" });
  let at = page; // the list or paragraph that is still open
  const begin = (tag) => (at = at.matches(tag) ? at : page.appendChild(el(tag)));
  for (const [, marks, words] of text.replace(/<!--[^]*?-->/g, "").matchAll(/^[ \t]*(#+ |[-*] |)(.*)$/gm)) {
    if (marks[0] === "#" || !words) at = page;
    if (marks[0] === "#" && marks.length > 2) page.append(el("h4", {}, inline(words.replace(/^\d{8}-\d+, /, ""))));
    else if (marks && marks[0] !== "#") begin("ul").append(el("li", {}, inline(words)));
    else if (!marks && words) begin("p").append(...inline(`${words} `));
  }
  return page;
}

function inline(words) {
  return words.split(INLINE).flatMap((part, i) => {
    if (i % 2 === 0) return part;
    if (part.startsWith("**")) return el("b", {}, part.slice(2, -2));
    if (part.startsWith("*")) return el("em", {}, part.slice(1, -1));
    if (part.startsWith("`")) return el("code", {}, part.slice(1, -1));
    if (!part.startsWith("[")) return time(part);
    const [said, href] = part.slice(1, -1).split("](");
    return el("a", { href }, said);
  });
}

export class Notes extends Book {
  constructor(root, id) {
    super(root, id, "notes", "kept");
    const again = () => this.load();
    fill(this.above, actForm("Write a note", () => [field("Title", "title", { most: 60 }), field("Text", "text", { lines: 4 })], (said) => act(id, "note", said), again),
      actForm("Pin a line", () => field("Line", "text", { most: 300 }), (said) => act(id, "pin", said), again));
  }

  /** The pinned lines, each with a button to unpin it. */
  beside({ pins }) {
    if (!pins.length) return null;
    return el("ul", {}, pins.map((line, i) => el("li", {}, line, " ", actButton("Unpin", "Sure?", () => act(this.id, "unpin", { text: String(i + 1) }), () => this.load()))));
  }
}
