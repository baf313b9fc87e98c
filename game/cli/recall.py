"""``keepsake recall serve`` and ``keepsake eval recall``: the agents' recall for benchmarks."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any, TextIO

from rich.table import Table

from game.cli.output import plain_table
from game.index.conversation import Conversation, ConversationTurn, MarkedQuestion, read_questions
from game.mind.errors import KeepsakeError
from game.mind.language.words import writable
from game.mind.ports import Embedder
from game.mind.recall.measure import DEPTHS, Answered, RetrievalScore, scores

_MOST_HITS = 1000
_DEFAULT_HITS = 20
_REQUESTS = (
    'Send {"op": "ingest", "turns": [{"id": "D1:1", "speaker": "Ann", "time": "8 May 2023", '
    '"text": "…"}]} or {"op": "query", "text": "…", "k": 20}'
)


class UnreadableRequest(KeepsakeError):
    """A line that is no request."""


class RecallServer:
    """Answers requests, one JSON object a line, about one conversation at a time."""

    def __init__(self, embedder: Embedder) -> None:
        self._conversation = Conversation(embedder)

    def serve(self, lines: Iterable[str], out: TextIO) -> None:
        """Answer each line with one line until there are no more; blank lines are skipped."""
        for line in lines:
            if line.strip("\ufeff \t\r\n"):
                print(_one_line(self.answer(line)), file=out, flush=True)

    def answer(self, line: str) -> dict[str, Any]:
        """The answer to one request: ``ok``, ``ids`` or ``error``."""
        try:
            return self._answered(_request(line))
        except KeepsakeError as error:
            return {"error": str(error)}

    def _answered(self, request: dict[str, Any]) -> dict[str, Any]:
        if request.get("op") == "ingest":
            self._conversation.ingest(read_turns(request))
            return {"ok": True}
        if request.get("op") == "query":
            return {"ids": self._conversation.query(_text(request), _limit(request))}
        raise UnreadableRequest(f"The op {request.get('op')!r} is unknown", _REQUESTS)


def read_turns(data: Any) -> list[ConversationTurn]:
    """The turns of a request or a data file.

    Raises:
        UnreadableRequest: There is no list of turns.
        UnreadableTurns: One of them has another shape.
    """
    turns = data.get("turns") if isinstance(data, dict) else None
    if not isinstance(turns, list):
        raise UnreadableRequest('There is no list of "turns"', _REQUESTS)
    return [ConversationTurn.read(turn) for turn in turns]


def evaluate(path: Path, embedder: Embedder) -> list[RetrievalScore]:
    """Ask each question of a data file and measure what comes back, by kind of question.

    Raises:
        KeepsakeError: The file cannot be read.
    """
    turns, questions = read_data(path)
    conversation = Conversation(embedder)
    conversation.ingest(turns)
    depth = max(DEPTHS)
    return scores(
        Answered(q.kind, q.evidence, conversation.query(q.text, depth)) for q in questions
    )


def read_data(path: Path) -> tuple[list[ConversationTurn], list[MarkedQuestion]]:
    """Turns and questions of a data file.

    Raises:
        KeepsakeError: It cannot be read, or has another shape.
    """
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UnreadableRequest(f"{path} cannot be read ({error})", _DATA) from error
    turns = read_turns(data)
    return turns, read_questions(data.get("questions"), {turn.id for turn in turns})


_DATA = (
    'A data file is {"turns": [{"id": …, "speaker": …, "time": …, "text": …}], "questions": […]}'
)


def as_table(found: Iterable[RetrievalScore]) -> Table:
    """The scores as a table, in per cent."""
    headings = ("kind", "questions", *(f"recall@{depth}" for depth in DEPTHS), "MRR")
    return plain_table(headings, map(_cells, found), right=headings[1:])


def as_json(found: Iterable[RetrievalScore]) -> list[dict[str, Any]]:
    """The scores for other programs, 0 to 1."""
    return [asdict(score) for score in found]


def _cells(score: RetrievalScore) -> Iterator[str]:
    yield from (score.kind, str(score.questions))
    yield from (f"{100 * score.recall[depth]:.1f}" for depth in DEPTHS)
    yield f"{100 * score.mrr:.1f}"


def _one_line(answer: dict[str, Any]) -> str:
    text = json.dumps(answer, ensure_ascii=False)
    # Half a character, as an id may hold, cannot be written as it is.
    return text if writable(text) == text else json.dumps(answer)


def _request(line: str) -> dict[str, Any]:
    try:
        request = json.loads(line.lstrip("\ufeff"))  # some programs begin with a mark
    except (ValueError, RecursionError) as error:
        raise UnreadableRequest(f"The line is no JSON ({error})", _REQUESTS) from error
    if not isinstance(request, dict):
        raise UnreadableRequest("The line is no JSON object", _REQUESTS)
    return request


def _text(request: dict[str, Any]) -> str:
    text = request.get("text")
    if not isinstance(text, str) or not text.strip():
        raise UnreadableRequest('A query needs a "text"', _REQUESTS)
    return text


def _limit(request: dict[str, Any]) -> int:
    limit = request.get("k", _DEFAULT_HITS)
    if not isinstance(limit, int) or isinstance(limit, bool) or not 1 <= limit <= _MOST_HITS:
        raise UnreadableRequest(f'"k" is a whole number from 1 to {_MOST_HITS}', _REQUESTS)
    return limit
