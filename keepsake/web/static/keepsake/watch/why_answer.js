/* The first lines of "Why": what set an act off, on which line its words rest, and which stand nowhere. */

import { el, moment, sameDay, tick } from "./dom.js";
import { ImpulseKind, Manner, MemoryKind, MotiveKind } from "./kinds.js";
import { privacyMark } from "./privacy.js";
import { inWords, ME, sentence, told } from "./sentences.js";

/** The most words that are named as standing nowhere. */
const MOST_WORDS = 4;
/** The most characters of a line of the prompt that are quoted. */
const LONGEST = 160;
const SAID = {
  [Manner.SAY]: "said",
  [Manner.WHISPER]: "whispered",
  [Manner.SHOUT]: "shouted",
  [Manner.CHANNEL]: "said on a channel",
};

/** The answer: the act, what set it off, and what it keeps of the matter. What it rests on besides is folded if it answers
 * somebody's words: they say why. */
export function answerOf(why) {
  const { act, cause } = why;
  const rests = isExplained(why) ? "" : [restsOn(why), nowhere(why)].filter(Boolean).join(" ");
  const besides = [
    why.goes_on?.map((own) => el("p", { dir: "auto" }, `Before that, ${line(own, why)}`)),
    rests ? el("p", { dir: "auto" }, rests) : null,
  ];
  const hasBesides = why.goes_on?.length || rests;
  return el(
    "div",
    { class: "answer" },
    el(
      "p",
      {},
      el("b", { dir: "auto" }, `${why.agent} ${sentence(act)}`),
      " ",
      el("small", {}, moment(why.time)),
    ),
    el("p", { dir: "auto" }, setOff(why)),
    why.motive ? el("p", { dir: "auto" }, motive(why)) : null,
    cause?.what.words && hasBesides
      ? el("details", { class: "more-lines" }, el("summary", {}, "What else it rests on"), besides)
      : besides,
  );
}

function setOff(why) {
  const { agent, cause, plan, trigger, thought } = why;
  if (why.by_rule)
    return `${agent} did it by rule${trigger ? ` (${trigger})` : ""}: no model was asked.`;
  if (cause?.what.words) return `It answers what ${line(cause, why)}`;
  if (plan) return `${agent} did it for a plan of ${agent}'s own: ${plan.line}.`;
  if (cause)
    return `It was set off by what ${agent} perceived${at(cause, why)}: ${sentence(cause)}`;
  if (trigger === ImpulseKind.PLAN) return `${agent} did it for a plan of ${agent}'s own.`;
  if (trigger)
    return `It was set off by: ${trigger}${thought?.source ? ` (${thought.source})` : ""}.`;
  return "What set it off is no longer known.";
}

/** Whether nothing more is to be said: by a rule, or by what it keeps, if it is not known to rest on a line besides. */
function isExplained({ by_rule: rule, motive: kept, grounds }) {
  return rule || (kept && !grounds.some(({ known }) => known));
}

/** What it had reason to think of, so that it answers as it does. */
function motive(why) {
  const { agent } = why;
  const { kind, part, memory, masked, private: hidden } = why.motive;
  const when = memory ? at(memory, why) : "";
  const unseen = masked ? " Its prompt had only that it was whispered." : "";
  const told = {
    [MotiveKind.TOLD]: () =>
      `${agent} keeps what ${memory.source} ${SAID[memory.what.manner] ?? "said"}${when}: “${part}”${unseen}`,
    [MotiveKind.PROMISED]: () => `${agent} had promised${when}: ${part}`,
    [MotiveKind.PLANNED]: () => `${agent} means to: ${part}`,
    [MotiveKind.SECRET]: () => `A secret of ${agent}'s bears on it: “${part}”`,
    [MotiveKind.SAID]: () => `${agent} had said${when}: “${part}”`,
  };
  return [privacyMark(hidden), hidden ? " " : null, told[kind]()];
}

