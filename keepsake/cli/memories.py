"""The work of ``keepsake eval`` and ``sweep``: they run cells and show tables of the results."""

from __future__ import annotations

import json
import math
import os
import shlex
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

from rich.markup import escape
from rich.table import Table

from keepsake.cli.output import err, items_bar, out, plain_table, print_wide
from keepsake.errors import KeepsakeError, refusing
from keepsake.lab.answers import PROMPTS, agreement
from keepsake.lab.conformance import check_memory
from keepsake.lab.estimates import MeasuredKind, estimate_kinds, figure, measured, unmarked
from keepsake.lab.evaluate import Row, limit_questions
from keepsake.lab.measures import ANSWERS, JUDGED, MEASURES, NAMES, PROBED, RETRIEVAL
from keepsake.lab.report import write_parquet, write_report
from keepsake.lab.results import (
    DELAYS,
    SourceResults,
    compared_by,
    power,
    results_by_source,
)
from keepsake.lab.sweep import (
    CellRecord,
    Probes,
    SweepPlan,
    TrialCell,
    TrialSource,
    read_plan,
    run_cell,
    sweep,
)
from keepsake.memory import protocol
from keepsake.models.embedders import named_embedder
from keepsake.paths import places

MOST_LOAD = 10_000
"""The most lines of a day in a transcript of probes."""
PROBES = "probes"

type Names = Sequence[str] | None
"""Memories, or their settings, from the command line."""
type Found = Mapping[TrialCell, Sequence[Row]]


def evaluate(
    cells: list[TrialCell], json_file: Path | None, agree: Path | None, *, kinds: bool
) -> None:
    """Run cells and show what memories find and what a model answers; for probes also over time.

    Args:
        cells: One per memory, otherwise equal.
        json_file: The output file for rows and figures; None for no file.
        agree: A CSV file that a person rates; None for no comparison.
        kinds: Whether probes are shown by kind of question, as files always are.

    Raises:
        KeepsakeError: ``agree`` is given, but no answer was judged.
    """
    asked = bool(cells[0].profile)
    probes = cells[0].source.probes is not None
    found = run_cells(cells)
    if json_file is not None:
        text = json.dumps(results_json(found), indent=1, ensure_ascii=False)
        with refusing(f"{json_file} could not be written", "Name another file with --json"):
            json_file.write_text(f"{text}\n", encoding="utf-8")
    name = cells[0].source.name
    chosen = {cell.name: each for cell, each in found.items()}
    if not (asked or probes):  # what cannot be measured is named below the table
        chosen = {arm: measured(rows) for arm, rows in chosen.items()}
    results = SourceResults(name, chosen)
    if probes:
        out.print(name, style="bold", markup=False)
        for measure in results.timed:
            show_over_time(results, measure)
    measures = ANSWERS if asked else RETRIEVAL
    if probes:
        measures = PROBED
    print_wide(as_table(results, measures, kinds=kinds or not probes))
    lacking = unmarked(next(iter(found.values())))
    if lacking:
        out.print(f"{lacking}.", markup=False)
    if agree is not None:
        every = [{**row, "memory": cell.name} for cell, rows in found.items() for row in rows]
        judged = [row for row in every if row.get(JUDGED) is not None]
        if not judged:
            raise KeepsakeError("No answer was judged", "Name a profile with --judge")
        out.print(agreement(agree, judged), markup=False)


def parse_prices(text: str) -> tuple[float, float]:
    """Return the dollars per million tokens, input and output.

    Raises:
        KeepsakeError: The text is not two numbers.
    """
    try:
        asked, answered = map(float, text.split(",")) if text else (0.0, 0.0)
    except ValueError as error:
        raise KeepsakeError(f"--price {text!r} is not a price", "Use --price 0.15,0.60") from error
    return asked, answered


def trial_source(source: str, load: str, *, held_out: bool) -> TrialSource:
    """Return the source of trials: a file, or, for ``probes``, one transcript per load.

    Raises:
        KeepsakeError: The loads are not a list of numbers.
    """
    if source != PROBES:
        return TrialSource(file=Path(source))
    parts = [part.strip() for part in load.split(",")]
    if not all(part.isdecimal() and 0 < int(part) <= MOST_LOAD for part in parts):
        what = f"--load {load!r} is not a list of numbers from 1 to {MOST_LOAD:,}"
        raise KeepsakeError(what, "Use --load 20,100")
    loads = tuple(dict.fromkeys(map(int, parts)))
    return TrialSource(probes=Probes(loads=loads, held_out=held_out))


def check_conformance(name: str, embedder: str) -> bool:
    """Print the checks of :mod:`keepsake.lab.conformance` for a memory; return whether it passes.

    Raises:
        KeepsakeError: There is no such memory, or no such embedder.
    """
    well = True
    for each in check_memory(protocol.load_memory_class(name), named_embedder(embedder)):
        mark = "–" if each.skipped else "[green]✓[/green]"
        if each.fault:
            mark = "[red]✗[/red]"
        why = each.fault or each.skipped
        out.print(f"{mark} {each.name}{escape(f': {why}' if why else '')}")
        well &= not each.fault
    return well


