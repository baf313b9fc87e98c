"""``keepsake eval`` and ``sweep``, which compare memories, and ``measure``, for simulations.

They import models and charts late, because that takes a second that other commands do not need.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from keepsake.cli import eval_options as options
from keepsake.paths import places


def evaluate(
    source: options.Source = "",
    *,
    life: options.Life = "",
    memory: options.Memories = None,
    settings: options.MemorySettings = None,
    limit: options.QuestionLimit = 0,
    profile: options.AnswerProfile = "",
    judge: options.JudgeProfile = "",
    judges: options.JudgePrompts = "",
    agree: options.RatingsFile = None,
    price: options.Price = "",
    writer: options.WriterProfile = "",
    decompose: options.DecomposeProfile = "",
    budget: options.Budget = 0,
    recalled: options.RecalledLines = 0,
    embedder: options.EmbedderName = "embedded",
    parallel: options.Parallel = 1,
    seed: options.Seed = 7,
    load: options.Loads = "20,100",
    held_out: options.HeldOut = False,
    check: options.CheckedMemory = "",
    kinds: options.ByKind = False,
    json_file: options.JsonFile = None,
) -> None:
    """Test memories with questions about transcripts: what they find, and what a model answers."""
    from keepsake.cli import memories  # noqa: PLC0415 - slow to import

    if check:
        raise typer.Exit(0 if memories.check_conformance(check, embedder) else 1)
    if not (source or life):
        raise typer.BadParameter("Name probes, a file, --life vault:NAME, or --check MEMORY")
    same = {"profile": profile, "judge": judge, "judges": judges, "writer": writer, "seed": seed}
    same |= {"questions": limit, "budget": budget, "recalled": recalled, "embedder": embedder}
    same |= {"decompose": decompose, "parallel": parallel, "prices": memories.parse_prices(price)}
    trials = memories.trial_source(life or source, load, held_out=held_out)
    cells = memories.cells_of(trials, memory, settings, **same)
    memories.evaluate(cells, json_file, agree, kinds=kinds)


def sweep_command(
    plan: Annotated[Path, typer.Argument(help="A YAML file; docs/evaluation.md has its keys.")],
    *,
    folder: Annotated[
        Path | None, typer.Option("--out", help="The folder for results; default: beside the plan.")
    ] = None,
    jobs: Annotated[
        int | None, typer.Option(min=1, help="Parallel processes; default: one per core.")
    ] = None,
    ray: Annotated[
        bool, typer.Option("--ray", help="Run the cells on a Ray cluster: RAY_ADDRESS, if set.")
    ] = False,
) -> None:
    """Compare memories, settings and seeds as described in a plan."""
    from keepsake.cli import memories  # noqa: PLC0415 - slow to import

    if not memories.run_sweep(plan, folder or plan.with_suffix(""), jobs, ray=ray):
        raise typer.Exit(1)


def measure_command(
    names: Annotated[list[str], typer.Argument(help="The simulations, side by side.")],
    *,
    folder: Annotated[
        Path | None,
        typer.Option("--out", help="The folder for the page; default: in the first simulation's."),
    ] = None,
    rankings: Annotated[
        list[Path] | None,
        typer.Option(help="A reader's filled form of the blind interview; repeatable."),
    ] = None,
) -> None:
    """Measure simulations: who knows what by which path, who came, plans, costs, interviews."""
    from keepsake.cli import measure  # noqa: PLC0415 - slow to import

    measure.measure(places(), names, folder, rankings or ())
