"""The report of a sweep (one HTML file that needs nothing beside it), and its rows as Parquet."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from jinja2 import Environment, FileSystemLoader

from keepsake.errors import refusing
from keepsake.lab.charts import CHARTS, as_svg
from keepsake.lab.comparing import HOURS, SourceResults, compared, over_time
from keepsake.lab.measures import COSTS, MEASURES, ROUNDS, figure, value
from keepsake.lab.sweep import CellRecord
from keepsake.lab.sweep_plan import SweepPlan

TEMPLATE = "report.html.j2"
_NAMES = {**MEASURES, **COSTS}


def write_report(plan: SweepPlan, records: Sequence[CellRecord], command: str, path: Path) -> None:
    """Write the report of the cells of a plan.

    Raises:
        KeepsakeError: The file cannot be written.
    """
    loader = FileSystemLoader(Path(__file__).parent)
    page = Environment(loader=loader, autoescape=True, trim_blocks=True, lstrip_blocks=True)
    page.filters["figure"], page.globals["names"] = figure, _NAMES
    page.globals["over_time"], page.globals["times"] = over_time, HOURS
    text = page.get_template(TEMPLATE).render(
        plan=plan,
        command=command,
        records=records,
        failed=[record for record in records if record.problem],
        seconds=sum(record.seconds for record in records),
        sources=[(found, _charts(found)) for found in compared(records)],
        versions=_versions(records),
        configurations=[_configuration(record) for record in records],
        rounds=ROUNDS,
    )
    with refusing(f"{path} could not be written", "Free some disk space; what is done is kept"):
        path.write_text(text, encoding="utf-8")


def _charts(found: SourceResults) -> list[tuple[str, str]]:
    return [(name, svg) for name in CHARTS if (svg := as_svg(name, found))]


def _versions(records: Sequence[CellRecord]) -> list[tuple[str, int]]:
    """Each state of the program that had a part in it, with how many cells it ran."""
    told = Counter(", ".join(f"{n} {v}" for n, v in each.versions.items()) for each in records)
    return told.most_common()


def _configuration(record: CellRecord) -> dict[str, Any]:
    left_out = ("memory", "settings", "source", "seed")
    rest = {name: each for name, each in record.cell.items() if name not in left_out and each}
    source = {name: each for name, each in record.cell["source"].items() if each and name != "path"}
    return {"record": record, "rest": json.dumps(rest), "source": json.dumps(source)}


# -- the rows


_TEXT, _FIGURE, _WHOLE, _YES = pa.string(), pa.float64(), pa.int64(), pa.bool_()
_OF_CELL = {
    "cell": (_TEXT, "Which cell: the name of its file in `cells`."),
    "source": (_TEXT, "What was lived through, as the report calls it."),
    "memory": (_TEXT, "The memory's name."),
    "settings": (_TEXT, "Its settings, as JSON."),
    "profile": (_TEXT, "The profile of llm.md that answered; empty where nobody did."),
    "judge": (_TEXT, "The one that judged the answers."),
    "writer": (_TEXT, "The one that wrote the memory's summaries; empty for rules."),
    "seed": (_WHOLE, "The dice."),
    "limit": (_WHOLE, "Questions that were asked at most; 0 for all."),
    "budget": (_WHOLE, "Tokens that the lines of a prompt might have; 0 for the profile's room."),
    "recalled": (_WHOLE, "Lines that the memory might give for a question; 0 for what is usual."),
    "problem": (_TEXT, "Why the cell failed; it then has this row alone."),
    "commit": (_TEXT, "The commit of Keepsake that ran it."),
    "cell_seconds": (_FIGURE, "What the whole cell took."),
}
_OF_QUESTION = {
    "trial": (_TEXT, "The life."),
    "question": (_TEXT, "The question's id."),
    "kind": (_TEXT, "Its category."),
    "about": (_TEXT, "What it asks for: questions about the same depend on each other."),
    "asker": (_TEXT, "Who asked."),
    "text": (_TEXT, "The question."),
    "expected": (_TEXT, "Accepted answers, or the patterns that tell them."),
    "answerable": (_YES, "Whether the life holds the answer; if not, not knowing is right."),
    "delay_hours": (_FIGURE, "Hours since it was told."),
    "load": (_FIGURE, "Memories a day beside what is asked for."),
    "evidence": (_WHOLE, "How many memories answer it."),
    "ranks": (pa.list_(_WHOLE), "Their places among what was recalled, from 1."),
    "recalled_lines": (_WHOLE, "Lines that the memory gave for it."),
    "memory_tokens": (_WHOLE, "Tokens of those and of its context."),
    "memory_seconds": (_FIGURE, "What both took."),
    **{name: (_FIGURE, f"{told}, 0 to 1.") for name, told in MEASURES.items()},
    "answer": (_TEXT, "What the model said."),
    "model": (_TEXT, "Which model."),
    "abstained": (_YES, "Whether the answer says that it does not know."),
    "prompt_tokens": (_WHOLE, "Tokens of its prompt, as the server counts."),
    "completion_tokens": (_WHOLE, "Tokens of the answer."),
    "answer_seconds": (_FIGURE, "What it took."),
}
COLUMNS = _OF_CELL | _OF_QUESTION
"""Each column with its type, and what stands in it."""
SCHEMA = pa.schema((name, kind) for name, (kind, _) in COLUMNS.items())


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
