/* Search in the memories of all agents, by meaning and words or by exact words. */

import { get } from "./api.js";
import { fromDay } from "./clock.js";
import {
  announce,
  bindKeys,
  byId,
  count,
  el,
  fill,
  many,
  personLink,
  rowKeys,
  time,
  whereLink,
  whyOf,
} from "./dom.js";
import { By, Kept, MemoryKind } from "./kinds.js";
import { notedList } from "./noted.js";
import { privacyMark } from "./privacy.js";
import { sentence } from "./sentences.js";
import { stands } from "./standings.js";

/** The most rows, and the most memories for them: what several agents perceived is one row. */
const MOST = 50;
const MOST_MEMORIES = 150;
const form = byId("search");
const hits = byId("hits");
/** How one agent has the words: the answer that stands before all memories near them. */
const known = el("section", { class: "knows", hidden: true });
hits.before(known);
/** What is only near the words in meaning, folded where it is known whether the agent has them. */
const nearest = el("div", {});
hits.after(nearest);
let turns = 0;

/** What the form asks for, without what is empty; times as they were typed. */
function given() {
  const fields = [...new FormData(form)]
    .map(([name, value]) => [name, value.trim()])
    .filter(([, value]) => value);
  return Object.fromEntries(fields);
}

const FILTERS = ["agent", "person", "place", "kind", "since", "until", "private"];

/** Whether anything is asked for: words, or a filter. */
function asksAnything(asked) {
  return ["q", ...FILTERS].some((name) => name in asked);
}

/** The limits of the time, and which time of a day is meant if none is typed. */
const TIMES = [
  ["since", "00:00"],
  ["until", "23:59:59"],
];

/** What the address asks for; earlier versions had the day and the time of day in one. */
function askedByAddress() {
  const asked = new URLSearchParams(location.search);
  for (const [name] of TIMES) {
    const [day, hour] = (asked.get(name) ?? "").split("T");
    if (!hour) continue;
    asked.set(name, day);
    asked.set(`${name}-hour`, hour);
  }
  return asked;
}

/** Fill the form from the address. */
function restore() {
  const asked = askedByAddress();
  for (const field of form.elements) {
    if (!field.name) continue;
    if (field.type === "checkbox") field.checked = asked.has(field.name);
    else if (field.tagName === "SELECT")
      field.value = asked.get(field.name) ?? field.options[0].value;
    else field.value = asked.get(field.name) ?? "";
  }
  byId("filters").open = FILTERS.some(
    (name) => asked.has(name) && byId("filters").contains(form.elements[name]),
  );
}

async function search() {
  const asked = given();
  if (!asksAnything(asked)) return;
  fill(byId("summary"), "Searching …");
  const query = { ...asked, limit: MOST_MEMORIES };
  for (const [name, otherwise] of TIMES) {
    const hour = `${name}-hour`;
    if (query[name]) query[name] = fromDay(query[name], query[hour] ?? otherwise).toISOString();
    delete query[hour];
  }
  const turn = ++turns;
  known.hidden = true;
  title(asked);
  const standing = drawKnown(asked, turn);
  try {
    const answer = await get("search", query);
    const has = await standing;
    if (turn !== turns) return;
    byId("trouble-here").hidden = true;
    if (has?.not) drawUnknown(asked, answer.hits, has.not);
    draw(answer, asked, Boolean(has));
    announce(`${known.hidden ? "" : known.textContent} ${byId("summary").textContent}`);
  } catch (problem) {
    fill(byId("summary"));
    byId("trouble-here").hidden = false;
    fill(byId("trouble-here"), problem.message);
  }
}

/** Whether it was asked what an agent knows of a thing; else it is a search like any other. */
function isAboutThing() {
  return new URLSearchParams(location.search).has("of");
}

/** The title of the page: the question that it answers. */
function title({ agent, q }) {
  const words = agent && q && isAboutThing() ? `What ${nameOfAgent()} knows of ${q}` : "Search";
  document.title = words;
  fill(document.querySelector("h1"), words);
}

function nameOfAgent() {
  return form.elements.agent.selectedOptions[0].label;
}

/** Say how an agent has the words that are searched in its memory: it heard them, or its summaries or books have them.
 *
 * If it has them, an object; if not, with the names of those who have heard them as `not`. Null if that is not known,
 * or nothing of the kind was asked.
 */
