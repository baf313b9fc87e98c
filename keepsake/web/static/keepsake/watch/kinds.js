/* Kinds and outcomes of the library. Written by python -m keepsake.web.kinds. */

export const AgentState = Object.freeze({
  "IDLE": "idle",
  "WAITING": "waiting for the model",
  "ASLEEP": "asleep",
  "GOING_HOME": "going home to sleep",
  "PAUSED": "paused",
  "UNWRITABLE": "memory cannot be written",
  "GONE": "gone",
  "OPENING": "opening"
});

export const QuestionKind = Object.freeze({
  "SAID": "said",
  "KNOWS": "knows",
  "LOST": "lost",
  "THEN": "then",
  "NEXT": "next",
  "WHO": "who",
  "WHERE": "where"
});

export const Author = Object.freeze({
  "AGENT": "agent",
  "BUILDER": "builder",
  "RULES": "rules",
  "NIGHT": "night",
  "HAND": "hand",
  "WORLD": "world",
  "LAB": "lab"
});

export const By = Object.freeze({
  "MEANING": "meaning",
  "WORDS": "words"
});

export const CompactionOutcome = Object.freeze({
  "FIRST": "first summary",
  "WATERFALL": "waterfall",
  "SHORTENED": "summaries shortened",
  "NOTHING": "nothing to compact",
  "FAILED": "failed"
});

export const CompactReason = Object.freeze({
  "COUNT": "count",
  "HIGH": "high",
  "SLEEP": "sleep",
  "EMERGENCY": "emergency",
  "MANUAL": "manual"
});

export const EditableBook = Object.freeze({
  "JOURNAL": "journal",
  "PEOPLE": "people",
  "NOTES": "notes",
  "PINS": "pins",
  "PROMISES": "promises",
  "PLANS": "plans"
});

export const EventKind = Object.freeze({
  "THOUGHT": "thought",
  "GUARD": "guard",
  "MEMORY": "memory",
  "RECALL": "recall",
  "COMPACTION": "compaction",
  "HEALTH": "health",
  "ERROR": "error",
  "SLEEP": "sleep",
  "MOVE": "move",
  "WORLD": "world",
  "PAIR_TALK": "pair_talk",
  "AGREEMENT": "agreement",
  "CONSENT": "consent",
  "CALL": "call"
});

export const HappeningKind = Object.freeze({
  "SPEECH": "speech",
  "DEED": "deed",
  "POSE": "pose",
  "SIGHT": "sight",
  "RESULT": "result"
});

export const Hold = Object.freeze({
  "WINDOW": "window",
  "SUMMARY": "summary",
  "BOOK": "book",
  "RECALL": "recall"
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

export const Kept = Object.freeze({
  "VERBATIM": "verbatim",
  "SHORTER": "shorter",
  "LIKELY": "likely",
  "UNSURE": "unsure",
  "WHISPERED": "whispered",
  "GONE": "gone"
});

export const LossSort = Object.freeze({
  "OTHERS": "others",
  "ERRANDS": "errands",
  "OWN": "own",
  "PASSING": "passing"
});

export const KnownVerb = Object.freeze({
  "SAY": "say",
  "WHISPER": "whisper",
  "TALK": "talk",
  "SHOUT": "shout",
  "EMOTE": "emote",
  "LOOK": "look",
  "EXAMINE": "examine",
  "GO": "go",
  "WALK": "walk",
  "GET": "get",
  "DROP": "drop",
  "GIVE": "give",
  "FOLLOW": "follow",
  "STAY": "stay",
  "WAIT": "wait",
  "RECALL": "recall",
  "REMEMBER": "remember",
  "PROMISE": "promise",
  "KEPT": "kept",
  "PLAN": "plan",
  "DONE": "done",
  "CANCEL": "cancel",
  "AGREE": "agree",
  "DECLINE": "decline",
  "NOTE": "note",
  "FORGET": "forget",
  "PIN": "pin",
  "UNPIN": "unpin"
});

export const LineType = Object.freeze({
  "MEMORY": "memory",
  "REPEAT": "repeat",
  "COMPACTION": "compaction",
  "UNDO": "undo",
  "EDIT": "edit",
  "SOURCES": "sources",
  "CLEAR": "clear",
  "PLAN": "plan"
});

export const Link = Object.freeze({
  "RESTS_ON": "rests on",
  "RECALLED": "recalled in its prompt",
  "QUOTED": "quoted in its prompt",
  "WINDOW": "in its prompt",
  "SUMMARY": "in a summary in its prompt",
  "EARLIER": "heard before"
});

export const Manner = Object.freeze({
  "SAY": "say",
  "WHISPER": "whisper",
  "SHOUT": "shout",
  "CHANNEL": "channel"
});

export const MemoryKind = Object.freeze({
  "PERCEPTION": "perception",
  "ACT": "act",
  "RESULT": "result"
});

export const MemoryOp = Object.freeze({
  "APPEND": "append",
  "REPEAT": "repeat",
  "UNDO": "undo",
  "EDIT": "edit",
  "REINDEX": "reindex",
  "NOTE": "note",
  "UNNOTE": "unnote",
  "PIN": "pin",
  "UNPIN": "unpin",
  "NOTICED": "noticed",
  "CLOSED": "closed",
  "PLAN": "plan",
  "JOURNAL": "journal",
  "MET": "met",
  "PROFILE": "profile",
  "CONCLUDED": "concluded",
  "RENAMED": "renamed",
  "BEGINS": "begins",
  "ENDS": "ends"
});

export const MotiveKind = Object.freeze({
  "TOLD": "told",
  "PROMISED": "promised",
  "PLANNED": "planned",
  "SECRET": "secret",
  "SAID": "said"
});

export const NewsKind = Object.freeze({
  "TOLD": "told",
  "ASKED": "asked"
});

export const PlanState = Object.freeze({
  "OPEN": "open",
  "DOING": "doing",
  "DONE": "done",
  "DROPPED": "dropped",
  "MISSED": "missed"
});

export const RecalledKind = Object.freeze({
  "MEMORY": "memory",
  "SUMMARY": "summary",
  "NOTE": "note"
});

export const SleepOp = Object.freeze({
  "FALLS_ASLEEP": "falls asleep",
  "WAKES": "wakes",
  "STEP": "step",
  "THINKS_OVER": "thinks over a talk"
});

export const ServerHealth = Object.freeze({
  "READY": "ready",
  "UNASKED": "not asked yet"
});

export const Standing = Object.freeze({
  "WINDOW": "window",
  "RECENT": "recent",
  "LONGTERM": "longterm",
  "LOST": "lost"
});

export const ThoughtOutcome = Object.freeze({
  "ACTED": "acted",
  "REFUSED": "refused",
  "NO_ANSWER": "no answer",
  "TOO_LARGE": "too large",
  "DROPPED": "dropped",
  "BROKE_OFF": "broke off"
});

export const SummaryAuthor = Object.freeze({
  "EXTRACTIVE": "extractive",
  "EDITED": "edited by hand",
  "UNCHANGED": "unchanged"
});

export const Tier = Object.freeze({
  "LONGTERM": "longterm",
  "RECENT": "recent"
});

export const Way = Object.freeze({
  "SAID": "said",
  "TOLD": "told",
  "OVERHEARD": "overheard",
  "WHISPERED": "whispered",
  "DID": "did",
  "GOT": "got",
  "SAW": "saw"
});
