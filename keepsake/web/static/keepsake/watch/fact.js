/* Where did it go? A fact on the map and in time: who said it, who heard it, who knows it, who lost it. */

import { act, actForm, field, get, mayAct } from "./api.js";
import { AskAgain } from "./aside.js";
import {
  announce,
  bindKeys,
  byId,
  count,
  el,
  fill,
  many,
  moment,
  personLink,
  rowKeys,
  setText,
  tick,
  time as timeOf,
  whyLink,
} from "./dom.js";
import { Kept, Link, Manner, Standing, Way } from "./kinds.js";
import { WorldMap } from "./map.js";
import { notedList, placeOf } from "./noted.js";
import { PastAgent, lastBefore } from "./past.js";
import { TimeScrubber, setTierBar, tierBar } from "./scrubber.js";
import { inWords, sentence } from "./sentences.js";
import { WHERE, stands } from "./standings.js";
import { drawStrands } from "./strands.js";

const LINK = "#memory/";
const WAYS = {
  [Way.SAID]: "said it",
  [Way.TOLD]: "was told",
  [Way.OVERHEARD]: "overheard it",
  [Way.WHISPERED]: "was told in private",
  [Way.SAW]: "saw it",
};
/** How it is known from which memory words come. */
const BASES = {
  [Link.RESTS_ON]: "said because of it",
  [Link.RECALLED]: "recalled for it",
  [Link.QUOTED]: "the prompt quoted it",
  [Link.WINDOW]: "then still remembered word for word",
  [Link.SUMMARY]: "a summary in the prompt tells it",
  [Link.EARLIER]: "heard before; it may have come another way",
};
/** Where a book may be the way by which it came into a prompt. */
const NOTED = [Link.QUOTED, Link.EARLIER];
/** How somebody first came to know it. */
const FIRST = {
  [Way.SAID]: "said",
  [Way.TOLD]: "told",
  [Way.OVERHEARD]: "overheard",
  [Way.WHISPERED]: "told in private",
  [Way.SAW]: "seen",
};
/** The most tellings, and agents that know it, that are shown one by one; more are folded. */
const FOLDED = 12;
/** The most memories that a question leaves out. */
const MOST_WITHOUT = 200;
const parameters = new URLSearchParams(location.search);
const none = {
  words: "",
  memory: null,
  suggested: [],
  complete: true,
  tellings: [],
  knowers: [],
  noted: [],
  echoes: [],
  strands: [],
};
let fact = none;
let agents = [];
let map;
let scrubber;
let chosen = 0;
/** What makes the rows of each folded list. */
let folded = [];
/** By agent and memory: when that was told. */
let times = new Map();
let most = 0;

/** Whether words were typed, so that what each heard may be a sentence of its own. */
const typed = () => Boolean(fact.words);

const seconds = (iso) => Date.parse(iso) / 1000;
const nameOf = (id) => agents.find((each) => each.id === id)?.name ?? `agent ${id}`;

/** Load the map and the past; what was typed meanwhile is followed afterwards. */
async function start() {
  try {
    const [world, past] = await Promise.all([get("map"), get("past")]);
    const present = new Map(
      world.rooms.flatMap((room) => room.agents.map(([id]) => [id, room.name])),
    );
    agents = past.agents.map(
      (each) => new PastAgent(each, past.places, present.get(each.id) ?? ""),
    );
    most = Math.max(...agents.map((each) => each.tiersAt(past.now).total), 1);
    map = new WorldMap(byId("map"), world.rooms, showAgent);
    scrubber = new TimeScrubber(byId("scrubber"), {
      first: past.first,
      last: past.now,
      agents,
      moved: () => draw(),
    });
    mayAct(past.may_act);
    fill(
      byId("minds"),
      agents.map((each) =>
        el(
          "li",
          { id: `mind-${each.id}` },
          el("a", { href: `/agents/${each.id}/`, dir: "auto" }, each.name),
          el("span", {}, tierBar(each.tiersAt(past.now), most)),
        ),
      ),
    );
    draw();
    return true;
  } catch (problem) {
    trouble(problem);
    return false;
  }
}

