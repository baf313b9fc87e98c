/* What one agent knows of a person, on a page of its own: what tells most stands first, without the questions. */

import { count, el, many, time, whereLink } from "./dom.js";
import { folded, kept, mentions, met, newestFirst, others, ownWords } from "./person_card.js";
import { inWords } from "./sentences.js";

/** The lines told in private, and the others, that answer what it knows. */
const PRIVATE = 4;
const SHOWN = 8;
const ORDER = "What tells most in rare words stands first; errands and questions stand last.";

/** The card; `known` is of the API's answer `person` for this agent, `name` the person's name. */
export function knownCard(known, name) {
  const lines = [...known.lines, ...known.overheard];
  const thinks = [known.portrait, known.remarks].filter(Boolean);
  return el(
    "li",
    { class: "known", id: `knows-${known.id}`, "data-row": true, tabindex: "-1" },
    el(
      "p",
      { class: "dim" },
      met(known, name),
      heardOf(lines, known, name),
      lines.length ? ` ${ORDER}` : "",
    ),
    // What it thinks and what it was told in private is little: one column.
    part(
      thinks.length ? el("h4", {}, `What ${known.agent} thinks of ${name}`) : null,
      thinks.map((text) => el("p", { class: "portrait", dir: "auto" }, text)),
      told(
        `Told ${known.agent} in private`,
        lines.filter((each) => each.private),
        PRIVATE,
        known,
        name,
      ),
      kept(known, name),
    ),
    part(
      told(
        `Told openly, with ${known.agent} there`,
        lines.filter((each) => !each.private),
        SHOWN,
        known,
        name,
      ),
    ),
    part(
      mentions(known, `In the summaries of ${known.agent}`),
      others(known, name, true),
      ownWords(known, name),
    ),
  );
}

/** How much it was told, in a sentence; empty for nothing. */
function heardOf(lines, { agent }, name) {
  const told = lines.filter(tells);
  const hidden = told.filter((each) => each.private).length;
  const ways = [
    hidden ? `${many(hidden, "thing")} in private` : null,
    told.length > hidden ? `${many(told.length - hidden, "thing")} openly` : null,
  ].filter(Boolean);
  return ways.length ? ` ${name} told ${agent} ${ways.join(" and ")}.` : "";
}

/** Whether a line tells something; else it only asks, or asks for something to be done. */
function tells({ told: part, errand }) {
  return Boolean(part) && !errand;
}

/** A column; none if there is nothing in it. */
function part(...children) {
  const column = el("div", {}, children);
  return column.firstChild ? column : null;
}

/** Lines of the person that tell something, what tells most first; the others, errands and questions are folded. */
function told(title, lines, most, known, name) {
  const telling = lines.filter(tells).toSorted((a, b) => b.weight - a.weight);
  const best = telling.slice(0, most);
  const rows = (some) => some.map((each) => row(each, known, name));
  const rest = newestFirst(telling.slice(most));
  const asked = newestFirst(lines.filter((each) => !telling.includes(each)));
  return [
    best.length || asked.length ? el("h4", {}, title) : null,
    best.length ? list(rows(best)) : null,
    folded(`${count(rest.length)} more, the newest first`, rows(rest)),
    folded(`Errands and questions: ${count(asked.length)}`, rows(asked)),
  ];
}

function list(rows) {
  return el("ul", { class: "kept short" }, rows);
}

/** A line, to whom, if not to the agent, and when. */
function row({ text, said, numbers, private: hidden, time: at, to = [] }, { id }, name) {
  const named = text.startsWith(`${name} `);
  const [number] = numbers;
  return el(
    "li",
    { class: hidden ? "whisper" : "" },
    el(
      "span",
      { dir: "auto" },
      named ? text : said ? `“${text.replaceAll('"', "'")}”` : `${name} ${text}`,
    ),
    " ",
    el(
      "small",
      {},
      to.length ? `to ${inWords(to)}, ` : "",
      number
        ? el("a", { class: "where", href: `/agents/${id}/#memory/${number}` }, time(at))
        : time(at),
      number ? [" · ", whereLink(id, number)] : null,
    ),
  );
}