/** On which line its words rest: the surest that is known. Of a deed for a plan, the plan says it. */
function restsOn(why) {
  const { agent, plan, recalled, explaining, quoted, promises, rests, thought } = why;
  const grounds = why.grounds.filter(({ known }) => known || !(plan || why.motive));
  const [ground] = grounds;
  const more = grounds.length - 1;
  const others = more > 0 ? ` More from ${more === 1 ? "one line" : `${more} lines`} below.` : "";
  if (ground) {
    const { known, memory, shared, summary, text } = ground;
    const from = memory
      ? `what ${line(memory, why)}`
      : `${summary ? "a summary" : "the lines on who it is, the place and the day"}: “${excerpt(text, shared)}”`;
    const words = inWords(shared.slice(0, MOST_WORDS).map(quotes));
    return known ? `It rests on ${from}${others}` : `${words} may be from ${from}${others}`;
  }
  if (plan) return "";
  const found = recalled.slice(0, explaining).find(({ memory }) => memory);
  if (found) return `It was recalled what ${line(found.memory, why)}`;
  if (quoted.length) return `The prompt quoted what ${line(quoted[0], why)}`;
  if (promises.length) return `The prompt had a promise: ${sentence(promises[0])}.`;
  if (thought?.prompt) return "No line of the prompt says it.";
  return rests.length
    ? `The archive says that it rests on what ${line(rests[0], why)}`
    : `On which lines it rests is not known: the event log does not have the prompt of ${agent}.`;
}

/** Its words that stand nowhere in the prompt, and who heard them. */
function nowhere(why) {
  const { agent, elsewhere } = why;
  const lacking = why.nowhere ?? [];
  if (elsewhere) {
    const words = inWords(elsewhere.shared.map(quotes));
    const own = elsewhere.agent === agent;
    const heard = line(elsewhere.memory, { ...why, agent: elsewhere.agent });
    return own
      ? `The prompt does not have ${words}, but earlier ${heard}`
      : `The prompt does not have ${words}, and nobody is known to have told ${agent} in these words; but ${heard}`;
  }
  if (!lacking.length) return "";
  const rest = lacking.length - MOST_WORDS;
  const words = lacking.slice(0, MOST_WORDS).map(quotes);
  return `Nowhere in the prompt: ${inWords(rest > 0 ? [...words, `${rest} more words`] : words)}.`;
}

/** A long text cut to what stands around the words that count. */
function excerpt(text, words) {
  if (text.length <= LONGEST) return text;
  const found = words.map((word) => text.indexOf(word)).filter((place) => place >= 0);
  const from = Math.max(Math.min(...found, text.length) - LONGEST / 4, 0);
  const begin = from ? text.indexOf(" ", from) + 1 : 0;
  const end = text.lastIndexOf(" ", begin + LONGEST);
  const rest = begin + LONGEST < text.length;
  return `${begin ? "… " : ""}${text.slice(begin, rest ? end : undefined)}${rest ? " …" : ""}`;
}

const quotes = (word) => `“${word}”`;

/** A memory in words: Anneke said to Bram at 19:07: “…” */
function line(memory, why) {
  const { agent } = why;
  const { words, manner, to = [] } = memory.what;
  const when = at(memory, why);
  const by = memory.kind === MemoryKind.ACT ? agent : memory.source;
  if (words && by) {
    const whom = inWords(to.map(({ id, name }) => (id === ME ? agent : name)));
    const hidden = memory.privacy && manner !== Manner.WHISPER ? `, ${memory.privacy},` : "";
    return `${by} ${SAID[manner] ?? "said"}${whom && ` to ${whom}`}${hidden}${when}: “${words.replaceAll('"', "'")}”`;
  }
  const { who, words: rest } = told(memory, agent);
  return `${agent} perceived${when}: ${who ? `${who} ` : ""}${rest}`;
}

/** When it was; the hour only, if it was on the day of the act. */
function at({ time }, { time: acted }) {
  return sameDay(time, acted) ? ` at ${tick(time)}` : ` on ${moment(time)}`;
}
