"""``keepsake eval probes``: what memories still know after an hour, a day and a week."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from game.cli.output import err, out, plain_table
from game.lab.refusing import refusing
from game.lab.talk.scores import percentile, wilson
from game.lab.trials.probes import DELAYS, KEPT, LOADS, probe_trials
from game.lab.trials.probing import ALONE, RECALL, SPOKEN, ProbeResult, probed, shares
from game.memories.loading import KEEPSAKE
from game.mind.errors import KeepsakeError

MOST_LOAD, MOST_LIVES = 10_000, 50


def probes(
    *,
    memory: Annotated[
        list[str] | None,
        typer.Option(help="A memory by name, or package:Class; may be repeated. Ours without it."),
    ] = None,
    load: Annotated[
        str, typer.Option(help="Memories a day beside what is asked about: 20,100.")
    ] = ",".join(map(str, LOADS)),
    seed: Annotated[int, typer.Option(min=0, help="Who tells what, and when.")] = 7,
    lives: Annotated[int, typer.Option(min=1, max=MOST_LIVES, help="Lives of each load.")] = 1,
    settings: Annotated[
        list[str] | None, typer.Option("--set", help="A setting of the memories: key=value.")
    ] = None,
    by_words: Annotated[
        bool, typer.Option("--words", help="Without an embedder: all recall goes by words.")
    ] = False,
    kinds: Annotated[bool, typer.Option("--kinds", help="A table by kind as well.")] = False,
    chart_file: Annotated[
        Path | None, typer.Option("--chart", help="Draw the curves: a .png or .svg file.")
    ] = None,
    json_file: Annotated[
        Path | None, typer.Option("--json", help="Write each question's result there.")
    ] = None,
) -> None:
    """Have visitors tell a memory what they ask for an hour, a day and a week later."""
    # Here, since they take a second that no other command needs.
    from game.lab.replays.chart import check_form  # noqa: PLC0415
    from game.lab.trials.curves import draw  # noqa: PLC0415
    from game.llm.clients.minilm import MiniLMEmbedder  # noqa: PLC0415

    if chart_file is not None:
        check_form(chart_file)
    trials = probe_trials(seed, _loads(load), lives)
    embedder = None if by_words else MiniLMEmbedder(threads=2)
    wanted, given = memory or [KEEPSAKE], _settings(settings or ())
    results: list[ProbeResult] = []
    costs: dict[str, float] = dict.fromkeys(wanted, 0.0)
    with _bar() as bar:
        task = bar.add_task("", total=len(wanted) * len(trials))
        for name in wanted:
            for trial in trials:
                bar.update(task, description=f"{name}: {trial.name}")
                run = probed(name, trial, embedder=embedder, settings=given)
                results += run.results
                costs[name] += run.lived.perceiving + run.lived.resting
                bar.advance(task)
    if json_file is not None:
        with refusing(f"{json_file} could not be written", "Name a file that can be"):
            told = json.dumps([asdict(each) for each in results], indent=1, ensure_ascii=False)
            json_file.write_text(told + "\n", encoding="utf-8")
    if chart_file is not None:
        with refusing(f"{chart_file} could not be written", "Name a file that can be"):
            draw(results, chart_file)
    out.print(as_table(results))
    out.print(costs_table(results, costs))
    if kinds:
        out.print(by_kind(results))


def _bar() -> Progress:
    columns = (TextColumn("{task.description}", markup=False), BarColumn(30))
    counts = (MofNCompleteColumn(), TimeElapsedColumn())
    return Progress(*columns, *counts, console=err, transient=True, disable=not err.is_terminal)


def _loads(written: str) -> list[int]:
    parts = [part.strip() for part in written.split(",")]
    if not all(part.isdecimal() and 0 < int(part) <= MOST_LOAD for part in parts):
        raise KeepsakeError(
            f"--load {written!r} is no list of numbers from 1 to {MOST_LOAD}", "Write 20,100"
        )
    return list(dict.fromkeys(map(int, parts)))


def _settings(written: Sequence[str]) -> dict[str, str]:
    pairs = [each.partition("=") for each in written]
    if wrong := [
        each for each, (key, equals, _) in zip(written, pairs, strict=True) if not (key and equals)
    ]:
        raise KeepsakeError(f"--set {wrong[0]!r} sets nothing", "Write --set key=value")
    return {key.strip(): value.strip() for key, _, value in pairs}


def as_table(results: Sequence[ProbeResult]) -> Table:
    """Per cent known with 95 % intervals: a row a memory, load and place of the answer."""
    headings = ("memory", "a day", "known", *(f"after a {delay}" for delay in DELAYS))
    table = plain_table(headings, right=headings[3:], no_wrap=True, collapse_padding=True)
    for where in (ALONE, RECALL, SPOKEN):
        for memory, load, cells in _rows(results, where):
            table.add_row(memory, str(load), where, *cells)
        table.add_section()
    return table


def costs_table(results: Sequence[ProbeResult], lived: dict[str, float]) -> Table:
    """What each memory costs, and how many whispers it kept from whoever listened."""
    headings = ("memory", "tokens a question", "ms", "to live it, s", "kept to itself")
    table = plain_table(headings, right=headings[1:], no_wrap=True)
    for memory, seconds in lived.items():
        own = [each for each in results if each.memory == memory]
        tokens = sum(each.tokens for each in own) / len(own)
        median = 1000 * percentile([each.seconds for each in own], 0.5)
        kept = [bool(each.known[RECALL]) for each in own if each.kind == KEPT]
        told = (f"{tokens:,.0f}", f"{median:.1f}", f"{seconds:.1f}", _share(sum(kept), len(kept)))
        table.add_row(memory, *told)
    return table


def _rows(results: Sequence[ProbeResult], where: str) -> Iterator[tuple[str, int, list[str]]]:
    points = list(shares(results, where))
    for memory, load in dict.fromkeys((point[0], point[1]) for point in points):
        own = {point[2]: point[3:] for point in points if point[:2] == (memory, load)}
        yield memory, load, [_share(*own.get(delay, (0, 0))) for delay in DELAYS]


def _share(known: int, n: int) -> str:
    if not n:
        return "–"
    low, high = wilson(known, n)
    return f"{100 * known / n:.0f} ({100 * low:.0f}-{100 * high:.0f})"


def by_kind(results: Sequence[ProbeResult]) -> Table:
    """Per cent known with recall, by what was planted."""
    memories = list(dict.fromkeys(each.memory for each in results))
    table = plain_table(("with recall", *memories), right=memories, no_wrap=True)
    for kind in sorted({r.kind for r in results if r.known[RECALL] is not None}):
        own = [[r for r in results if (r.memory, r.kind) == (name, kind)] for name in memories]
        table.add_row(kind, *(_share(sum(bool(r.known[RECALL]) for r in f), len(f)) for f in own))
    return table
