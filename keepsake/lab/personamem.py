"""Reads PersonaMem as its authors publish it: questions in CSV, chats in JSON lines.

Jiang et al., 2025, arXiv:2504.14225. ``questions_32k.csv`` stands beside
``shared_contexts_32k.jsonl``, whose lines are ``{id: [{"role": …, "content": …}, …]}``. A question
is asked after the first ``end_index_in_shared_context`` messages. No evidence is marked, so only
answers can be measured.
"""

from __future__ import annotations

import ast
import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from keepsake.errors import KeepsakeError
from keepsake.lab.rows import AGAIN, TableRow, csv_rows, json_rows

QUESTIONS = "questions_*.csv"
_TEXT = "user_question_or_message"
_CONTEXT = "shared_context_id"
_END = "end_index_in_shared_context"
_NEEDED = ("persona_id", "question_type", _TEXT, "correct_answer", "all_options", _CONTEXT, _END)
_LABEL = re.compile(r"\s*\(?([a-z])\)\s*", re.IGNORECASE)
"""The letter before an option: ``(c) Try the market``."""


def personamem(path: Path) -> Iterator[Mapping[str, Any]]:
    """Yield the chats in Keepsake's own format, one for each message at which questions are asked.

    ``path``: The file of questions.

    Raises:
        KeepsakeError: A file is missing or not in that form.
    """
    beside = path.with_name(f"{path.stem.replace('questions', 'shared_contexts', 1)}.jsonl")
    if not beside.exists():
        raise KeepsakeError(f"{beside} is missing", "Copy it beside the questions")
    chats = {str(name): chat for row in json_rows(beside) for name, chat in row.items()}
    asked = defaultdict[tuple[str, int], list[TableRow]](list)
    for number, row in enumerate(csv_rows(path, _NEEDED), 1):
        name = str(row[_CONTEXT])
        if name not in chats:
            raise KeepsakeError(f"{path}: row {number}: {beside.name} has no chat {name}", AGAIN)
        asked[name, _end(row, f"{path}: row {number}")].append(row)
    for (name, end), rows in asked.items():
        yield {
            "name": f"{name[:12]}, {end} messages",
            "turns": list(_turns(chats[name], end, f"{beside}: chat {name}")),
            "questions": [_question(row, path) for row in rows],
            "people": sorted({str(row["persona_id"]) for row in rows}),
        }


def _end(row: TableRow, where: str) -> int:
    written = str(row[_END])
    if not written.isdecimal():
        raise KeepsakeError(f"{where}: {_END} is no number: {written:.20}", AGAIN)
    return int(written)


def _turns(chat: Any, end: int, where: str) -> Iterator[dict[str, str]]:
    if not isinstance(chat, list):
        raise KeepsakeError(f"{where} is no list of messages", AGAIN)
    for number, message in enumerate(chat[:end]):
        if not isinstance(message, Mapping) or not {"role", "content"} <= message.keys():
            raise KeepsakeError(f"{where}: message {number} lacks 'role' or 'content'", AGAIN)
        yield {"id": str(number), "speaker": message["role"], "text": message["content"]}


def _question(row: TableRow, path: Path) -> dict[str, Any]:
    return {
        "text": row[_TEXT],
        "kind": str(row["question_type"]).replace("_", " "),
        "asker": "user",
        "answer": _right(_options(row["all_options"], path), str(row["correct_answer"])),
    }


def _options(written: Any, path: Path) -> Sequence[str]:
    """Return the options, which some versions write as JSON and some as a list of Python's."""
    for read in (json.loads, ast.literal_eval):
        try:
            options = read(written)
        except (ValueError, SyntaxError):
            continue
        if isinstance(options, list):
            return [str(each) for each in options]
    raise KeepsakeError(f"{path}: all_options is no list: {written:.60}", AGAIN)


def _right(options: Sequence[str], label: str) -> str:
    """Return the text of the option with a label such as ``(c)``; the label if there is none."""
    wanted = _LABEL.match(label)
    for option in options:
        found = _LABEL.match(option)
        if wanted and found and found[1].casefold() == wanted[1].casefold():
            return option[found.end() :]
    return label
