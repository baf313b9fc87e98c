"""The data files for recall, in our own format."""

import json
from pathlib import Path

from keepsake.lab.conversation import ConversationTurn, MarkedQuestion, read_questions, read_turns


def read_data(path: Path) -> tuple[list[ConversationTurn], list[MarkedQuestion]]:
    """The turns of a data file, and its questions."""
    data = json.loads(path.read_text(encoding="utf-8"))
    turns = read_turns(data)
    return turns, read_questions(data.get("questions"), {turn.id for turn in turns})
