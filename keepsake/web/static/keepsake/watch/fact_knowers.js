/* Who knows a fact: a card for each, with how it came to know it, the line, and what it has of it now. */

import { act, actForm, field } from "./api.js";
import { AskAgain } from "./aside.js";
import { byId, count, el, fill, moment, personLink, setText, time, whyLink } from "./dom.js";
import { fromWhom } from "./fact_answer.js";
import {
  grouped,
  hour,
  isUntold,
  kindOf,
  later,
  nameOf,
  page,
  several,
  tellingOf,
  typed,
  who,
} from "./fact_state.js";
import { Kept, Standing, Way } from "./kinds.js";
import { notedList } from "./noted.js";
import { inWords, sentence } from "./sentences.js";
import { WHERE, stands } from "./standings.js";

const LINK = "#memory/";
/** The most agents whose cards are shown; those of more are folded. */
const FOLDED = 12;
/** The most memories that a question leaves out. */
const MOST_WITHOUT = 200;
/** The most lines of one agent whose words are shown. */
const MOST_HEARD = 8;
/** By agent and memory: when that was told. */
let times = new Map();

export function drawKnowers() {
  const { fact } = page;
  times = new Map(
    fact.tellings.flatMap(({ at, hearings }) =>
      hearings.map((each) => [`${each.id} ${each.n}`, at]),
    ),
  );
  const others = [...fact.knowers, ...fact.echoes].map(({ id }) => id);
  const unheard = fact.noted.filter(({ id }) => !others.includes(id));
  const sure = fact.knowers.filter((each) => !each.doubtful);
  const unsure = fact.knowers.filter((each) => each.doubtful);
  fill(
    byId("knowers"),
    cards(sure),
    fact.echoes.map(echo),
    [...grouped(unheard, ({ id }) => id)].map(noter),
  );
  byId("holding").hidden = !(sure.length || fact.echoes.length || unheard.length);
  byId("perhaps").hidden = !unsure.length;
  fill(byId("doubtful"), cards(unsure));
}

function cards(knowers) {
  const others = knowers.slice(FOLDED);
  return [
    knowers.slice(0, FOLDED).map(knower),
    others.length
      ? el(
          "li",
          { class: "step" },
          el(
            "details",
            {},
            el("summary", {}, `${count(others.length)} more know it`),
            later(el("ol", { class: "knowers" }), () => others.map(knower)),
          ),
        )
      : null,
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
    notedList(page.fact.noted.filter((each) => each.id === id)),
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
      noted.some(({ numbers }) => numbers.length)
        ? " has it in the books, from memories in other words."
        : " has it in the books, but no memory of it.",
    ),
    notedList(noted),
  );
}

function knower(of) {
  const { n, time: at } = of.first;
  const heard = el("p", { class: "heard" }, el("q", { dir: "auto" }), " ", el("small", {}));
  return el(
    "li",
    {
      id: `knower-${of.id}`,
      "data-row": true,
      tabindex: "-1",
      "data-time": of.since[0],
      class: of.spells.at(-1).standing,
    },
    el(
      "p",
      { class: "from" },
      el(
        "b",
        {},
        el("a", { href: `/agents/${of.id}/`, "data-opens": true, dir: "auto" }, of.agent),
      ),
      of.doubtful ? " ? " : " ",
      el("span", { class: isUntold(of) ? "untold" : "" }, fromWhom(of)),
      ", ",
      el(
        "a",
        { href: `/agents/${of.id}/${LINK}${n}`, title: `memory ${count(n)}` },
        time(at, hour),
      ),
      way(of),
    ),
    typed() ? null : heard,
    el("p", { class: "now" }, el("span", { class: "how" })),
    more(of, typed() ? heard : null),
  );
}

/** What it heard first: the steps show it, too. */
function first({ heard, first: { telling } }) {
  return isFollowed(heard)
    ? null
    : el(
        "p",
        { class: `first ${telling ? kindOf(telling) : ""}` },
        el("q", { dir: "auto" }, heard),
      );
}

/** Whether words are those of the sentence that is followed: they need not stand in each card. */
function isFollowed(words) {
  const { memory } = page.fact;
  return !typed() && memory && [memory.what.words, memory.text].includes(words);
}

function more(of, heard) {
  const last = of.spells.at(-1);
  return el(
    "details",
    { class: "more" },
    el("summary", {}, "More"),
    first(of),
    heard,
    notedList(of.noted),
    lines(of),
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
  );
}

/** What it heard and said of it, the first lines with their words. */
function lines({ id, memories }) {
  const told = memories.slice(0, MOST_HEARD).map((n) => [n, tellingOf(id, n)]);
  const rest = memories.filter((n, i) => i >= MOST_HEARD || !told[i][1]);
  return [
    el(
      "ul",
      { class: "heard-lines" },
      told
        .filter(([, telling]) => telling)
        .map(([n, telling]) =>
          el(
            "li",
            { class: kindOf(telling) },
            el("q", { dir: "auto" }, telling.text),
            " ",
            el("small", {}, saidIn(telling), " · ", memoryOf(id, n)),
          ),
        ),
    ),
    rest.length
      ? el(
          "p",
          {},
          el(
            "small",
            {},
            rest.map((each, i) => [i ? ", " : "", memoryOf(id, each)]),
          ),
        )
      : null,
  ];
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
export function tellStanding(row, of, spell) {
  setText(row.querySelector(".how"), spell ? `${standing(of, spell)}.` : "does not know it yet.");
  const heard = row.querySelector(".heard");
  const retold = [Kept.SHORTER, Kept.LIKELY, Kept.UNSURE].includes(spell?.kept);
  heard.hidden = !spell?.has || !(typed() ? spell.n !== of.first.n : retold);
  setText(heard.firstElementChild, spell?.has);
  const quoted = spell?.n ? tellingOf(of.id, spell.n) : null;
  const own = of.acts.find(({ number }) => spell?.n && number === spell.n);
  const hidden = quoted ? kindOf(quoted) === Way.WHISPERED : Boolean(own?.confidants);
  heard.classList.toggle("whisper", hidden);
  setText(heard.lastElementChild, quoted ? saidIn(quoted) : own ? toldOn(own) : "");
  for (const each of Object.values(Standing)) row.classList.toggle(each, each === spell?.standing);
}

/** What an agent has of a fact at the time of the scrubber; now, as the answer of the server says it. */
export function standing({ now }, spell) {
  return page.scrubber.time === page.scrubber.last ? now : stands(spell, typed(), several());
}

/** Who said what is quoted, and when: of typed words that may be another telling than the first. */
function saidIn(telling) {
  const how = telling.private ? `${telling.private}, ` : "";
  return `${how}${who(telling)}, ${moment(telling.time)}`;
}

/** To whom and when an agent told it on in words of its own. */
function toldOn({ privacy, what, time: iso }) {
  const whom = inWords((what.to ?? []).map(({ name }) => name));
  return `${privacy ? `${privacy}, ` : ""}${whom && `to ${whom}, `}${moment(iso)}`;
}

/** What to ask an agent again: of the words, or of the sentence. */
function question() {
  const { what, text } = page.fact.memory ?? {};
  return typed()
    ? `What do you know of ${page.fact.words.split("|")[0].trim()}?`
    : `What do you know of this: “${what.words || text}”?`;
}