async function drawKnown({ agent, q }, turn) {
  if (!agent || !q) return null;
  const [fact, exact] = await Promise.all([
    get("fact", { q }), // refused if there are more words than can be followed
    get("search", { q, agent, by: By.WORDS, limit: 1 }),
  ]).catch(() => [null, null]);
  if (!fact || turn !== turns) return null;
  const isIts = ({ id }) => id === Number(agent);
  const knower = fact.knowers.find(isIts);
  const noted = fact.noted.filter(isIts);
  const echo = fact.echoes.find(isIts);
  if (!knower && !noted.length && !echo) {
    const all = fact.complete && exact.complete && !exact.hits.length;
    return all ? { not: fact.knowers.map((each) => each.agent) } : null;
  }
  const last = knower?.spells.at(-1) ?? (echo && { ...echo, kept: Kept.SHORTER });
  fill(
    known,
    el(
      "p",
      {},
      el("b", { dir: "auto" }, nameOfAgent()),
      " ",
      last ? `${stands(last, true)}.` : "has these words in its books, and heard them from nobody.",
      " ",
      knower
        ? el(
            "small",
            {},
            "First ",
            time(knower.path.at(-1).time),
            knower.source ? [", from ", personLink(knower.source)] : null,
            " · ",
            el(
              "a",
              { href: `/agents/fact?${new URLSearchParams({ q })}` },
              "who else knows it, and from whom",
            ),
          )
        : null,
    ),
    last
      ? el(
          "p",
          {},
          el("q", { dir: "auto" }, last.has || last.said || knower.heard),
          " ",
          el("small", {}, saidBy(fact, Number(agent), last.n)),
        )
      : null,
    notedList(noted),
  );
  known.hidden = false;
  return {};
}

/** Say that nothing of an agent has the words. What has some of them may tell the same. */
function drawUnknown({ q }, found, others) {
  const some = found.some(({ has_words: has }) => has);
  const who = el("b", { dir: "auto" }, nameOfAgent());
  const thing = el("q", { dir: "auto" }, q);
  fill(
    known,
    el(
      "p",
      {},
      isAboutThing() && !some ? [who, " has never heard of ", thing, ". "] : null,
      some
        ? ["Nothing that ", who, " remembers or wrote has all of these words: ", thing, "."]
        : "No memory, summary, note or page of a person has these words.",
    ),
    others.length
      ? el(
          "p",
          {},
          el(
            "a",
            { href: `/agents/fact?${new URLSearchParams({ q })}` },
            `Who has heard it: ${others.join(", ")}`,
          ),
        )
      : el("p", { class: "dim" }, "No agent has heard it."),
  );
  known.hidden = false;
}

/** Who said what an agent has, and when; nothing of a summary. */
function saidBy({ tellings }, id, number) {
  const telling = tellings.find(({ hearings }) =>
    hearings.some((each) => each.id === id && each.n === number),
  );
  if (!number || !telling) return "";
  const options = [...form.elements.agent.options];
  const name = telling.speaker || options.find(({ value }) => Number(value) === telling.id)?.label;
  return [name ? `${name}, ` : "", time(telling.time)];
}

/** Draw what was found. `answered`: whether it is said above how the agent has the words: then what is only near them is folded. */
function draw(found, { q, by }, answered) {
  const all = happenings(found.hits).slice(0, MOST);
  // What has the words is surer than what is only near them in meaning.
  const rows = [...all.filter(isWorded), ...all.filter((row) => !isWorded(row))];
  const shown = rows.flat();
  const number = many(shown.length, "memory", "memories");
  const order = found.by === By.MEANING ? "the best first" : "the newest first";
  const instead =
    q && by !== found.by ? " No index can be searched now, so exact words were searched." : "";
  const { words } = found;
  const near = words.length && found.by === By.MEANING ? nearness(shown) : "";
  fill(
    byId("summary"),
    found.hits.length ? `${number}, ${order}.` : "No memory was found.",
    near,
    instead,
    found.complete ? "" : " The archives are so long that only their newest part was read.",
  );
  const sure = answered ? rows.filter(isWorded) : rows;
  if (answered) fill(byId("summary"), withWords(sure.flat().length));
  const folded = rows.slice(sure.length);
  fill(
    hits,
    sure.map((each) => hitRow(each, words)),
  );
  fill(
    nearest,
    folded.length
      ? el(
          "details",
          {},
          el("summary", {}, `Only near in meaning: ${count(folded.length)}`),
          el(
            "ol",
            { class: "hits" },
            folded.map((each) => hitRow(each, words)),
          ),
        )
      : null,
  );
}

