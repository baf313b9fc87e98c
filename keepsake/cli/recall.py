"""``keepsake recall serve`` and ``keepsake eval recall``: the agents' recall for benchmarks."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any, TextIO

from rich.table import Table

from keepsake.archive.records import Memory
from keepsake.cli.output import plain_table
from keepsake.errors import KeepsakeError
from keepsake.lab.benchmarks import FORMATS_PAGE, UnreadableBenchmark, read_trials
from keepsake.lab.conversation import (
    Conversation,
    ConversationTurn,
    Progress,
    UnreadableTurns,
    read_turns,
)
from keepsake.lab.measure import DEPTHS, Answered, RetrievalScore, scores
from keepsake.lab.trial import Trial
from keepsake.language.words import writable
from keepsake.ports import Embedder

_MOST_HITS = 1000
_DEFAULT_HITS = 20
_REQUESTS = (
    'Send {"op": "ingest", "turns": [{"id": "D1:1", "speaker": "Ann", "time": "8 May 2023", '
    '"text": "…"}]}, {"op": "add", "turns": […]} or {"op": "query", "text": "…", "k": 20}, each on '
    "one line; the file of a benchmark is read by `keepsake eval recall FILE`"
)


class UnreadableRequest(KeepsakeError):
    """A line that is no request."""


class RecallServer:
    """Answers requests, one JSON object a line, about one conversation at a time."""

    def __init__(self, embedder: Embedder) -> None:
        self._conversation = Conversation(embedder)

    def serve(self, lines: Iterable[str], out: TextIO) -> None:
        """Answer each line until there are no more; blank lines are skipped.

        An answer is one line. Before it stand lines ``{"progress": n, "of": m}`` for a request
        that asks for them.
        """

        def write(answer: dict[str, Any]) -> None:
            print(_one_line(answer), file=out, flush=True)

        for line in lines:
            if line.strip("\ufeff \t\r\n"):
                write(self.answer(line, lambda n, of: write({"progress": n, "of": of})))

    def answer(self, line: str, progress: Progress | None = None) -> dict[str, Any]:
        """The answer to one request: ``ok``, ``ids`` or ``error``."""
        try:
            request = _request(line)
            return self._answered(request, progress if request.get("progress") is True else None)
        except KeepsakeError as error:
            return {"error": str(error)}

    def _answered(self, request: dict[str, Any], progress: Progress | None) -> dict[str, Any]:
        match request.get("op"):
            case "ingest":
                self._conversation.ingest(_turns(request), progress)
            case "add":
                self._conversation.add(_turns(request), progress)
            case "query":
                return {"ids": self._conversation.query(_text(request), _limit(request))}
            case None:
                raise UnreadableRequest('The line has no "op"', _REQUESTS)
            case other:
                raise UnreadableRequest(f"The op {other!r:.60} is unknown", _REQUESTS)
        return {"ok": True}


def evaluate(path: Path, embedder: Embedder) -> list[RetrievalScore]:
    """Ask each question of a data file and measure what comes back, by kind of question.

    Questions without evidence are left out.

    Raises:
        KeepsakeError: The file cannot be read, or has no question with evidence.
    """
    answered = [found for trial in read_trials(path) for found in _answers(trial, embedder)]
    if not answered:
        raise UnreadableBenchmark(f"{path} has no question with evidence", FORMATS_PAGE)
    return scores(answered)


def _answers(trial: Trial, embedder: Embedder) -> Iterator[Answered]:
    marked = [question for question in trial.questions if question.evidence]
    if not marked:
        return
    conversation = Conversation(embedder)
    conversation.ingest([_as_turn(memory) for memory in trial.memories])
    for question in marked:
        evidence = frozenset(map(str, question.evidence))
        found = conversation.query(question.text, max(DEPTHS))
        yield Answered(question.kind, evidence, found)


def _as_turn(memory: Memory) -> ConversationTurn:
    time = memory.time.isoformat()
    return ConversationTurn(str(memory.number), memory.source, time, memory.text, memory.place)


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


def _turns(request: dict[str, Any]) -> list[ConversationTurn]:
    try:
        return read_turns(request)
    except UnreadableTurns as error:
        raise UnreadableRequest(error.what, _REQUESTS) from error


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