async function follow() {
  const [q, agent, n] = ["q", "agent", "n"].map((name) => parameters.get(name));
  if (q) byId("q").value = q;
  if (!q && !agent) return explain();
  fill(byId("summary"), "Following …");
  // It is asked for along with the map and the past, and drawn after them.
  const asked = get("fact", { q, agent, n });
  asked.catch(() => {});
  if (!(await ready)) return null;
  try {
    fact = { ...none, ...(await asked) };
    byId("trouble-here").hidden = true;
  } catch (problem) {
    fact = none;
    trouble(problem);
  }
  const numbered = new Map(fact.tellings.map((telling, i) => [telling.happening, i + 1]));
  for (const telling of fact.tellings) {
    telling.number = numbered.get(telling.happening);
    telling.at = seconds(telling.time);
    telling.from = cameFrom(telling);
    // What it came from is earlier in the list; of a clock that was set back, nothing is known.
    telling.step =
      telling.from && telling.from < telling.number ? fact.tellings[telling.from - 1].step + 1 : 0;
  }
  times = new Map(
    fact.tellings.flatMap(({ at, hearings }) =>
      hearings.map((each) => [`${each.id} ${each.n}`, at]),
    ),
  );
  const hearings = new Map(
    fact.tellings.flatMap((telling) =>
      telling.hearings.map((each) => [`${each.id} ${each.n}`, each.way]),
    ),
  );
  for (const each of fact.knowers) {
    each.way = hearings.get(`${each.id} ${each.path.at(-1).n}`) ?? "";
    each.noted = fact.noted.filter(({ id }) => id === each.id);
    each.since = each.spells.map(({ time: at }) => seconds(at));
  }
  chosen = 0;
  byId("q").value = fact.words;
  drawWords(agent, n);
  scrubber.mark(fact.tellings.map((telling) => [seconds(telling.time), kindOf(telling)]));
  map.drawTellings(
    fact.tellings.map((telling) => ({ ...telling, kind: kindOf(telling), title: line(telling) })),
    showTelling,
  );
  drawKnowers();
  drawTellings();
  draw();
  drawFolded();
  announce(byId("summary").textContent);
  return null;
}

/** The number of the telling where the speaker of this one heard it; 0 if it heard it from nobody. */
function cameFrom({ came_from: happening }) {
  return fact.tellings.findIndex((each) => each.happening === happening) + 1;
}

function explain() {
  fill(
    byId("summary"),
    "Type words that somebody said, such as a name. Or choose “where did it go?” beside any memory.",
  );
}

function trouble(problem) {
  fill(byId("summary"));
  byId("trouble-here").hidden = false;
  fill(byId("trouble-here"), problem.message);
}

function kindOf({ private: hidden, manner }) {
  return hidden || manner === Manner.WHISPER ? "whispered" : manner ? "said" : "seen";
}

// -- the words that are followed

function drawWords(agent, n) {
  const { memory, suggested } = fact;
  fill(
    byId("sentence"),
    memory
      ? [
          el("q", { dir: "auto" }, memory.what.words || memory.text),
          " ",
          el(
            "small",
            {},
            `memory ${count(memory.number)} of `,
            el("a", { href: `/agents/${agent}/${LINK}${n}` }, nameOf(Number(agent))),
          ),
        ]
      : "",
  );
  fill(
    byId("suggested"),
    suggested.slice(0, 12).map(({ word, count: others }) =>
      el(
        "button",
        {
          type: "button",
          "aria-pressed": String(fact.words === word),
          title: `${many(others, "other memory", "other memories")} have it`,
          on: { click: () => go(word, agent, n) },
        },
        word,
        " ",
        el("small", {}, count(others)),
      ),
    ),
  );
  byId("by-word").hidden = !suggested.length;
  fill(byId("summary"), account(Infinity));
}

