/* Events of the log in words: what happened, the details, and the tone for the stylesheet. */

import { cachedShare, count, many, seconds } from "./dom.js";
import {
  CompactionOutcome,
  HappeningKind,
  MemoryKind,
  MemoryOp,
  SleepOp,
  ThoughtOutcome,
} from "./kinds.js";
import { changedBy, outcome, reason } from "./plain_words.js";
import { ME, remarks, told } from "./sentences.js";

/** Tones of internal events, which the feed hides by default; words, acts and problems have others. */
export const INNER = ["thought", "quiet", "result"];

/** `{ who, what, more, tone }` of a record: who acted, and a class of the stylesheet. */
export function describe(kind, record) {
  return { who: record.agent ?? "", ...(SAYS[kind] || unknown)(record) };
}

/** The functions that describe an event, by its kind. */
const SAYS = { memory, thought, recall, guard, compaction, sleep, move, error, health, world };

function memory(record) {
  const { remembered: one, times: number } = record;
  if (!one) return changed(record); // its words are not known, or it is another change
  const times = number > 1 ? `×${number}` : "";
  const more = join(
    times,
    ...remarks(one),
    whoIsYou(one, record.agent),
    one.reason && `because: ${one.reason}`,
  );
  const { who, words } = told(one, record.agent);
  return { who, what: words, more, tone: one.confidants ? `${one.kind} whisper` : one.kind };
}

/** Who is meant by “you” in a line that the game wrote; words that were said have the name instead. */
function whoIsYou({ kind, form, what }, agent) {
  const meant =
    kind === MemoryKind.PERCEPTION &&
    form !== HappeningKind.SPEECH &&
    what.to?.some(({ id }) => id === ME);
  return meant ? `“you” is ${agent}` : "";
}

function changed(record) {
  const { op, n, of, about, title, times, size, by, problem } = record;
  const what = `${problem ? "failed: " : ""}${CHANGES[op] ?? op}${about ? ` ${about}` : ""}${title ? `: ${title}` : ""}`;
  const facts = join(
    of,
    n && `number ${n}`,
    times > 1 && `×${times}`,
    size && many(size, "character"),
  );
  return {
    what,
    more: join(facts, by && changedBy(by), problem),
    tone: problem ? "trouble" : "quiet",
  };
}

/** Changes of a memory in words, by `op`. */
const CHANGES = {
  [MemoryOp.APPEND]: "remembers something",
  [MemoryOp.REPEAT]: "experiences something again",
  [MemoryOp.UNDO]: "a compaction is undone",
  [MemoryOp.EDIT]: "a summary is edited by hand",
  [MemoryOp.REINDEX]: "its recall index is rebuilt",
  [MemoryOp.NOTE]: "writes a note",
  [MemoryOp.UNNOTE]: "deletes a note",
  [MemoryOp.PIN]: "pins a line",
  [MemoryOp.UNPIN]: "unpins a line",
  [MemoryOp.NOTICED]: "a rule or promise is noticed",
  [MemoryOp.CLOSED]: "a rule or promise has ended",
  [MemoryOp.PLAN]: "a plan changes",
  [MemoryOp.JOURNAL]: "writes in its journal",
  [MemoryOp.MET]: "begins to know",
  [MemoryOp.PROFILE]: "updates its page about",
  [MemoryOp.CONCLUDED]: "concludes something about",
  [MemoryOp.RENAMED]: "has another name; it was",
  [MemoryOp.BEGINS]: "its archive begins",
  [MemoryOp.ENDS]: "its archive ends",
};

function thought(record) {
  const answered = record.command ?? record.answer?.trim();
  const from = record.source ? ` by ${record.source}` : "";
  const what = answered
    ? `thinks (${record.trigger}${from}): ${answered}`
    : `thinks (${record.trigger}${from})`;
  const cached = record.prompt_tokens
    ? `${count(record.prompt_tokens)} tokens, ${cachedShare(record.cached_tokens, record.prompt_tokens)} cached`
    : "";
  const took = record.latency
    ? `${seconds(record.latency)} after ${seconds(record.wait)} in the queue`
    : "";
  const outcome = record.outcome === ThoughtOutcome.ACTED ? "" : record.outcome;
  const more = join(
    outcome,
    record.problem,
    record.reason && `because: ${record.reason}`,
    cached,
    took,
  );
  return {
    what,
    more,
    tone: [ThoughtOutcome.ACTED, ThoughtOutcome.DROPPED].includes(record.outcome)
      ? "thought"
      : "trouble",
  };
}

function recall(record) {
  const found =
    record.searched === false ? "the index could not be searched" : `found ${record.found}`;
  const took = record.seconds ? seconds(record.seconds) : "";
  return {
    what: `recalls: ${record.question}`,
    more: join(found, took, `for: ${record.by}`),
    tone: "thought",
  };
}

function guard({ op, before, reason }) {
  return { what: `${op} of its answer: ${before}`, more: reason, tone: "quiet" };
}

function compaction(record) {
  const range = record.last ? `memories ${record.first}–${record.last}` : "";
  const tokens = record.number
    ? `${count(record.tokens_before)} → ${count(record.tokens_after)} tokens`
    : "";
  const more = join(
    reason(record.reason),
    range,
    tokens,
    record.seconds ? seconds(record.seconds) : "",
    record.problem,
  );
  const vain =
    record.number && record.tokens_after >= record.tokens_before ? ", no tokens saved" : "";
  const tone = vain || record.outcome === CompactionOutcome.FAILED ? "trouble" : "milestone";
  return {
    what: `compaction${record.number ? ` ${record.number}` : ""}: ${outcome(record.outcome)}${vain}`,
    more,
    tone,
  };
}

function sleep(record) {
  const isWork = record.op === SleepOp.STEP || record.op === SleepOp.THINKS_OVER;
  const step = record.op === SleepOp.STEP ? `asleep: ${record.step}` : record.op;
  const tone = record.problem ? "trouble" : isWork ? "quiet" : "milestone";
  return { what: step, more: join(record.why, record.problem), tone };
}

/** A move that others saw is in their memories, too. */
function move({ origin, place, seen, usual }) {
  const where = place ? ` to ${place}` : " out of the world";
  const unseen = usual ? "on the usual way, which nobody remembers" : "nobody saw it";
  return {
    what: origin ? `goes from ${origin}${where}` : `comes${where}`,
    more: seen ? "" : unseen,
    tone: seen ? "quiet" : "moved",
  };
}

/** Several agents who leave a place at once, unseen. */
export function left({ origin }) {
  return { what: `leave ${origin} at the same time`, more: "nobody remembers it" };
}

function error(record) {
  return {
    what: record.text,
    more: [record.level, record.subsystem].filter(Boolean).join(" "),
    tone: "trouble",
  };
}

function health(record) {
  const what = `the model server ${record.provider} (${record.host}) ${record.ready ? "is ready" : "is not ready"}`;
  return { what, more: record.problem, tone: record.ready ? "milestone" : "trouble" };
}

function world(record) {
  return { what: `the world ${record.op}`, more: record.text, tone: "milestone" };
}

function unknown(record) {
  return {
    what: String(record.kind ?? "something"),
    more: JSON.stringify(record).slice(0, 500),
    tone: "quiet",
  };
}

function join(...parts) {
  return parts.filter(Boolean).join(" · ");
}
