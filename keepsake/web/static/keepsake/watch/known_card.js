/* What one agent knows of a person, on a page of its own: what tells most stands first, without the questions. */

import { count, el, time, whereLink } from "./dom.js";
import { folded, kept, mentions, met, newestFirst, others, ownWords } from "./person_card.js";
import { inWords } from "./sentences.js";

/** The lines told in private, and the others, that answer what it knows. */
const PRIVATE = 4;
const SHOWN = 8;
const ORDER = "What tells most stands first; what was asked of it stands last.";

/** The card; `known` is of the API's answer `person` for this agent, `name` the person's name. */
export function knownCard(known, name) {
  const lines = [...known.lines, ...known.overheard];
  const thinks = [known.portrait, known.remarks].filter(Boolean);
  return el(
    "li",
    { class: "known", id: `knows-${known.id}`, "data-row": true, tabindex: "-1" },
    el("p", { class: "dim" }, met(known, name), lines.length ? ` ${ORDER}` : ""),
    thinks.length || known.notes.length || known.promises.length || known.plans.length
      ? part(
          thinks.length ? el("h4", {}, `What ${known.agent} thinks of ${name}`) : null,
          thinks.map((text) => el("p", { class: "portrait", dir: "auto" }, text)),
          kept(known, name),
        )
      : null,
    part(
      told(
        `Told ${known.agent} in private`,
        lines.filter((each) => each.private),
        PRIVATE,
        known,
        name,
      ),
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

/** A column; none if there is nothing in it. */
function part(...children) {
  const column = el("div", {}, children);
  return column.firstChild ? column : null;
}

/** Lines of the person: first what tells most, errands after it; the others, and questions, are folded. */
function told(title, lines, most, known, name) {
  const best = lines
    .filter((each) => each.told)
    .toSorted((a, b) => Boolean(a.errand) - Boolean(b.errand) || b.weight - a.weight)
    .slice(0, most);
  const rest = newestFirst(lines.filter((each) => !best.includes(each)));
  const number = count(rest.length);
  return [
    best.length
      ? [el("h4", {}, title), list(best.map((each) => row(each, telling(each), known, name)))]
      : null,
    folded(
      best.length ? `${number} more, and questions` : `${title}: ${number}, mostly questions`,
      rest.map((each) => row(each, each.text, known, name)),
    ),
  ];
}

/** What is shown of a line: what was told in private is shown whole, as it is little. */
function telling({ private: hidden, told: part, text }) {
  return hidden ? text : part;
}

function list(rows) {
  return el("ul", { class: "kept short" }, rows);
}

/** A line, or the part of it that tells something; to whom, if not to the agent; and when. */
function row({ text, said, numbers, private: hidden, time: at, to = [] }, part, { id }, name) {
  const words = said && !text.startsWith(`${name} `) ? `“${part}${part === text ? "" : " …"}”` : text;
  const [number] = numbers;
  return el(
    "li",
    { class: hidden ? "whisper" : "" },
    el("span", { dir: "auto" }, said || text.startsWith(`${name} `) ? words : `${name} ${text}`),
    " ",
    el(
      "small",
      {},
      to.length ? `to ${inWords(to)}, ` : "",
      number ? el("a", { class: "where", href: `/agents/${id}/#memory/${number}` }, time(at)) : time(at),
      number ? [" · ", whereLink(id, number)] : null,
    ),
  );
}