/** How often it was told until a time, and who knew it then. */
function account(until) {
  const told = fact.tellings.filter(({ at }) => at <= until).length;
  const spells = fact.knowers.map((knower) => spellAt(knower, until)).filter(Boolean);
  const lost = fact.knowers.filter((knower) => {
    const spell = spellAt(knower, until);
    return spell?.standing === Standing.LOST && !knower.noted.length;
  }).length;
  if (!fact.tellings.length) {
    return [
      "Nobody said these words. ",
      el("a", { href: searched() }, "Search for memories near in meaning"),
      ".",
    ];
  }
  const [one, several] = typed()
    ? ["agent has heard it", "agents have heard it"]
    : ["agent knows it", "agents know it"];
  return `${many(told, "telling")}; ${many(spells.length, one, several)}${lost ? `, ${count(lost)} of them only in the archive` : ""}.${
    fact.complete ? "" : " There are too many to follow all of them."
  }`;
}

function go(words, agent = null, n = null) {
  for (const [name, value] of [
    ["q", words],
    ["agent", agent],
    ["n", n],
  ]) {
    if (value) parameters.set(name, value);
    else parameters.delete(name);
  }
  history.pushState(null, "", `?${parameters}`);
  follow();
}

// -- what happens as the scrubber moves

function draw() {
  if (!map || !scrubber) return;
  const now = scrubber.time;
  // At its end the scrubber shows all: a telling may have come in the second in which the page was made.
  const until = now === scrubber.last ? Infinity : now;
  const knows = new Map(fact.knowers.map((knower) => [knower.id, knower]));
  map.drawFaces(
    agents.map((agent) => {
      const spell = spellAt(knows.get(agent.id), until);
      return {
        id: agent.id,
        name: agent.name,
        place: now === scrubber.last ? agent.present : agent.placeAt(now),
        ring: spell ? `${spell.standing} ${knows.get(agent.id).way}` : "unknowing",
        words: spell
          ? inBooks(knows.get(agent.id), spell) || stands(spell, typed(), several())
          : "does not know it",
      };
    }),
  );
  map.showTellings(until, chosen);
  for (const agent of agents) {
    const row = byId(`mind-${agent.id}`);
    if (!row) continue;
    setTierBar(row.lastElementChild.firstElementChild, agent.tiersAt(now), most);
    row.firstElementChild.href = `/agents/${agent.id}/#memory${now === scrubber.last ? "" : `/@${now}`}`;
  }
  for (const each of fact.knowers) {
    const row = byId(`knower-${each.id}`);
    if (row) tellStanding(row, each, spellAt(each, until));
  }
  setText(byId("who"), heading(now));
  setText(byId("from"), lead(until));
  if (fact.tellings.length) setText(byId("summary"), account(until));
  for (const row of byId("lists").querySelectorAll("[data-time]"))
    row.classList.toggle("to-come", Number(row.dataset.time) > until);
}

/** The most names of a sentence. */
const NAMED = 12;

/** Who first heard it from whom, until a time, in a sentence: the answer before its cards. */
function lead(until) {
  if (several()) return ""; // it stands beside each of them
  const had = fact.knowers.filter((each) => spellAt(each, until));
  const from = [...grouped(had, ({ way, source }) => source || way)];
  return from
    .map(([source, of]) => {
      const names = of.slice(0, NAMED).map(({ agent }) => agent);
      const rest = of.length - names.length;
      const all = inWords(rest ? [...names, `${count(rest)} more`] : names);
      if (of[0].source)
        return `${all} first heard ${typed() ? "these words" : "it"} from ${source}.`;
      if (of[0].way === Way.SAID)
        return `${all} said ${typed() ? "these words before hearing them" : "it first"}.`;
      return `${all} saw ${typed() ? "a line with these words" : "it"}.`;
    })
    .join(" ");
}

/** The page that searches for the words by meaning. */
const searched = () => `/agents/search/?${new URLSearchParams({ q: fact.words })}`;

/** Whether typed words are of several facts: those that are likely are followed together. */
const several = () => fact.strands.filter((each) => each.likely).length > 1;

/** Of whom the list is: of who knows it now, or knew it at an earlier time. */
function heading(now) {
  if (several()) return "What each has of it";
  if (now === scrubber.last) return typed() ? "Who has heard it" : "Who knows it now";
  return `${typed() ? "Who had heard it" : "Who knew it"} at ${tick(new Date(now * 1000).toISOString(), true)}`;
}

function spellAt(knower, now) {
  return knower?.spells[lastBefore(knower.since, now, (at) => at)] ?? null;
}

// -- the lists

