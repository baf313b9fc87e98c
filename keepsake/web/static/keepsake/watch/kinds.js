/* Kinds and outcomes of the library. Written by python -m keepsake.web.kinds. */

export const EventKind = Object.freeze({
  "THOUGHT": "thought",
  "GUARD": "guard",
  "MEMORY": "memory",
  "RECALL": "recall",
  "COMPACTION": "compaction",
  "HEALTH": "health",
  "ERROR": "error",
  "SLEEP": "sleep",
  "WORLD": "world",
  "PAIR_TALK": "pair_talk"
});

export const FoundKind = Object.freeze({
  "MEMORY": "memory",
  "SUMMARY": "summary",
  "NOTE": "note"
});

export const ImpulseKind = Object.freeze({
  "ADDRESSED": "addressed",
  "NAMED": "named",
  "GIVEN": "given",
  "ARRIVAL": "arrival",
  "HEARD": "heard",
  "PLAN": "plan",
  "OTHER": "other",
  "IDLE": "idle"
});

export const MemoryKind = Object.freeze({
  "PERCEPTION": "perception",
  "ACT": "act",
  "RESULT": "result"
});

export const ThoughtOutcome = Object.freeze({
  "ACTED": "acted",
  "REFUSED": "refused",
  "NO_ANSWER": "no answer",
  "TOO_LARGE": "too large",
  "DROPPED": "dropped",
  "BROKE_OFF": "broke off"
});