def run_sweep(plan: Path, folder: Path, jobs: int | None, *, ray: bool) -> bool:
    """Run a sweep, write its table and report, show the results; return whether all cells ran."""
    found = read_plan(plan)
    for memory in dict.fromkeys(cell.memory for cell in found.cells):
        protocol.load_memory_class(memory)  # fails early if the memory does not exist
    with refusing(f"{folder} could not be created", "Name another folder with --out"):
        folder.mkdir(parents=True, exist_ok=True)
    show_power(found)
    with items_bar(found.name, len(found.cells)) as bar:

        def done(record: CellRecord) -> None:
            bar(found.name)
            if record.problem:
                cell = record.cell
                name = f"{cell.arm}, {cell.source.name}, seed {cell.seed}"
                err.print(f"[red]✗[/red] {name}: {escape(record.problem)}")

        records = sweep(places(), found, jobs, done, ray=ray)
    table = folder / "results.parquet"
    report = folder / "report.html"
    command = ["keepsake", "sweep", str(plan), "--out", str(folder), *(["--ray"] * ray)]
    write_parquet(records, table)
    sources = results_by_source(records, found.compare)
    write_report(found, records, sources, shlex.join(command), report)
    for results in sources:
        show_results(results)
    out.print(f"{table}\n{report}", markup=False)
    return not any(record.problem for record in records)


def show_power(plan: SweepPlan) -> None:
    """Print for each source what the plan's comparisons can show, before they are made."""
    arms: dict[TrialSource, set[str]] = {}
    for cell in plan.cells:
        arms.setdefault(cell.source, set()).add(cell.arm)
    for source, names in arms.items():
        pairs = math.comb(len(names), 2)
        if not pairs:
            continue
        with suppress(KeepsakeError):  # the cells report it
            trials = source.trials(plan.cells[0].seed)
            clusters = {each.about or trial.name for trial in trials for each in trial.questions}
            told = power(len(clusters), pairs * len(compared_by(plan, source)))
            out.print(f"{source.name}: {told}.", markup=False)


def cells_of(source: TrialSource, memories: Names, settings: Names, **same: Any) -> list[TrialCell]:
    """Return one cell per memory, otherwise equal.

    A setting is ``key=value`` for all memories, or ``memory.key=value`` for one.

    Raises:
        KeepsakeError: A setting is not of this form.
    """
    found: dict[str, dict[str, str]] = {name: {} for name in memories or ["keepsake"]}
    for each in settings or ():
        key, equals, value = (part.strip() for part in each.partition("="))
        if not equals or not key:
            raise KeepsakeError(f"--set {each!r} is not a setting", "Use --set key=value")
        own = next((name for name in found if key.startswith(f"{name}.")), None)
        for name in [own] if own else found:
            found[name][key.removeprefix(f"{name}.")] = value
    return [
        TrialCell(source=source, memory=name, settings=tuple(chosen.items()), **same)
        for name, chosen in found.items()
    ]


def run_cells(cells: Sequence[TrialCell]) -> Found:
    """Run the cells and return their rows.

    A failed memory is reported on standard error and left out.

    Raises:
        KeepsakeError: All memories failed.
    """
    first = cells[0]  # the others have the same trials
    trials = limit_questions(first.source.trials(first.seed), first.questions, first.seed)
    count = sum(len(trial.questions) for trial in trials) * len(cells)
    found: dict[TrialCell, list[Row]] = {}
    threads = os.cpu_count() or 1
    with items_bar("reading", count) as shown:
        for cell in cells:
            record = run_cell(places(), cell, trials, partial(shown, cell.name), threads)
            if record.problem:
                err.print(f"{cell.name}: {record.problem}", markup=False)
            else:
                found[cell] = record.rows
    if not found:
        raise KeepsakeError("No memory was evaluated")
    return found


# -- tables


def as_table(found: SourceResults, measures: Sequence[str], *, kinds: bool) -> Table:
    """Return a table by memory and category; shares in per cent, with 95 % intervals."""
    shown = [measure for measure in measures if measure in found.measures]
    headings = ("memory", "kind", "n", *(NAMES[measure] for measure in shown))
    table = plain_table(headings, right=headings[2:])
    for arm, every in found.arms.items():
        name = escape(arm)
        for kind in every if kinds else every[-1:]:
            cells = (figure(kind.estimates.get(m), m) for m in shown)
            style = "bold" if kind is every[-1] else ""
            table.add_row(name, kind.kind, str(kind.questions), *cells, style=style)
            name = ""
        table.add_section()
    return table


def show_results(found: SourceResults) -> None:
    """Print a sweep's results for one source."""
    out.print(found.name, style="bold", markup=False)
    print_wide(as_table(found, found.headlines or found.measures, kinds=False))
    for measure in found.timed:
        show_over_time(found, measure)
    sure = sum(pair.significant for pair in found.pairs)
    differ = f"{sure} of {len(found.pairs)} pairs differ (p < 0.05, Holm)\n"
    out.print(differ if found.pairs else "", markup=False)


def show_over_time(found: SourceResults, measure: str) -> None:
    """Print a measure in per cent by the time since the fact was told, one row per arm and load."""
    headings = (MEASURES[measure], "a day", *(f"after {name}" for name in DELAYS.values()))
    table = plain_table(headings, right=headings[1:])
    for load in found.loads:
        for arm in found.arms:
            by_hours = found.over_time(arm, load, measure)
            cells = (figure(by_hours.get(hours), measure) for hours in DELAYS)
            table.add_row(escape(arm), f"{load:g}", *cells)
    print_wide(table)
    out.print()


def results_json(found: Found) -> dict[str, Any]:
    """Return all results as JSON data: configurations, prompts, figures with intervals, rows."""
    return {
        "prompts": PROMPTS,
        "cells": [
            {
                "name": cell.name,
                "configuration": cell.as_json(),
                "scores": [_kind_json(each) for each in estimate_kinds(rows)],
                "rows": list(rows),
            }
            for cell, rows in found.items()
        ],
    }


def _kind_json(each: MeasuredKind) -> dict[str, Any]:
    estimates = {name: asdict(estimate) for name, estimate in each.estimates.items()}
    return {"kind": each.kind, "questions": each.questions, **estimates}
