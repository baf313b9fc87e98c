/* An event of the log in words: what happened, what more there is to say, and how it looks. */

import { count, many, percent, seconds } from "./words.js";

/** Which kinds a reader may switch off, and what they are called. */
export const GROUPS = {
  memory: "memories", thought: "thoughts", recall: "recall", compaction: "compactions",
  sleep: "sleep", error: "errors", health: "servers", world: "world",
};

/** Which of them concern the world, and no agent. */
export const WORLDLY = ["error", "health", "world"];

/** `{ what, more, tone }` of a record; the tone is a class of the stylesheet. */
export function describe(kind, record) {
  return (SAYS[kind] || unknown)(record);
}

const SAYS = { memory, thought, recall, compaction, sleep, error, health, world };

function memory(record) {
  const text = record.text ?? "";
  if (!text || !["append", "repeat"].includes(record.op)) return changed(record);
  const times = record.times > 1 ? `×${record.times}` : "";
  const more = join(times, record.place, record.reason && `because: ${record.reason}`);
  return { what: record.of === "act" ? `> ${text}` : text, more, tone: record.of || "perception" };
}

function changed(record) {
  const size = record.size ? many(record.size, "character") : "";
  const what = (CHANGES[record.op] ?? ((it) => `its memory: ${it.op}`))(record);
  const more = join(record.title && !what.includes(record.title) && record.title, size,
    record.by && `by ${record.by}`, record.problem);
  return { what, more, tone: record.problem ? "trouble" : "quiet" };
}

/** What is done to a memory, but for what it remembers anew; `n` is a memory or a compaction. */
const CHANGES = {
  append: (it) => `remembers something: memory ${it.n}`,
  repeat: (it) => `lives through memory ${it.n} once more`,
  undo: (it) => (it.n ? `compaction ${it.n} is taken back` : "no compaction is taken back"),
  rate: (it) => {
    const recall = it.found === null || it.found === undefined ? "" : `, with recall ${count(it.found)}`;
    return `asked after compaction ${it.n}: the prompt answers ${count(it.answered ?? 0)} of ${many(it.asked ?? 0, "question")}${recall}`;
  },
  edit: (it) => (it.about ? `what it knows of ${it.about} is changed by hand`
    : `its ${it.of === "longterm" ? "long-term" : "short-term"} summary is changed by hand`),
  clear: (it) => `its prompt is emptied, up to memory ${it.n}`,
  "called back": (it) => `calls ${many(it.times || 1, "memory", "memories")} back, from memory ${it.n} on`,
  note: (it) => `writes a note: ${it.title || "without a title"}`,
  unnote: (it) => `throws a note away: ${it.title || "without a title"}`,
  pin: (it) => `something is pinned${it.title ? `: ${it.title}` : ""}`,
  unpin: (it) => `something is pinned no more${it.title ? `: ${it.title}` : ""}`,
  noticed: (it) => `a ${it.of || "rule"} is noticed in memory ${it.n}`,
  closed: (it) => `a ${it.of || "rule"} holds no longer`,
  journal: (it) => `writes in its journal${it.n ? `, of what began with memory ${it.n}` : ""}`,
  unjournal: () => "an entry is taken out of its journal",
  weighed: () => "thinks an entry of its journal over: it matters more or less now",
  merged: (it) => (it.about ? `${it.about}, known by name so far, is known`
    : `${many(it.times || 1, "entry", "entries")} of its journal and another become one`),
  folded: (it) => `${many(it.times || 1, "entry", "entries")} of its journal become one line`,
  met: (it) => `begins to know ${it.about}`,
  profile: (it) => `works what it lived through, up to memory ${it.n}, into what it knows of ${it.about}`,
  learned: (it) => `learns something of ${it.about}${it.of && `: ${it.of}`}`,
  superseded: (it) => `something holds no longer of ${it.about}${it.of && `: ${it.of}`}`,
  concluded: (it) => `concludes something of ${it.about}${it.of && `: ${it.of}`}`,
  forgotten: (it) => `forgets something of ${it.about}${it.of && `: ${it.of}`}`,
  renamed: (it) => (it.of === "agent" ? `has another name; it was ${it.about}`
    : `knows someone or something under another name: ${it.about}`),
  begins: (it) => `begins, with ${many(it.n, "memory", "memories")}`,
  ends: (it) => `ends, with ${many(it.n, "memory", "memories")}`,
  mended: () => "a torn line at the end of its archive is set aside",
  reindex: () => "its recall index is made anew",
  lost: (it) => `${many(it.times || 1, "memory", "memories")} found no room on the disk, and ${it.times > 1 ? "are" : "is"} lost`,
};

function thought(record) {
  const answered = record.command ?? record.answer?.trim();
  const from = record.source ? ` by ${record.source}` : "";
  const what = answered ? `thinks (${record.trigger}${from}): ${answered}` : `thinks (${record.trigger}${from})`;
  const cached = record.prompt_tokens
    ? `${count(record.prompt_tokens)} tokens, ${percent(record.cached_tokens / record.prompt_tokens)} cached` : "";
  const took = record.latency ? `${seconds(record.latency)} after ${seconds(record.wait)} in the queue` : "";
  const outcome = record.outcome === "acted" ? "" : record.outcome;
  const more = join(outcome, record.problem, record.reason && `because: ${record.reason}`, cached, took);
  return { what, more, tone: ["acted", "dropped"].includes(record.outcome) ? "thought" : "trouble" };
}

function recall(record) {
  const found = record.searched === false ? "nothing could be searched" : `found ${record.found}`;
  const took = record.seconds ? seconds(record.seconds) : "";
  return { what: `recalls: ${record.question}`, more: join(found, took, `for: ${record.by}`), tone: "thought" };
}

function compaction(record) {
  const range = record.last ? `memories ${record.first}–${record.last}` : "";
  const tokens = `${count(record.tokens_before)} → ${count(record.tokens_after)} tokens`;
  const more = join(record.reason, range, tokens, record.seconds ? seconds(record.seconds) : "", record.problem);
  const bad = record.outcome === "failed" || record.good === false;
  return { what: `compaction ${record.number || ""}: ${record.outcome}`, more, tone: bad ? "trouble" : "milestone" };
}

function sleep(record) {
  const step = record.op === "step" ? `asleep: ${record.step}` : record.op;
  return { what: step, more: join(record.why, record.problem), tone: record.problem ? "trouble" : "milestone" };
}

function error(record) {
  return { what: record.text, more: record.level, tone: "trouble" };
}

function health(record) {
  const what = `${record.provider} at ${record.host} ${record.ready ? "is ready" : "is not ready"}`;
  return { what, more: record.problem, tone: record.ready ? "milestone" : "trouble" };
}

function world(record) {
  return { what: `the world ${record.op}`, more: record.text, tone: "milestone" };
}

function unknown(record) {
  return { what: String(record.kind ?? "something"), more: JSON.stringify(record).slice(0, 500), tone: "quiet" };
}

function join(...parts) {
  return parts.filter(Boolean).join(" · ");
}
