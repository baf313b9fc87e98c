"""Reads BEAM as its authors publish it: a folder of chats between a user and an assistant.

Tavakoli et al., 2025, arXiv:2510.27246. Each chat has a folder with ``chat.json`` and
``probing_questions/probing_questions.json``; a chat that was cut to its size has
``chat_trunecated.json`` (the authors' spelling), too, and its questions are about that one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from keepsake.errors import KeepsakeError

CHAT = "chat.json"
_CUT = "chat_trunecated.json"
_QUESTIONS = Path("probing_questions", "probing_questions.json")
USER = "user"
ABSTENTION = "abstention"
_MARK = re.compile(r"\s*->->[\s\d,N/A]*$")
"""The place in the authors' plan that a message was made for, at its end: ``->-> 1,4``."""
_ANSWERS = ("answer", "ideal_answer", "ideal_response", "ideal_summary", "expected_compliance")
"""The keys of the right answer, by kind of question."""


def beam(folder: Path) -> Mapping[str, Any]:
    """Return a chat with its questions in Keepsake's own format.

    Raises:
        KeepsakeError: It has no questions.
        OSError: A file cannot be read.
        ValueError: A file is not JSON.
        KeyError: A file lacks something.
    """
    if not (folder / _QUESTIONS).exists():
        what = f"{folder} has a {CHAT} and no {_QUESTIONS}"
        raise KeepsakeError(what, "Copy the folder as BEAM's authors publish it")
    cut = folder / _CUT
    chat = json.loads((cut if cut.exists() else folder / CHAT).read_text(encoding="utf-8"))
    asked = json.loads((folder / _QUESTIONS).read_text(encoding="utf-8"))
    turns = [turn for batch in chat for turn in _turns(batch)]
    known = {turn["id"] for turn in turns}
    questions = [
        _question(kind, each, known) for kind, questions in asked.items() for each in questions
    ]
    return {"name": f"chat {folder.name}", "turns": turns, "questions": questions}


def _turns(batch: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the messages of a batch, which is one session of some days."""
    for turn in batch["turns"]:
        for message in turn:
            yield {
                "id": str(message["id"]),
                "session": str(batch["batch_number"]),
                "speaker": message["role"],
                "time": _day(message.get("time_anchor") or ""),
                "text": _MARK.sub("", message["content"]),
            }


def _day(written: str) -> str:
    """Return ``March-15-2024`` in ISO 8601; empty for no date, or another form."""
    try:
        return datetime.strptime(written, "%B-%d-%Y").date().isoformat()
    except ValueError:
        return ""


def _question(kind: str, asked: Mapping[str, Any], known: set[str]) -> dict[str, Any]:
    named = [str(each) for each in _numbers(asked.get("source_chat_ids"))]
    return {
        "text": asked["question"],
        "kind": kind.replace("_", " "),
        "asker": USER,
        "answer": next((asked[key] for key in _ANSWERS if key in asked), None),
        "evidence": [] if kind == ABSTENTION else [each for each in named if each in known],
        "lost": [each for each in named if each not in known],
        "answerable": kind != ABSTENTION,
    }


def _numbers(ids: Any) -> Iterator[int]:
    """Yield the ids of messages, which some questions have by what they state."""
    if isinstance(ids, Mapping):
        ids = list(ids.values())
    if isinstance(ids, list):
        for each in ids:
            yield from _numbers(each)
    elif ids is not None:
        yield ids
