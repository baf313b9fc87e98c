"""``keepsake eval recall --memory``, ``eval answers``, ``eval probes``: memories side by side."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.table import Table

from game.cli.lab.sweeping import show_over_time
from game.cli.output import err, plain_table, print_json, print_wide
from game.cli.progress import items_bar
from keepsake.errors import KeepsakeError, refusing
from keepsake.lab.sweeps.charts import check_form, save_time_chart
from keepsake.lab.sweeps.comparing import results_of
from keepsake.lab.trials.answering import TASK
from keepsake.lab.trials.cell import TrialCell, TrialSource, pinned_down, run_cell
from keepsake.lab.trials.evaluating import IN_CONTEXT, IN_REACH
from keepsake.lab.trials.journal import Row, RowJournal
from keepsake.lab.trials.judging import KNOWN, UNKNOWN
from keepsake.lab.trials.living import MemoryFault
from keepsake.lab.trials.measures import (
    COSTS,
    MEASURES,
    MRR,
    RECALL,
    MeasuredKind,
    figure,
    measured,
)
from keepsake.lab.trials.scoring import EXACT, F1, RIGHT, ROUGE_L
from keepsake.models.minilm import MiniLMEmbedder
from keepsake.paths import Places

RETRIEVAL = (*RECALL.values(), MRR, IN_REACH, "memory_tokens", "memory_seconds")
ANSWERS = (F1, EXACT, ROUGE_L, RIGHT, "judged", IN_REACH)
PROBED = (IN_CONTEXT, IN_REACH, RIGHT, "kept", "memory_tokens", "memory_seconds")
MOST_LOAD = 10_000
SPENT = ("prompt_tokens", "memory_seconds", "answer_seconds")


def cells_of(
    source: TrialSource, memories: Sequence[str], settings: Iterable[str], **same: Any
) -> list[TrialCell]:
    """A cell a memory, all else being equal.

    A setting is ``key=value`` for all of them, or ``memory.key=value`` for that one.

    Raises:
        KeepsakeError: One of them is no such pair.
    """
    names = list(dict.fromkeys(memories))
    found: dict[str, dict[str, str]] = {name: {} for name in names}
    for each in settings:
        key, equals, value = (part.strip() for part in each.partition("="))
        if not equals or not key:
            raise KeepsakeError(f"--set {each!r} is no setting", "Write --set key=value")
        own = next((name for name in names if key.startswith(f"{name}.")), None)
        for name in [own] if own else names:
            found[name][key.removeprefix(f"{name}.")] = value
    return [
        TrialCell(source=source, memory=name, settings=tuple(found[name].items()), **same)
        for name in names
    ]


def recall(here: Places, cells: Sequence[TrialCell], *, as_json: bool) -> None:
    """Ask the questions of a file through several memories, and show what evidence they find."""
    found = _run(here, cells, None, evidence=True)
    if as_json:
        print_json(figures(found))
    else:
        print_wide(as_table(found, RETRIEVAL))


def answers(here: Places, cells: Sequence[TrialCell], json_file: Path | None) -> None:
    """Have a model answer the questions of a file from several memories, and grade the answers."""
    print_wide(as_table(rows_of(here, cells, json_file), (*ANSWERS, *SPENT)))


def probes(
    here: Places,
    cells: Sequence[TrialCell],
    *,
    chart: Path | None = None,
    json_file: Path | None = None,
    kinds: bool = False,
) -> None:
    """Plant and ask the probes through the memory of each cell, and show what each still knows."""
    if chart is not None:
        check_form(chart)
    rows = rows_of(here, cells, json_file)
    found = results_of("probes", {cell.name: each for cell, each in rows.items()})
    if chart is not None:
        save_time_chart(found, chart)
    for measure in found.timed:
        show_over_time(found, measure)
    print_wide(as_table(rows, PROBED, kinds=kinds))


def loads_of(written: str) -> tuple[int, ...]:
    """What ``--load 20,100`` says.

    Raises:
        KeepsakeError: It is no list of such numbers.
    """
    parts = [part.strip() for part in written.split(",")]
    if not all(part.isdecimal() and 0 < int(part) <= MOST_LOAD for part in parts):
        told = f"--load {written!r} is no list of numbers from 1 to {MOST_LOAD:,}"
        raise KeepsakeError(told, "Write 20,100")
    return tuple(dict.fromkeys(map(int, parts)))


def rows_of(
    here: Places, cells: Sequence[TrialCell], json_file: Path | None
) -> dict[TrialCell, list[Row]]:
    """The rows of each cell, written to ``json_file``; what is broken off goes on beside it."""
    part = json_file.with_name(f"{json_file.name}.part") if json_file else None
    found = _run(here, cells, part)
    if json_file is not None:
        text = json.dumps(figures(found), indent=1, ensure_ascii=False)
        with refusing(f"{json_file} could not be written", "Name a file that can be"):
            json_file.write_text(f"{text}\n", encoding="utf-8")
    if part is not None:
        part.unlink(missing_ok=True)
    return found


def _run(
    here: Places, cells: Sequence[TrialCell], part: Path | None, *, evidence: bool = False
) -> dict[TrialCell, list[Row]]:
    """The rows of each cell; of those with evidence alone, if only they count.

    A memory that breaks off is told of and left out, unless all of them do.
    """
    cells = [pinned_down(cell, here) for cell in cells]
    trials = cells[0].questions()  # read once: all cells have the same
    count = sum(len(trial.questions) for trial in trials) * len(cells)
    embedder = MiniLMEmbedder(threads=2)
    run = {"cells": [cell.as_json() for cell in cells]}
    found: dict[TrialCell, list[Row]] = {}
    with items_bar("reading", count) as shown, RowJournal(part, run) as journal:
        if len(journal):
            err.print(f"Going on: {len(journal)} of {count} questions were answered before")
        for cell in cells:
            told = _telling(shown, cell)
            try:
                rows = run_cell(cell, here, journal, embedder, trials=trials, done=told)
            except MemoryFault as error:
                if cell is cells[-1] and not found:
                    raise
                err.print(f"{cell.name}: {error}", markup=False)
                continue
            found[cell] = [row for row in rows if row["evidence"] or not evidence]
    if not any(found.values()):
        told_file = cells[0].source.path
        raise KeepsakeError(f"{told_file} has no question with evidence", "Try eval answers")
    return found


def _telling(shown: Callable[[str, int], None], cell: TrialCell) -> Callable[[Row], None]:
    return lambda _: shown(cell.name, 1)


def as_table(
    found: Mapping[TrialCell, Sequence[Row]], measures: Sequence[str], *, kinds: bool = True
) -> Table:
    """Memory by memory, category by category; shares in per cent, with their 95 % intervals."""
    by_cell = {c: measured(rows, measures)[0 if kinds else -1 :] for c, rows in found.items()}
    there = {name for kinds in by_cell.values() for each in kinds for name in each.estimates}
    shown = [measure for measure in measures if measure in there]
    names = {**MEASURES, **COSTS}
    headings = ("memory", "kind", "n", *(names[measure] for measure in shown))
    table = plain_table(headings, right=headings[2:], no_wrap=True)
    for cell, each in by_cell.items():
        for place, kind in enumerate(each):
            last = place == len(each) - 1
            cells = (figure(kind.estimates.get(m), m) for m in shown)
            name = cell.name if place == 0 else ""
            style = "bold" if last else ""
            table.add_row(name, kind.kind, str(kind.questions), *cells, style=style)
        table.add_section()
    return table


def figures(found: Mapping[TrialCell, Sequence[Row]]) -> dict[str, Any]:
    """All of it for other programs: configurations, prompts, figures with intervals, rows."""
    return {
        "prompt": TASK,
        "judge": {"known": KNOWN, "unknown": UNKNOWN},
        "cells": [
            {
                "name": cell.name,
                "configuration": cell.as_json(),
                "scores": [_kind_json(each) for each in measured(rows)],
                "rows": list(rows),
            }
            for cell, rows in found.items()
        ],
    }


def _kind_json(each: MeasuredKind) -> dict[str, Any]:
    estimates = {name: asdict(estimate) for name, estimate in each.estimates.items()}
    return {"kind": each.kind, "questions": each.questions, **estimates}