function who({ id, speaker }) {
  return id ? nameOf(id) : speaker || "the world";
}

/** Who said it, as a link to what all agents know of them. */
function speaker(telling) {
  return telling.id || telling.speaker ? personLink(who(telling), { id: telling.id }) : "the world";
}

/** What was said; of a line without known words, what is read after the speaker's name. */
function words({ text, speaker: name }) {
  return name && text.startsWith(`${name} `) ? text.slice(name.length + 1) : text;
}

function line(telling) {
  return `${telling.number}. ${who(telling)}: ${telling.text}`;
}

/** A folded list, whose rows are made once the rest of the page is shown: see `drawFolded`. */
function later(name, rows) {
  const list = el("ol", { class: name });
  folded.push(() => list.append(...rows()));
  return list;
}

/** Make what is folded away: of a fact that fifty agents know it is most of the page. */
function drawFolded() {
  const lists = folded;
  folded = [];
  if (!lists.length) return;
  setTimeout(() => {
    for (const make of lists) make();
    draw();
  });
}

/** Few tellings stand one by one. Many are folded by step, how far each is from where it began, and by speaker. */
function drawTellings() {
  if (fact.tellings.length <= FOLDED)
    fill(
      byId("tellings"),
      fact.tellings.map((telling) => tellingRow(telling)),
    );
  else
    fill(
      byId("tellings"),
      [...grouped(fact.tellings, ({ step }) => step)]
        .toSorted(([a], [b]) => a - b)
        .map(([step, of]) => stepRow(step, of)),
    );
}

function grouped(items, key) {
  const found = new Map();
  for (const each of items) found.set(key(each), [...(found.get(key(each)) ?? []), each]);
  return found;
}

function stepRow(step, of) {
  const speakers = [...grouped(of, who).values()];
  const head = step ? `Told on, ${many(step, "step")} from the beginning` : "Where it began";
  return el(
    "li",
    { class: "step" },
    el(
      "details",
      { open: step === 0 },
      el(
        "summary",
        {},
        el("b", {}, head),
        el("small", {}, `${many(of.length, "telling")} by ${many(speakers.length, "speaker")}`),
        hidden(of),
      ),
      step
        ? later("tellings", () => speakers.map(([first, ...more]) => tellingRow(first, more)))
        : el(
            "ol",
            { class: "tellings" },
            speakers.map(([first, ...more]) => tellingRow(first, more)),
          ),
    ),
  );
}

/** A telling; `more`: what the same speaker told besides, folded below it. */
function tellingRow(telling, more = []) {
  return el(
    "li",
    {
      id: `telling-${telling.number}`,
      "data-row": true,
      tabindex: "-1",
      "data-time": telling.at,
      class: kindOf(telling),
    },
    el(
      "button",
      {
        type: "button",
        class: "number plain",
        "data-opens": true,
        on: { click: () => showTelling(telling.number) },
      },
      String(telling.number),
    ),
    el(
      "p",
      { class: "what" },
      el("b", {}, speaker(telling)),
      telling.to.length ? [" to ", el("bdi", {}, inWords(telling.to))] : null,
      privacy(telling),
      ": ",
      el("bdi", {}, words(telling)),
    ),
    el(
      "p",
      {},
      el(
        "small",
        {},
        timeOf(telling.time),
        telling.place ? ` · ${telling.place}` : "",
        basis(telling),
        why(telling),
      ),
    ),
    el(
      "p",
      { class: "hearings" },
      telling.hearings
        .filter(({ way }) => way !== Way.SAID)
        .map((each) =>
          el(
            "a",
            {
              class: each.way,
              href: `/agents/${each.id}/${LINK}${each.n}`,
              title: `memory ${count(each.n)}`,
            },
            `${nameOf(each.id)} ${WAYS[each.way]}`,
          ),
        ),
    ),
    more.length
      ? el(
          "details",
          {},
          el(
            "summary",
            {},
            `${who(telling)} tells it ${more.length === 1 ? "once" : `${count(more.length)} times`} more`,
            hidden(more),
          ),
          el(
            "ol",
            { class: "tellings" },
            more.map((each) => tellingRow(each)),
          ),
        )
      : null,
  );
}

