"""The sections, kinds and outcomes that pages know; the last two written as a JavaScript module.

``python -m keepsake.web.kinds`` writes it after an enum has changed; a test compares the two.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path

from keepsake.agent.attention.impulse import ImpulseKind
from keepsake.agent.attention.presence import AgentState
from keepsake.archive.line_types import LineType
from keepsake.archive.records import MemoryKind
from keepsake.archive.summaries import EDITED, Tier
from keepsake.books.editing import EditableBook
from keepsake.books.plan import PlanState
from keepsake.events.types import KINDS
from keepsake.events.values import (
    Author,
    CompactionOutcome,
    CompactReason,
    MemoryOp,
    RecalledKind,
    SleepOp,
    ThoughtOutcome,
)
from keepsake.happening import HappeningKind, KnownVerb, Manner
from keepsake.memory.summary_text import EXTRACTIVE
from keepsake.memory.types import UNCHANGED
from keepsake.models.queue import READY, UNASKED
from keepsake.tracing.bases import Link
from keepsake.tracing.facts import Way
from keepsake.tracing.kept import Kept
from keepsake.tracing.standing import Hold, Standing
from keepsake.web.asked.shapes import QuestionKind
from keepsake.web.pasts.loss_sorts import LossSort
from keepsake.web.pasts.who_shapes import NewsKind
from keepsake.web.questions.motive import MotiveKind
from keepsake.web.searching import By

MODULE = Path(__file__).parent / "static" / "keepsake" / "watch" / "kinds.js"

SECTIONS = (
    "live",
    "prompt",
    "memory",
    "recall",
    "talk",
    "compactions",
    "charts",
    "why",
    "journal",
    "people",
    "plans",
    "notes",
    "nights",
)
"""The sections of an agent's page."""


def _members(kind: type[StrEnum]) -> dict[str, str]:
    return {each.name: each.value for each in kind}


def _script() -> str:
    """Return the text of the module: a frozen object for each enum."""
    exported: Mapping[str, Mapping[str, str]] = {
        "AgentState": _members(AgentState),
        "QuestionKind": _members(QuestionKind),
        "Author": _members(Author),
        "By": _members(By),
        "CompactionOutcome": _members(CompactionOutcome),
        "CompactReason": _members(CompactReason),
        "EditableBook": _members(EditableBook),
        "EventKind": {kind.upper(): kind for kind in KINDS},
        "HappeningKind": _members(HappeningKind),
        "Hold": _members(Hold),
        "ImpulseKind": _members(ImpulseKind),
        "Kept": _members(Kept),
        "LossSort": _members(LossSort),
        "KnownVerb": _members(KnownVerb),
        "LineType": _members(LineType),
        "Link": _members(Link),
        "Manner": _members(Manner),
        "MemoryKind": _members(MemoryKind),
        "MemoryOp": _members(MemoryOp),
        "MotiveKind": _members(MotiveKind),
        "NewsKind": _members(NewsKind),
        "PlanState": _members(PlanState),
        "RecalledKind": _members(RecalledKind),
        "SleepOp": _members(SleepOp),
        "ServerHealth": {"READY": READY, "UNASKED": UNASKED},
        "Standing": _members(Standing),
        "ThoughtOutcome": _members(ThoughtOutcome),
        "SummaryAuthor": {"EXTRACTIVE": EXTRACTIVE, "EDITED": EDITED, "UNCHANGED": UNCHANGED},
        "Tier": _members(Tier),
        "Way": _members(Way),
    }
    head = "/* Kinds and outcomes of the library. Written by python -m keepsake.web.kinds. */\n"
    objects = (
        f"export const {name} = Object.freeze({json.dumps(members, indent=2)});\n"
        for name, members in exported.items()
    )
    return "\n".join([head, *objects])


SCRIPT = _script()

if __name__ == "__main__":
    MODULE.write_text(SCRIPT, encoding="utf-8")
