/* From which lines of its prompt an act has its words, and what it cannot have from there. */

import { count, el, moment, time, whereLink } from "./dom.js";
import { MemoryKind } from "./kinds.js";
import { inWords, sentence, told as toldBy } from "./sentences.js";

/** The first letters by which a word is marked: *eats* of *eating*. */
const BEGINNING = 4;

/** The lines, each with the words that the act has from it. */
export function groundRows(grounds) {
  return el("ol", { class: "grounds" }, grounds.map(row));
}

function row({ text, memory, summary, shared, known }) {
  const id = document.body.dataset.agent;
  return el(
    "li",
    { class: memory?.confidants ? "whisper" : "" },
    el("span", { dir: "auto" }, marked(memory ? sentence(memory) : text, shared)),
    " ",
    el(
      "small",
      {},
      known ? "it rests on this · " : "",
      memory
        ? [
            time(memory.time),
            " · ",
            el("a", { href: `#memory/${memory.number}` }, `memory ${count(memory.number)}`),
            " · ",
            whereLink(id, memory.number),
          ]
        : summary
          ? "a summary"
          : "who it is, the place, its day",
    ),
  );
}

/** A text in which some words are marked. */
function marked(text, words) {
  const begun = words.map(beginning);
  return text
    .split(/([\p{L}\p{N}]+)/u)
    .map((part, i) => (i % 2 && begun.includes(beginning(part)) ? el("b", {}, part) : part));
}

function beginning(word) {
  return word.toLowerCase().slice(0, BEGINNING);
}

/** Words that stand nowhere in the prompt: who heard them. The agent may know what nobody told it. */
export function elsewhereStep({ agent, elsewhere: { id, agent: other, memory, shared } }) {
  const own = String(id) === document.body.dataset.agent;
  const words = inWords(shared.map((word) => `“${word}”`));
  const { who, words: line } = toldBy(memory, other);
  const how = memory.kind === MemoryKind.ACT ? "said it" : "heard it";
  const told = own
    ? `${agent} ${how} once, but the prompt did not have it:`
    : `Nobody told ${agent} in these words, as far as its prompt says. ${other} ${how}:`;
  return [
    el("p", {}, `The prompt does not have ${words}. ${told}`),
    el(
      "p",
      { class: memory.confidants ? "whisper" : "" },
      el("span", { dir: "auto" }, marked(who ? `${who} ${line}` : line, shared)),
      " ",
      el(
        "small",
        {},
        moment(memory.time),
        " · ",
        el(
          "a",
          { href: `/agents/${id}/#memory/${memory.number}` },
          `memory ${count(memory.number)}`,
        ),
        " · ",
        whereLink(id, memory.number),
      ),
    ),
  ];
}