/** Whether others could not hear a telling, in a word. */
function privacy({ manner, private: hidden }) {
  if (manner === Manner.WHISPER) return el("span", { class: "flag" }, "whispered");
  return hidden ? el("span", { class: "flag" }, "in private") : null;
}

/** How many of folded tellings others could not hear. */
function hidden(tellings) {
  const number = tellings.filter((each) => each.private || each.manner === Manner.WHISPER).length;
  return number ? el("span", { class: "flag" }, `${count(number)} in private`) : null;
}

/** For the words of an agent: a link to why it said them. */
function why({ id, hearings }) {
  const own = hearings.find((each) => each.way === Way.SAID);
  return id && own ? [" · ", whyLink(id, `m${own.n}`)] : "";
}

function basis({ id, link, rests_on: n, from }) {
  if (!link) return "";
  const memory = el("a", { href: `/agents/${id}/${LINK}${n}` }, `memory ${count(n)}`);
  const surely = [Link.RESTS_ON, Link.RECALLED, Link.QUOTED].includes(link);
  const book = fact.noted.find((each) => each.id === id && each.numbers.includes(n));
  return [
    surely ? " · has it from " : " · a guess: has it from ",
    from ? el("a", { href: `#telling-${from}` }, `telling ${from}`) : "an earlier one",
    " (",
    memory,
    `, ${BASES[link] ?? link}`,
    book && NOTED.includes(link) ? `: ${placeOf(book)}` : null,
    ")",
  ];
}

function drawKnowers() {
  const unheard = fact.noted.filter(({ id }) => !fact.knowers.some((each) => each.id === id));
  const ignorant = agents.filter(
    ({ id }) => ![...fact.knowers, ...fact.echoes, ...unheard].some((each) => each.id === id),
  );
  const others = fact.knowers.slice(FOLDED);
  fill(
    byId("knowers"),
    fact.knowers.slice(0, FOLDED).map(knower),
    others.length
      ? el(
          "li",
          { class: "step" },
          el(
            "details",
            {},
            el("summary", {}, `${count(others.length)} more know it`),
            later("knowers", () => others.map(knower)),
          ),
        )
      : null,
  );
  const names = ignorant.map(({ name }) => name);
  drawStrands(byId("strands"), fact, names);
  fill(byId("echoes"), fact.echoes.map(echo), [...grouped(unheard, ({ id }) => id)].map(noter));
  fill(
    byId("ignorant"),
    (fact.knowers.length || unheard.length) && names.length && !several() ? notFound(ignorant) : "",
  );
}

/** Who is not known to have it. Words that were typed were looked for as such, and in no others. */
function notFound(ignorant) {
  const names = ignorant.map(({ name }) => name);
  if (!typed()) return `It has not reached ${names.join(", ")}, as far as the archives say.`;
  const found = ignorant.map(({ id, name }) => {
    const heard = ({ likely, knowers }) => !likely && knowers.some((each) => each.id === id);
    const strand = fact.strands.find(heard);
    const known = strand?.knowers.find((each) => each.id === id);
    return strand ? { id, name, n: known.n, text: strand.text } : null;
  });
  return [
    "Found with nobody else in these words. ",
    found
      .filter(Boolean)
      .map(({ id, name, n, text }) => [
        el("bdi", {}, name),
        " may have it in others: ",
        el("a", { href: `/agents/${id}/${LINK}${n}`, dir: "auto" }, text),
        " ",
      ]),
    el("a", { href: searched() }, "Search for memories near in meaning"),
    ".",
  ];
}

/** Whose summary says it though no memory does: it has them in other words, or knows too much. */
function echo({ id, agent, standing, said, compaction, memories = [] }) {
  const unheard = typed() ? "but no memory with these words." : "but no memory of it.";
  const rest = memories.length ? "from memories in other words." : unheard;
  const unsaid = typed()
    ? "Its writer did not say what it is from: "
    : "The summary says more than its memories: ";
  return el(
    "li",
    { "data-row": true, tabindex: "-1", class: "echo" },
    el(
      "p",
      {},
      el("b", {}, el("a", { href: `/agents/${id}/`, "data-opens": true, dir: "auto" }, agent)),
      " ",
      el("span", { class: "how" }, `has it ${WHERE[standing]}, ${rest}`),
    ),
    el("p", { class: "heard" }, el("q", { dir: "auto" }, said)),
    el(
      "p",
      {},
      el(
        "small",
        {},
        memories.length ? "It tells " : unsaid,
        memories.map((n) => [
          el("a", { href: `/agents/${id}/${LINK}${n}` }, `memory ${count(n)}`),
          ", ",
        ]),
        el(
          "a",
          { href: `/agents/${id}/#compactions/${compaction}` },
          `compaction ${count(compaction)}`,
        ),
      ),
    ),
  );
}

