/* How a fact went: each telling with who heard it, numbered as on the map. */

import { byId, count, el, fill, many, personLink, time as timeOf, whyLink } from "./dom.js";
import { grouped, kindOf, later, nameOf, page, tellingOf, unfold, who } from "./fact_state.js";
import { Link, Manner, Way } from "./kinds.js";
import { placeOf } from "./noted.js";
import { WHISPERED, privacyMark } from "./privacy.js";
import { inWords } from "./sentences.js";

const LINK = "#memory/";
const WAYS = {
  [Way.SAID]: "said it",
  [Way.TOLD]: "was told",
  [Way.OVERHEARD]: "overheard it",
  [Way.WHISPERED]: "was told in private",
  [Way.DID]: "did it",
  [Way.GOT]: "got it",
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
/** The most tellings that are shown one by one; more are folded. */
const FOLDED = 12;

/** Who said it, as a link to what all agents know of them. */
function speaker(telling) {
  return telling.id || telling.speaker ? personLink(who(telling), { id: telling.id }) : "the world";
}

/** What was said; of a line without known words, what is read after the speaker's name. */
function words({ text, speaker: name }) {
  return name && text.startsWith(`${name} `) ? text.slice(name.length + 1) : text;
}

export function line(telling) {
  return `${telling.number}. ${who(telling)}: ${telling.text}`;
}

/** What happens if the number of a telling is pressed. */
let show = () => {};

/** Few tellings stand one by one. Many are folded by step, how far each is from where it began, and by speaker. All are
 * folded if each stands above already. */
export function drawTellings(choose) {
  show = choose;
  byId("every").hidden = !page.fact.tellings.length;
  byId("each-telling").open = !areAllAbove();
  if (page.fact.tellings.length <= FOLDED)
    fill(
      byId("tellings"),
      page.fact.tellings.map((telling) => tellingRow(telling)),
    );
  else
    fill(
      byId("tellings"),
      [...grouped(page.fact.tellings, ({ step }) => step)]
        .toSorted(([a], [b]) => a - b)
        .map(([step, of]) => stepRow(step, of)),
    );
}

/** Whether each telling is one of who told whom, or of what was said besides. */
function areAllAbove() {
  const { sources, news } = page.fact.who;
  const above = new Set([
    ...sources.map(({ happening }) => happening),
    ...news.map(({ id, n }) => tellingOf(id, n)?.happening),
  ]);
  return page.fact.tellings.every(({ happening }) => above.has(happening));
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
        ? later(el("ol", { class: "tellings" }), () =>
            speakers.map(([first, ...more]) => tellingRow(first, more)),
          )
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
        on: { click: () => show(telling.number) },
      },
      String(telling.number),
    ),
    el(
      "p",
      { class: "what" },
      el("b", {}, speaker(telling)),
      telling.to.length ? [" to ", el("bdi", {}, inWords(telling.to))] : null,
      privacy(telling),
      telling.asks ? " asked" : null,
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
        .filter(({ way }) => ![Way.SAID, Way.DID].includes(way))
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
  return privacyMark(manner === Manner.WHISPER ? WHISPERED : hidden);
}

/** How many of folded tellings others could not hear. */
function hidden(tellings) {
  const number = tellings.filter((each) => each.private || each.manner === Manner.WHISPER).length;
  return privacyMark(number ? `${count(number)} in private` : "");
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
  const book = page.fact.noted.find((each) => each.id === id && each.numbers.includes(n));
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

/** Mark a telling as the chosen one, and show it. */
export function markTelling(number) {
  for (const row of byId("tellings").querySelectorAll("[data-time]"))
    row.classList.toggle("chosen", row.id === `telling-${number}`);
  unfold(byId(`telling-${number}`));
  byId(`telling-${number}`)?.scrollIntoView({ block: "nearest" });
}
