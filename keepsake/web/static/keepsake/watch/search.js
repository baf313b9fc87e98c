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
import { By, MemoryKind } from "./kinds.js";
import { notedList } from "./noted.js";
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
  drawKnown(asked, turn);
  try {
    const answer = await get("search", query);
    if (turn !== turns) return;
    byId("trouble-here").hidden = true;
    draw(answer, asked);
    announce(byId("summary").textContent);
  } catch (problem) {
    fill(byId("summary"));
    byId("trouble-here").hidden = false;
    fill(byId("trouble-here"), problem.message);
  }
}

/** Say how an agent has the words that are searched in its memory: it heard them, or its books have them. */
async function drawKnown({ agent, q }, turn) {
  if (!agent || !q) return;
  const fact = await get("fact", { q }).catch(() => null); // such as more words than can be followed
  if (!fact || turn !== turns) return;
  const isIts = ({ id }) => id === Number(agent);
  const knower = fact.knowers.find(isIts);
  const noted = fact.noted.filter(isIts);
  if (!knower && !noted.length) return;
  const name = form.elements.agent.selectedOptions[0].label;
  const last = knower?.spells.at(-1);
  fill(
    known,
    el(
      "p",
      {},
      el("b", { dir: "auto" }, name),
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
    knower
      ? el(
          "p",
          {},
          el("q", { dir: "auto" }, last.has || knower.heard),
          " ",
          el("small", {}, saidBy(fact, knower.id, last.n)),
        )
      : null,
    notedList(noted),
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

function draw(found, { q = "", by }) {
  const all = happenings(found.hits).slice(0, MOST);
  // What has the words is surer than what is only near them in meaning.
  const rows = [...all.filter(isWorded), ...all.filter((row) => !isWorded(row))];
  const number = many(rows.flat().length, "memory", "memories");
  const order = found.by === By.MEANING ? "the best first" : "the newest first";
  const instead =
    q && by !== found.by ? " No index can be searched now, so exact words were searched." : "";
  const words = q.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? [];
  const near = words.length && found.by === By.MEANING ? nearness(found.hits) : "";
  fill(
    byId("summary"),
    found.hits.length ? `${number}, ${order}.` : "No memory was found.",
    near,
    instead,
    found.complete ? "" : " The archives are so long that only their newest part was read.",
  );
  fill(
    hits,
    rows.map(([{ id, agent, memory, has_words: worded }, ...others]) =>
      el(
        "li",
        { "data-row": true, tabindex: "-1", class: memory.confidants ? "whisper" : "" },
        el(
          "a",
          { href: `/agents/${id}/#memory/${memory.number}`, "data-opens": true },
          `${agent}, memory ${count(memory.number)}`,
        ),
        " ",
        memory.confidants ? el("span", { class: "flag" }, "in private ") : null,
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
      ),
    ),
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

/** The text with the searched words marked: at the beginning of a word, or a single letter as a word. */
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
