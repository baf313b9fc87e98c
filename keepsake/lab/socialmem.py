"""Reads SocialMemBench as its author publishes it: groups of friends, in tables of Parquet.

Owolabi, 2026, arXiv:2605.17789. The folder has ``conversations.parquet`` and ``qa.parquet``; the
tables of networks and personas are not needed. The evidence is ``evidence_anchors_json``.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from keepsake.errors import KeepsakeError
from keepsake.lab.rows import AGAIN, TableRow, found_in, parquet_rows

TALKS = "conversations.parquet"
_QUESTIONS = "qa.parquet"
_OPTIONS = "options_json"
_ANCHORS = "evidence_anchors_json"
_ORDER = ("session_index", "message_index")
_TALK = (
    "network_id",
    "session_id",
    *_ORDER,
    "session_date",
    "turn_id",
    "speaker_display_name",
    "message",
)
_QUESTION = ("qa_id", "network_id", "question", "query_type")
_CHOICE = "multiple_choice"


def socialmem(folder: Path) -> Iterator[Mapping[str, Any]]:
    """Yield the networks that have questions, in Keepsake's own format.

    Raises:
        KeepsakeError: A file is missing or not in that form.
    """
    asked_in = folder / _QUESTIONS
    if not asked_in.exists():
        raise KeepsakeError(f"{asked_in} is missing", "Copy it beside the conversations")
    talks = defaultdict[str, list[TableRow]](list)
    for row in parquet_rows(folder / TALKS, _TALK):
        talks[str(row["network_id"])].append(row)
    asked = defaultdict[str, list[TableRow]](list)
    for row in parquet_rows(asked_in, _QUESTION):
        network = str(row["network_id"])
        if network not in talks:
            raise KeepsakeError(f"{asked_in}: {TALKS} has no network {network}", AGAIN)
        asked[network].append(row)
    for network, questions in asked.items():
        rows = sorted(talks[network], key=lambda row: tuple(int(row[each]) for each in _ORDER))
        turns = [
            {
                "id": str(row["turn_id"]),
                "speaker": row["speaker_display_name"],
                "time": str(row["session_date"]),
                "text": row["message"],
                "session": str(row["session_id"]),
            }
            for row in rows
        ]
        known = {turn["id"] for turn in turns}
        yield {
            "name": network,
            "turns": turns,
            "questions": [_question(row, asked_in, known) for row in questions],
        }


def _question(row: TableRow, path: Path, known: set[str]) -> dict[str, Any]:
    anchors = found_in(row.get(_ANCHORS) or "[]", path, _ANCHORS)
    named = [str(each["turn_id"]) for each in anchors if "turn_id" in each]
    return {
        "text": row["question"],
        "kind": str(row["query_type"]),
        "answer": _answer(row, path),
        "evidence": [each for each in named if each in known],
        "lost": [each for each in named if each not in known],
    }


def _answer(row: TableRow, path: Path) -> Any:
    """Return the text of the right option, or the free answer."""
    option = row.get("correct_option")
    if row.get("answer_format") == _CHOICE and option:
        options = found_in(row.get(_OPTIONS) or "{}", path, _OPTIONS)
        if isinstance(options, list):
            options = dict(zip("ABCDEFGHIJ", options, strict=False))
        return options.get(option, option)
    return row.get("answer")
