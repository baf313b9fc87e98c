"""``keepsake eval`` and ``keepsake sweep``: memories side by side.

Models and charts take a second to import that no other command needs, so they are imported late.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(no_args_is_help=True, help="Measure memories: what they keep and find again.")

DataFile = Annotated[
    Path | None,
    typer.Argument(help="A file in a format of docs/evaluation.md: LoCoMo …; a folder of them."),
]
Life = Annotated[
    Path | None,
    typer.Option("--life", help="In place of a file: vault:NAME, the archive of that agent."),
]
Memories = Annotated[
    list[str] | None,
    typer.Option("--memory", "-m", help="The memory: keepsake (default), rag …; repeatable."),
]
MemorySettings = Annotated[
    list[str] | None,
    typer.Option("--set", help="A setting: key=value for all, or memory.key=value; repeatable."),
]
QuestionLimit = Annotated[
    int, typer.Option(min=0, help="The most questions, spread over all of them; 0: all.")
]
Writer = Annotated[
    str, typer.Option(help="The profile of llm.md that writes summaries; without it rules do.")
]
Embedder = Annotated[
    str,
    typer.Option(help="embedded, none, ollama:MODEL@HOST, openai:MODEL@HOST, or a model's folder."),
]
Recalled = Annotated[int, typer.Option(min=0, help="Lines that are recalled; 0: 100.")]
Parallel = Annotated[int, typer.Option(min=1, max=64, help="How many answers to ask for at once.")]
JsonFile = Annotated[
    Path | None,
    typer.Option("--json", help="Write figures and answers into this file."),
]


def _source(data: Path | None, life: Path | None) -> Path:
    if (found := data or life) is None:
        raise typer.BadParameter("Name a file, or --life vault:NAME")
    return found


@app.command("recall")
def recall(
    data: DataFile = None,
    *,
    life: Life = None,
    memory: Memories = None,
    settings: MemorySettings = None,
    limit: QuestionLimit = 0,
    embedder: Embedder = "embedded",
    recalled: Recalled = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for other programs.")] = False,
) -> None:
    """Ask the questions of a file, and show how much of their evidence each memory finds."""
    from keepsake.cli import memories  # noqa: PLC0415

    same = {"questions": limit, "embedder": embedder, "recalled": recalled}
    memories.evaluate_recall(_source(data, life), memory, settings, same, as_json=as_json)


@app.command("answers")
def answers(
    data: DataFile = None,
    *,
    life: Life = None,
    memory: Memories = None,
    profile: Annotated[str, typer.Option(help="The profile of llm.md that answers.")],
    judge: Annotated[str, typer.Option(help="A profile of llm.md that judges the answers.")] = "",
    judges: Annotated[str, typer.Option(help="A YAML file of the judge's prompts.")] = "",
    agree: Annotated[
        Path | None,
        typer.Option(help="A CSV file that a person rates; written where it is not there."),
    ] = None,
    price: Annotated[
        str, typer.Option(help="Dollars of a million tokens asked and answered: 0.15,0.60.")
    ] = "",
    writer: Writer = "",
    settings: MemorySettings = None,
    limit: QuestionLimit = 0,
    budget: Annotated[
        int, typer.Option(min=0, help="Tokens of memory in a prompt; 0: what the model takes.")
    ] = 0,
    seed: Annotated[int, typer.Option(min=0, help="The seed of all random numbers.")] = 1,
    embedder: Embedder = "embedded",
    recalled: Recalled = 0,
    parallel: Parallel = 1,
    json_file: JsonFile = None,
) -> None:
    """Have a model answer the questions of a file from what each memory gives it, and grade it."""
    from keepsake.cli import memories  # noqa: PLC0415

    same = {"profile": profile, "judge": judge, "writer": writer, "questions": limit}
    same |= {"budget": budget, "seed": seed, "embedder": embedder, "recalled": recalled}
    same |= {"judges": judges, "parallel": parallel, "prices": memories.prices_of(price)}
    memories.evaluate_answers(_source(data, life), memory, settings, (json_file, agree), same)


@app.command("probes")
def probes(
    *,
    memory: Memories = None,
    load: Annotated[
        str, typer.Option(help="How many other memories a day; one life for each number.")
    ] = "20,100",
    seed: Annotated[int, typer.Option(min=0, help="The same seed gives the same lives.")] = 7,
    held_out: Annotated[
        bool,
        typer.Option("--held-out", help="The third of the templates that nothing is tuned on."),
    ] = False,
    profile: Annotated[
        str, typer.Option(help="A profile of llm.md that answers; without it nothing is answered.")
    ] = "",
    writer: Writer = "",
    settings: MemorySettings = None,
    limit: QuestionLimit = 0,
    embedder: Embedder = "embedded",
    recalled: Recalled = 0,
    parallel: Parallel = 1,
    kinds: Annotated[
        bool, typer.Option("--kinds", help="Show each kind of question, too.")
    ] = False,
    json_file: JsonFile = None,
) -> None:
    """Have visitors tell things, and ask for them an hour, a day and a week later."""
    from keepsake.cli import memories  # noqa: PLC0415

    same = {"profile": profile, "writer": writer, "seed": seed, "questions": limit}
    same |= {"embedder": embedder, "recalled": recalled, "parallel": parallel}
    source = memories.probes_of(load, held_out=held_out)
    cells = memories.cells_of(source, memory, settings, **same)
    memories.evaluate_probes(cells, json_file, kinds=kinds)


def sweep_command(
    plan: Annotated[Path, typer.Argument(help="A .yaml file; docs/evaluation.md has its keys.")],
    *,
    folder: Annotated[
        Path | None, typer.Option("--out", help="The folder of results; else beside the plan.")
    ] = None,
    jobs: Annotated[
        int | None, typer.Option(min=1, help="How many processes at once; else one per core.")
    ] = None,
) -> None:
    """Compare memories × settings × seeds by a plan."""
    from keepsake.cli import memories  # noqa: PLC0415

    if not memories.swept(plan, folder or plan.with_suffix(""), jobs):
        raise typer.Exit(1)
