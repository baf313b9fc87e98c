/* Outcomes, reasons and authors of compactions, and the parts of a prompt, in words for people. */

import { Author, CompactReason, CompactionOutcome, SummaryAuthor } from "./kinds.js";

const OUTCOMES = {
  [CompactionOutcome.FIRST]: "first summary",
  [CompactionOutcome.WATERFALL]:
    "a new short-term summary; the one before went into the long-term summary",
  [CompactionOutcome.SHORTENED]: "summaries shortened",
  [CompactionOutcome.NOTHING]: "nothing to compact",
  [CompactionOutcome.FAILED]: "failed",
};
const REASONS = {
  [CompactReason.COUNT]: "its window was full",
  [CompactReason.HIGH]: "its prompts were getting too long",
  [CompactReason.SLEEP]: "it slept",
  [CompactReason.EMERGENCY]: "the next prompt would have been too long",
  [CompactReason.MANUAL]: "a builder asked for it",
};
const AUTHORS = {
  [SummaryAuthor.EXTRACTIVE]: "sentences picked by rules, no model",
  [SummaryAuthor.EDITED]: "edited by hand",
  [SummaryAuthor.UNCHANGED]: "both earlier summaries, word for word; no model",
};

/** Who changed a memory or a book. */
const CHANGED_BY = {
  [Author.AGENT]: "by the agent",
  [Author.BUILDER]: "by a builder",
  [Author.RULES]: "by rule, without a model",
  [Author.NIGHT]: "by the agent's model, while it slept",
  [Author.HAND]: "by hand, in the file",
  [Author.WORLD]: "as its time came",
  [Author.LAB]: "by a measurement",
};

/** Parts of a prompt whose titles say too little. */
const PARTS = {
  window: "newest memories, word for word",
  headings: "headings and rules",
  deeds: "what it can do",
  situation: "where it is, and what is there",
  "what it answers": "what was said or done to it",
};

/** A part of a prompt, by its title. */
export function partName(title) {
  return PARTS[title] ?? title;
}

/** How a compaction ended. */
export function outcome(value) {
  return OUTCOMES[value] ?? value;
}

/** Why a compaction was made, or is due. */
export function reason(value) {
  return REASONS[value] ?? value;
}

/** Who changed a memory or a book. */
export function changedBy(value) {
  return CHANGED_BY[value] ?? `by ${value}`;
}

/** Who wrote a summary; empty if that is not known. */
export function author(model) {
  return AUTHORS[model] ?? (model ? `by the model ${model}` : "");
}