/** Whose books say it though nobody told it: a builder may have written it there. */
function noter([id, noted]) {
  return el(
    "li",
    { "data-row": true, tabindex: "-1", class: "echo" },
    el(
      "p",
      {},
      el("b", {}, el("a", { href: `/agents/${id}/`, "data-opens": true, dir: "auto" }, nameOf(id))),
      " has it in the books, but no memory of it.",
    ),
    notedList(noted),
  );
}

function knower(of) {
  const last = of.spells.at(-1);
  // What an agent has word for word in its window needs no other place.
  const shown = last.standing === Standing.WINDOW ? "folded" : "beside";
  const books = (where) => (where === shown ? notedList(of.noted) : null);
  return el(
    "li",
    {
      id: `knower-${of.id}`,
      "data-row": true,
      tabindex: "-1",
      "data-time": of.since[0],
      class: last.standing,
    },
    el(
      "p",
      {},
      el(
        "b",
        {},
        el("a", { href: `/agents/${of.id}/`, "data-opens": true, dir: "auto" }, of.agent),
      ),
      " ",
      el("span", { class: "how" }),
    ),
    el("p", { class: "heard" }, el("q", { dir: "auto" }), " ", el("small", {})),
    books("beside"),
    el(
      "p",
      {},
      el(
        "small",
        {},
        `First ${FIRST[of.way] ?? "known"} ${moment(of.path.at(-1).time)}`,
        of.source ? [", from ", personLink(of.source)] : "",
        way(of),
        el(
          "span",
          { class: `first ${of.way}`, hidden: true },
          ": ",
          el("q", { dir: "auto" }, of.heard),
        ),
      ),
    ),
    el(
      "details",
      { class: "more" },
      el("summary", {}, "More"),
      books("folded"),
      el(
        "p",
        {},
        el(
          "small",
          {},
          of.memories.map((each, i) => [i ? ", " : "", memoryOf(of.id, each)]),
        ),
      ),
      last.compaction && last.kept !== Kept.WHISPERED
        ? el(
            "p",
            {},
            el(
              "small",
              {},
              el(
                "a",
                { href: `/agents/${of.id}/#compactions` },
                `compaction ${count(last.compaction)}`,
              ),
              last.kept === Kept.GONE ? " dropped it, " : " summarised it, ",
              moment(last.time),
            ),
          )
        : null,
      of.acts.length
        ? el(
            "details",
            {},
            el("summary", {}, `What it did because of it (${count(of.acts.length)})`),
            el(
              "ul",
              {},
              of.acts.map((each) =>
                el(
                  "li",
                  {},
                  el("bdi", {}, sentence(each)),
                  " ",
                  el(
                    "small",
                    {},
                    memoryOf(of.id, each.number),
                    " · ",
                    whyLink(of.id, `m${each.number}`),
                  ),
                ),
              ),
            ),
          )
        : null,
      actForm(
        "Pin it",
        () => [field("A line for all its prompts", "text")],
        ({ text }) => act(of.id, "pin", { text }),
        () => null,
      ),
      new AskAgain(of.id, { question: question(), without: of.memories.slice(-MOST_WITHOUT) }).node,
    ),
  );
}

/** The way to somebody, if it is longer than from one to the other: Joss → Wren → Mira. */
function way({ path }) {
  const names = path.filter(({ id }, i) => id !== path[i - 1]?.id).map(({ id }) => nameOf(id));
  return names.length > 2 ? el("span", { class: "path" }, `: ${names.join(" → ")}`) : "";
}

