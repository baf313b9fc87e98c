"""``keepsake eval`` and ``sweep``, which compare memories, and ``measure``, for simulations.

They import models and charts late, because that takes a second that other commands do not need.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from keepsake.paths import places


def evaluate(
    source: Annotated[
        str,
        typer.Argument(
            help="probes (generated transcripts), or a file in a format of docs/evaluation.md "
            "(LoCoMo …), or a folder of such files."
        ),
    ] = "",
    *,
    life: Annotated[
        str, typer.Option(help="Instead of a file: vault:NAME, the archive of that agent.")
    ] = "",
    memory: Annotated[
        list[str] | None,
        typer.Option("--memory", "-m", help="The memory: keepsake (default), rag …; repeatable."),
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set", help="A setting: key=value for all, or memory.key=value; repeatable."
        ),
    ] = None,
    limit: Annotated[
        int, typer.Option(min=0, help="The most questions to ask, evenly spread; 0: all.")
    ] = 0,
    profile: Annotated[
        str, typer.Option(help="A profile of llm.md that answers; default: no answers.")
    ] = "",
    judge: Annotated[str, typer.Option(help="A profile of llm.md that judges the answers.")] = "",
    judges: Annotated[str, typer.Option(help="A YAML file with the judge's prompts.")] = "",
    agree: Annotated[
        Path | None,
        typer.Option(help="A CSV file for a person's ratings; created if it is missing."),
    ] = None,
    price: Annotated[
        str, typer.Option(help="Dollars per million tokens, input and output: 0.15,0.60.")
    ] = "",
    writer: Annotated[
        str, typer.Option(help="A profile of llm.md that writes summaries; default: rules.")
    ] = "",
    budget: Annotated[
        int, typer.Option(min=0, help="Tokens of memory in a prompt; 0: as many as fit.")
    ] = 0,
    recalled: Annotated[int, typer.Option(min=0, help="The most lines to recall; 0: 100.")] = 0,
    embedder: Annotated[
        str,
        typer.Option(
            help="embedded, none, ollama:MODEL@HOST, openai:MODEL@HOST, or a model's folder."
        ),
    ] = "embedded",
    parallel: Annotated[
        int, typer.Option(min=1, max=64, help="Answers to request at the same time.")
    ] = 1,
    seed: Annotated[int, typer.Option(min=0, help="The same seed gives the same transcripts.")] = 7,
    load: Annotated[
        str, typer.Option(help="For probes: other memories per day; one transcript for each.")
    ] = "20,100",
    held_out: Annotated[
        bool,
        typer.Option("--held-out", help="For probes: use the held-out third of the templates."),
    ] = False,
    check: Annotated[
        str, typer.Option(help="Only check whether this memory conforms to docs/research.md.")
    ] = "",
    kinds: Annotated[
        bool, typer.Option("--kinds", help="For probes: also show each kind of question.")
    ] = False,
    json_file: Annotated[
        Path | None, typer.Option("--json", help="Write figures and answers to this file.")
    ] = None,
) -> None:
    """Test memories with questions about transcripts: what they find, and what a model answers."""
    from keepsake.cli import memories  # noqa: PLC0415

    if check:
        raise typer.Exit(0 if memories.check_conformance(check, embedder) else 1)
    if not (source or life):
        raise typer.BadParameter("Name probes, a file, --life vault:NAME, or --check MEMORY")
    same = {"profile": profile, "judge": judge, "judges": judges, "writer": writer, "seed": seed}
    same |= {"questions": limit, "budget": budget, "recalled": recalled, "embedder": embedder}
    same |= {"parallel": parallel, "prices": memories.parse_prices(price)}
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
    from keepsake.cli import memories  # noqa: PLC0415

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
    from keepsake.cli import measure  # noqa: PLC0415

    measure.measure(places(), names, folder, rankings or ())
