"""The data files for recall, in our own format."""

import json
from dataclasses import dataclass
from pathlib import Path

from keepsake.lab.benchmarks import read_trials
from keepsake.lab.conversation import ConversationTurn, read_turns


@dataclass(frozen=True)
class MarkedQuestion:
    """A question with the ids of the turns that answer it."""

    text: str
    kind: str
    evidence: frozenset[str]


def read_data(path: Path) -> tuple[list[ConversationTurn], list[MarkedQuestion]]:
    """The turns of a data file, and its questions."""
    turns, (trial,) = read_turns(json.loads(path.read_text(encoding="utf-8"))), read_trials(path)
    return turns, [
        MarkedQuestion(q.text, q.kind, frozenset(turns[n - 1].id for n in q.evidence))
        for q in trial.questions
    ]