/** A link to a memory of it, which is pale before its time. */
function memoryOf(id, number) {
  return el(
    "a",
    { href: `/agents/${id}/${LINK}${number}`, "data-time": times.get(`${id} ${number}`) ?? 0 },
    `memory ${count(number)}`,
  );
}

/** Say in a row how somebody has the fact at a time. */
function tellStanding(row, of, spell) {
  const how = spell ? `${inBooks(of, spell) || stands(spell, typed(), several())}.` : "does not know it yet.";
  setText(row.querySelector(".how"), how);
  const heard = row.querySelector(".heard");
  heard.hidden =
    !spell?.has || !(typed() || [Kept.SHORTER, Kept.LIKELY, Kept.UNSURE].includes(spell.kept));
  setText(heard.firstElementChild, spell?.has);
  const quoted = spell?.n ? tellingOf(of.id, spell.n) : null;
  const own = of.acts.find(({ number }) => spell?.n && number === spell.n);
  const hidden = quoted ? kindOf(quoted) === Way.WHISPERED : Boolean(own?.confidants);
  heard.classList.toggle("whisper", hidden);
  // What is quoted may be another telling than the first, which is dated below it.
  row.querySelector(".first").hidden = heard.hidden || !spell.n || spell.n === of.path.at(-1).n;
  setText(heard.lastElementChild, quoted ? saidIn(quoted) : own ? toldOn(own) : "");
  for (const standing of Object.values(Standing))
    row.classList.toggle(standing, standing === spell?.standing);
}

/** Where an agent has a fact now that neither its window nor a summary has; empty if its books lack it, too. */
function inBooks({ noted }, { standing }) {
  const now = scrubber.time === scrubber.last;
  return now && standing === Standing.LOST && noted.length ? `has it in ${placeOf(noted[0])}` : "";
}

/** The telling that an agent remembers as a memory; null for none. */
function tellingOf(id, number) {
  const told = ({ hearings }) => hearings.some((each) => each.id === id && each.n === number);
  return fact.tellings.find(told) ?? null;
}

/** Who said what is quoted, and when: of typed words that may be another telling than the first. */
function saidIn(telling) {
  const how = kindOf(telling) === Way.WHISPERED ? "in private, " : "";
  return `${how}${who(telling)}, ${moment(telling.time)}`;
}

/** To whom and when an agent told it on in words of its own. */
function toldOn({ confidants, what, time: iso }) {
  const whom = inWords((what.to ?? []).map(({ name }) => name));
  return `${confidants ? "in private, " : ""}${whom && `to ${whom}, `}${moment(iso)}`;
}

/** What to ask an agent again: of the words, or of the sentence. */
function question() {
  const { what, text } = fact.memory ?? {};
  return typed()
    ? `What do you know of ${fact.words.split("|")[0].trim()}?`
    : `What do you know of this: “${what.words || text}”?`;
}

/** Open what a row is folded into. */
function unfold(row) {
  for (
    let fold = row?.parentElement.closest("details");
    fold;
    fold = fold.parentElement.closest("details")
  )
    fold.open = true;
}

function showAgent(id) {
  const row = byId(`knower-${id}`) ?? byId(`mind-${id}`);
  unfold(row);
  row?.focus();
  row?.scrollIntoView({ block: "nearest" });
}

function showTelling(number) {
  chosen = number;
  const telling = fact.tellings.find((each) => each.number === number);
  if (scrubber.time < seconds(telling.time)) scrubber.goTo(seconds(telling.time));
  for (const row of byId("tellings").querySelectorAll("[data-time]"))
    row.classList.toggle("chosen", row.id === `telling-${number}`);
  unfold(byId(`telling-${number}`));
  byId(`telling-${number}`)?.scrollIntoView({ block: "nearest" });
  draw();
}

byId("fact").addEventListener("submit", (event) => {
  event.preventDefault();
  const words = byId("q").value.trim();
  if (words) go(words);
});
addEventListener("popstate", () => location.reload());
const ready = start();
bindKeys([
  ["/", "type words", () => byId("q").focus()],
  ["t", "move in time", () => byId("scrubber").querySelector("input").focus()],
  ...rowKeys(() => byId("lists")),
  ["u", "up to all agents", () => byId("up").click()],
]);
follow();
