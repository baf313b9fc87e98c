"""The results of a sweep as one Parquet file: a row a question, one for a cell that failed."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from game.lab.refusing import refusing
from game.lab.sweeps.record import CellRecord
from game.lab.trials.measures import MEASURES, value

_TEXT, _FIGURE, _WHOLE = pa.string(), pa.float64(), pa.int64()
_OF_CELL = {
    **dict.fromkeys(("cell", "source", "memory", "settings", "profile", "judge", "writer"), _TEXT),
    **dict.fromkeys(("seed", "limit", "budget", "recalled"), _WHOLE),
    **dict.fromkeys(("problem", "commit"), _TEXT),
    "cell_seconds": _FIGURE,
}
_OF_QUESTION = {
    **dict.fromkeys(("trial", "question", "kind", "about", "asker", "text", "expected"), _TEXT),
    "answerable": pa.bool_(),
    **dict.fromkeys(("delay_hours", "load"), _FIGURE),
    "evidence": _WHOLE,
    "ranks": pa.list_(_WHOLE),
    "recalled_lines": _WHOLE,
    "memory_tokens": _WHOLE,
    "memory_seconds": _FIGURE,
    **dict.fromkeys(MEASURES, _FIGURE),
    **dict.fromkeys(("answer", "model"), _TEXT),
    "abstained": pa.bool_(),
    **dict.fromkeys(("prompt_tokens", "completion_tokens"), _WHOLE),
    "answer_seconds": _FIGURE,
    **dict.fromkeys(("memories", "thoughts", "thought_tokens"), _FIGURE),
    **dict.fromkeys(("compactions", "window", "over_budget"), _FIGURE),
}
SCHEMA = pa.schema({**_OF_CELL, **_OF_QUESTION}.items())


def write_parquet(records: Sequence[CellRecord], path: Path) -> None:
    """Write everything that was found.

    Raises:
        KeepsakeError: The file cannot be written.
    """
    table = pa.Table.from_pylist([row for each in records for row in _rows(each)], schema=SCHEMA)
    with refusing(f"{path} could not be written", "Free some disk space; what is done is kept"):
        pq.write_table(table, path)


def _rows(record: CellRecord) -> Iterator[dict[str, Any]]:
    told = {
        **record.cell,
        "cell": record.key,
        "source": record.source,
        "settings": json.dumps(record.cell["settings"], sort_keys=True),
        "problem": record.problem,
        "commit": record.versions.get("commit", ""),
        "cell_seconds": record.seconds,
    }
    same = {name: told[name] for name in _OF_CELL}
    yield from ({**same, **_question(row)} for row in record.rows)
    if not record.rows:
        yield same


def _question(row: dict[str, Any]) -> dict[str, Any]:
    known = {name: row.get(name) for name in _OF_QUESTION}
    known["recalled_lines"] = row["recalled"]
    return known | {name: value(row, name) for name in MEASURES}
