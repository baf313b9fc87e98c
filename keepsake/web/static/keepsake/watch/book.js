/* An agent's books: a section for each kind of book. */

import { act, actButton, actForm, field, get } from "./api.js";
import { count, el, fill, personLink, time } from "./dom.js";
import { fileEditor } from "./editor.js";
import { KEPT, privacyMark } from "./privacy.js";

const PAGE = 30;
/** Books whose pages are of a day, which is their title. */
const DATED = ["journal", "nights"];
/** Books whose pages are files that people may edit. */
const EDITED = ["journal", "people", "notes"];

/** A section that shows one book. */
export class Book {
  #shown = PAGE;

  constructor(root, id, of) {
    Object.assign(this, { id, of });
    this.list = el("ol", { class: "book" });
    this.more = el("button", { type: "button", hidden: true, on: { click: () => this.#next() } });
    this.above = el("div", {});
    fill(root, this.above, this.list, this.more);
  }

  async load() {
    this.#shown = PAGE;
    fill(this.list);
    await this.#draw();
    if (!this.list.hasChildNodes())
      fill(
        this.list,
        el("li", { class: "empty", "data-row": true, tabindex: "-1" }, "Nothing yet."),
      );
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

  #page({ title, at, text, facts, file, private: hidden }, open) {
    const said = Object.entries(facts)
      .map(([name, value]) => `${name}: ${value}`)
      .join(" · ");
    const when = at && !DATED.includes(this.of) ? el("small", {}, time(at)) : null;
    return el(
      "li",
      { "data-row": true, tabindex: "-1" },
      el(
        "details",
        { open },
        el(
          "summary",
          { "data-opens": true },
          el("b", { dir: "auto" }, title),
          when,
          el("small", { dir: "auto" }, said),
        ),
        this.of === "people"
          ? el("p", {}, personLink(title), el("small", {}, " across all agents"))
          : null,
        prose(text, hidden),
        EDITED.includes(this.of)
          ? fileEditor(this.id, this.of, file, "Edit this page", () => this.load())
          : null,
      ),
    );
  }
}

const INLINE =
  /(\*\*[^*]+\*\*|\*[^*\s][^*]*\*|`[^`]+`|\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:\d\d)|\[[^\]]+\]\(#memory\/[\d-]+\))/;
/** Fields of journal entries that are for programs: identities of people. */
const INTERNAL = /^\*\*who\*\*:/;

/** Markdown as elements: headings, lists, emphasis, code, times, and links to memories.
 * `hidden`: the numbers of private memories; a line that cites one is marked. */
export function prose(text, hidden = []) {
  const page = el("div", { class: "text prose", dir: "auto" });
  let at = page; // the list or paragraph that is still open
  const begin = (tag) => (at = at.matches(tag) ? at : page.appendChild(el(tag)));
  for (const [, marks, words] of text
    .replace(/<!--[^]*?-->/g, "")
    .matchAll(/^[ \t]*(#+ |[-*] |)(.*)$/gm)) {
    if (marks[0] === "#" || !words) at = page;
    if (marks[0] === "#" && marks.length > 2)
      page.append(el("h3", {}, inline(words.replace(/^\d{8}-\d+, /, ""))));
    else if (marks && marks[0] !== "#") {
      if (!INTERNAL.test(words)) begin("ul").append(item(words, hidden));
    } else if (!marks && words) begin("p").append(...inline(`${words} `));
  }
  return page;
}

/** A line of a list; marked if it rests on a private memory. */
function item(words, hidden) {
  const row = el("li", {}, inline(words));
  const cited = [...row.querySelectorAll("a")].map(({ hash }) => Number(hash.split(/[/-]/)[1]));
  if (cited.some((number) => hidden.includes(number))) {
    row.classList.add("whisper");
    row.append(" ", privacyMark(KEPT));
  }
  return row;
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

/** Notes, and above them all that is in every prompt: pinned lines, promises and rules. */
export class Notes extends Book {
  constructor(root, id) {
    super(root, id, "notes");
    const again = () => this.load();
    this.pins = el("ul", { class: "pins", "aria-label": "Pinned lines" });
    this.promises = el("ul", { class: "pins", "aria-label": "Promises and rules" });
    this.profile = el("div", {});
    fill(
      this.above,
      el("h3", {}, "Profile"),
      this.profile,
      el("h3", {}, "Always in its prompts"),
      this.pins,
      this.promises,
      fileEditor(id, "pins", "pinned.md", "Edit all pins", again),
      fileEditor(id, "promises", "noticed.md", "Edit promises and rules", again),
      actForm(
        "Pin a line",
        () => field("Line", "text", { most: 300 }),
        (said) => act(id, "pin", said),
        again,
      ),
      el("h3", {}, "Notes"),
      actForm(
        "Write a note",
        () => [field("Title", "title", { most: 60 }), field("Text", "text", { lines: 4 })],
        (said) => act(id, "note", said),
        again,
      ),
    );
  }

  async load() {
    const [kept, profile] = await Promise.all([
      get(`agents/${this.id}/book`, { of: "kept" }),
      get(`agents/${this.id}/profile`),
      super.load(),
    ]);
    this.#drawProfile(profile);
    const pins = kept.flatMap((page) => page.pins);
    const promises = kept.flatMap((page) => page.promises);
    fill(
      this.pins,
      pins.length
        ? pins.map((line, i) => this.#pin(line, i + 1))
        : el("li", { class: "dim" }, "Nothing is pinned."),
    );
    fill(
      this.promises,
      promises.map(({ text, memory }) =>
        el(
          "li",
          { "data-row": true, tabindex: "-1" },
          el("bdi", {}, text),
          " ",
          memory
            ? el(
                "a",
                { class: "where", href: `#memory/${memory}`, "data-opens": true },
                `memory ${memory}`,
              )
            : null,
        ),
      ),
    );
    this.promises.hidden = !promises.length;
  }

  #drawProfile({ text, former }) {
    fill(
      this.profile,
      el("p", { class: "profile", dir: "auto" }, text || "It has no profile."),
      actForm(
        "Edit the profile",
        () => field("Profile", "text", { lines: 6, value: text }),
        (said) => act(this.id, "edit-profile", { ...said, was: text }),
        () => this.load(),
      ),
      former.length
        ? el(
            "details",
            {},
            el("summary", {}, `Former profiles (${former.length})`),
            el(
              "ol",
              {},
              [...former].reverse().map((each) => el("li", { dir: "auto" }, each)),
            ),
          )
        : null,
    );
  }

  #pin(line, number) {
    return el(
      "li",
      { "data-row": true, tabindex: "-1" },
      el("bdi", {}, inline(line)),
      " ",
      actButton(
        "Unpin",
        "Sure?",
        () => act(this.id, "unpin", { text: String(number) }),
        () => this.load(),
      ),
    );
  }
}
