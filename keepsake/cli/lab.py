"""``keepsake eval`` and ``keepsake sweep``, which compare memories.

They import models and charts late, because that takes a second that other commands do not need.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def evaluate(
    source: Annotated[
        str,
        typer.Argument(
            help="probes (generated lives), or a file in a format of docs/evaluation.md: LoCoMo …; "
            "a folder of them."
        ),
    ] = "",
    *,
    life: Annotated[
        str, typer.Option(help="In place of a file: vault:NAME, the archive of that agent.")
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
        int, typer.Option(min=0, help="The most questions, spread over all of them; 0: all.")
    ] = 0,
    profile: Annotated[
        str, typer.Option(help="A profile of llm.md that answers; without it nothing is answered.")
    ] = "",
    judge: Annotated[str, typer.Option(help="A profile of llm.md that judges the answers.")] = "",
    judges: Annotated[str, typer.Option(help="A YAML file of the judge's prompts.")] = "",
    agree: Annotated[
        Path | None,
        typer.Option(help="A CSV file that a person rates; written where it is not there."),
    ] = None,
    price: Annotated[
        str, typer.Option(help="Dollars of a million tokens asked and answered: 0.15,0.60.")
    ] = "",
    writer: Annotated[
        str, typer.Option(help="The profile of llm.md that writes summaries; without it rules do.")
    ] = "",
    budget: Annotated[
        int, typer.Option(min=0, help="Tokens of memory in a prompt; 0: what the model takes.")
    ] = 0,
    recalled: Annotated[int, typer.Option(min=0, help="Lines that are recalled; 0: 100.")] = 0,
    embedder: Annotated[
        str,
        typer.Option(
            help="embedded, none, ollama:MODEL@HOST, openai:MODEL@HOST, or a model's folder."
        ),
    ] = "embedded",
    parallel: Annotated[
        int, typer.Option(min=1, max=64, help="How many answers to ask for at once.")
    ] = 1,
    seed: Annotated[int, typer.Option(min=0, help="The same seed gives the same lives.")] = 7,
    load: Annotated[
        str, typer.Option(help="Of probes: how many other memories a day; a life for each number.")
    ] = "20,100",
    held_out: Annotated[
        bool,
        typer.Option(
            "--held-out", help="Of probes: the third of the templates that nothing is tuned on."
        ),
    ] = False,
    check: Annotated[
        str, typer.Option(help="Ask nothing; look whether that memory does what every one must.")
    ] = "",
    kinds: Annotated[
        bool, typer.Option("--kinds", help="Of probes: show each kind of question, too.")
    ] = False,
    json_file: Annotated[
        Path | None, typer.Option("--json", help="Write figures and answers into this file.")
    ] = None,
) -> None:
    """Test memories with questions about transcripts: what they find, and what a model answers."""
    from keepsake.cli import memories  # noqa: PLC0415

    if check:
        raise typer.Exit(0 if memories.conforms(check, embedder) else 1)
    if not (source or life):
        raise typer.BadParameter("Name probes, a file, --life vault:NAME, or --check MEMORY")
    same = {"profile": profile, "judge": judge, "judges": judges, "writer": writer, "seed": seed}
    same |= {"questions": limit, "budget": budget, "recalled": recalled, "embedder": embedder}
    same |= {"parallel": parallel, "prices": memories.prices_of(price)}
    lives = memories.lives_of(life or source, load, held_out=held_out)
    cells = memories.cells_of(lives, memory, settings, **same)
    memories.evaluate(cells, json_file, agree, kinds=kinds)


def sweep_command(
    plan: Annotated[Path, typer.Argument(help="A .yaml file; docs/evaluation.md has its keys.")],
    *,
    folder: Annotated[
        Path | None, typer.Option("--out", help="The folder of results; else beside the plan.")
    ] = None,
    jobs: Annotated[
        int | None, typer.Option(min=1, help="How many processes at once; else one per core.")
    ] = None,
    ray: Annotated[
        bool, typer.Option("--ray", help="Run the cells on a Ray cluster: RAY_ADDRESS, if set.")
    ] = False,
) -> None:
    """Compare memories × settings × seeds as a plan says."""
    from keepsake.cli import memories  # noqa: PLC0415

    if not memories.swept(plan, folder or plan.with_suffix(""), jobs, ray=ray):
        raise typer.Exit(1)