/** How many memories have a word that was searched; empty for none. */
function withWords(number) {
  return number ? `${many(number, "memory has", "memories have")} a word of yours.` : "";
}

/** What several agents perceived, as a row. */
function hitRow([{ id, agent, memory, has_words: worded }, ...others], words) {
  return el(
    "li",
    { "data-row": true, tabindex: "-1", class: memory.confidants ? "whisper" : "" },
    el(
      "a",
      { href: `/agents/${id}/#memory/${memory.number}`, "data-opens": true },
      `${agent}, memory ${count(memory.number)}`,
    ),
    " ",
    memory.privacy ? [privacyMark(memory.privacy), " "] : null,
    worded || !words.length ? null : el("span", { class: "flag near" }, "near in meaning "),
    el(
      "small",
      {},
      time(memory.time),
      memory.place ? ` · ${memory.place}` : "",
      memory.source ? [" · by ", personLink(memory.source, { key: memory.source_id })] : null,
      memory.kind === MemoryKind.ACT ? " · its own act" : "",
      " · ",
      before(whyOf(id, memory)),
      whereLink(id, memory.number),
      others.length ? [" · also remembered by ", others.map(alsoOf)] : null,
    ),
    el("p", { class: "what", dir: "auto" }, marked(sentence(memory), words)),
  );
}

function isWorded([{ has_words: worded }]) {
  return worded;
}

/** How many of the memories have a word that was searched, and how many are only near in meaning. */
function nearness(found) {
  const worded = found.filter(({ has_words: has }) => has).length;
  const rest = found.length - worded;
  if (!rest) return "";
  if (!worded) return " None of them has your words: they are only near in meaning.";
  return ` ${count(worded)} ${worded === 1 ? "has" : "have"} a word of yours, ${count(rest)} ${rest === 1 ? "is" : "are"} only near in meaning.`;
}

/** The memories of one happening together, that of who did it first; the order is that of their first ones. */
function happenings(found) {
  const rows = new Map();
  for (const hit of found) {
    const { happening, number } = hit.memory;
    const key = happening || `${hit.id} ${number}`;
    rows.set(key, [...(rows.get(key) ?? []), hit]);
  }
  const isOwn = ({ memory }) => memory.kind === MemoryKind.ACT;
  return [...rows.values()].map((row) => row.toSorted((a, b) => isOwn(b) - isOwn(a)));
}

/** The link to the memory that another agent has of the same. */
function alsoOf({ id, agent, memory }, i) {
  return [
    i ? ", " : "",
    el("a", { class: "where", href: `/agents/${id}/#memory/${memory.number}`, dir: "auto" }, agent),
  ];
}

/** A link, and what divides it from the next; null if there is none. */
function before(link) {
  return link && [link, " · "];
}

/** The text with those of the searched words marked that tell something: at the beginning of a word, or a single letter as a word. */
function marked(text, words) {
  if (!words.length) return text;
  const letter = "[\\p{L}\\p{N}_]";
  const each = words
    .map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"))
    .map((word) => (word.length > 1 ? word : `${word}(?!${letter})`));
  const pattern = new RegExp(`(?<!${letter})(${each.join("|")})`, "giu");
  return text.split(pattern).map((part, i) => (i % 2 ? el("mark", {}, part) : part));
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  const asked = given();
  history.pushState(
    null,
    "",
    asksAnything(asked) ? `?${new URLSearchParams(asked)}` : location.pathname,
  );
  search();
});
addEventListener("popstate", () => {
  restore();
  search();
});
bindKeys([
  ["/", "type into the field", () => byId("q").focus()],
  ...rowKeys(() => hits),
  ["u", "up to all agents", () => byId("up").click()],
]);
if (asksAnything(Object.fromEntries(new URLSearchParams(location.search)))) {
  // else keep what was typed while the page loaded
  restore();
  search();
}
