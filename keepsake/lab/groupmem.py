"""Reads GroupMemBench as its authors publish it: channels of a firm, and questions by kind.

2026, arXiv:2605.14498. The folder has ``data/final/<domain>/….json``, ``{channel: [message, …]}``,
and ``questions/<domain>/<kind>.jsonl``. The published questions name no evidence; where a row has
``evidence_msg_ids``, these are read.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from keepsake.errors import KeepsakeError, refusing
from keepsake.lab.rows import AGAIN, TableRow, checked, json_rows

DOMAINS = Path("data", "final")
_QUESTIONS = "questions"
_ABSTENTION = "abstention"
_MESSAGE = ("msg_node", "author", "content", "timestamp")
_QUESTION = ("id", "question", "answer", "asking_user_id")


def groupmem(folder: Path) -> Iterator[Mapping[str, Any]]:
    """Yield the domains in Keepsake's own format.

    Raises:
        KeepsakeError: A file is missing or not in that form.
    """
    files = sorted((folder / DOMAINS).glob("*/*.json"))
    if not files:
        raise KeepsakeError(f"{folder / DOMAINS} has no <domain>/….json", AGAIN)
    for path in files:
        domain = path.parent.name
        asked = sorted((folder / _QUESTIONS / domain).glob("*.jsonl"))
        if not asked:
            raise KeepsakeError(f"{folder / _QUESTIONS / domain} has no .jsonl file", AGAIN)
        turns = _turns(path)
        known = {turn["id"] for turn in turns}
        yield {
            "name": domain,
            "turns": turns,
            "questions": [
                _question(row, file.stem, known)
                for file in asked
                for row in json_rows(file, _QUESTION)
            ],
        }


def _turns(path: Path) -> Sequence[dict[str, str]]:
    """Return the messages of all channels in order of time."""
    with refusing(f"{path} cannot be read", AGAIN, ValueError):
        channels = json.loads(path.read_text(encoding="utf-8"))
    if not isinstance(channels, Mapping):
        raise KeepsakeError(f"{path} is no object of channels", AGAIN)
    found = []
    for channel, messages in channels.items():
        rows = messages if isinstance(messages, list) else [messages]
        for row in checked(rows, path, _MESSAGE):
            found.append(
                {
                    "id": str(row["msg_node"]),
                    "speaker": str(row["author"]),
                    "time": str(row["timestamp"]),
                    "text": str(row["content"]),
                    "place": str(channel),
                    "session": f"{channel} {str(row['timestamp'])[:10]}",
                }
            )
    return sorted(found, key=lambda turn: (turn["time"], turn["id"]))


def _question(row: TableRow, kind: str, known: set[str]) -> dict[str, Any]:
    named = [str(each) for each in row.get("evidence_msg_ids") or ()]
    answerable = kind != _ABSTENTION
    return {
        "text": row["question"],
        "kind": kind.replace("_", " "),
        "asker": str(row["asking_user_id"]),
        "answer": row["answer"] if answerable else None,
        "evidence": [each for each in named if each in known] if answerable else [],
        "lost": [each for each in named if each not in known],
        "answerable": answerable,
    }
