"""``keepsake eval`` and ``keepsake sweep``: memories side by side.

Models and charts take a second to import that no other command needs, so they are imported late.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(no_args_is_help=True, help="Measure how well something works.")

DataFile = Annotated[
    Path,
    typer.Argument(help="LoCoMo, LongMemEval, REALTALK or ours: docs/evaluation.md; or a folder."),
]
Memories = Annotated[
    list[str] | None,
    typer.Option("--memory", "-m", help="Of this memory; may be repeated. Ours without it."),
]
MemorySettings = Annotated[
    list[str] | None,
    typer.Option("--set", help="key=value for all memories, or memory.key=value; repeatable."),
]
QuestionLimit = Annotated[
    int, typer.Option(min=0, help="How many questions at most, spread over all; 0: all.")
]
Writer = Annotated[
    str, typer.Option(help="The profile that writes memories' summaries; else by rules.")
]
JsonFile = Annotated[
    Path | None,
    typer.Option("--json", help="Write figures and answers there."),
]


@app.command("recall")
def recall(
    data: DataFile,
    memory: Memories = None,
    settings: MemorySettings = None,
    limit: QuestionLimit = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for other programs.")] = False,
) -> None:
    """Ask the questions of a file and show how much of their evidence recall finds."""
    from keepsake.cli import memories  # noqa: PLC0415

    memories.evaluate_recall(data, memory, settings, limit, as_json=as_json)


@app.command("answers")
def answers(
    data: DataFile,
    *,
    memory: Memories = None,
    profile: Annotated[str, typer.Option(help="The profile of llm.md that answers.")],
    judge: Annotated[str, typer.Option(help="The profile that judges the answers as well.")] = "",
    writer: Writer = "",
    settings: MemorySettings = None,
    limit: QuestionLimit = 0,
    budget: Annotated[
        int, typer.Option(min=0, help="Tokens of memory in a prompt; 0: as the profile has room.")
    ] = 0,
    seed: Annotated[int, typer.Option(min=0, help="Where chance comes from.")] = 1,
    json_file: JsonFile = None,
) -> None:
    """Have a model answer a benchmark's questions from what memories give it; grade the answers."""
    from keepsake.cli import memories  # noqa: PLC0415

    same = {"profile": profile, "judge": judge, "writer": writer, "limit": limit}
    same |= {"budget": budget, "seed": seed}
    memories.evaluate_answers(data, memory, settings, json_file, same)


@app.command("probes")
def probes(
    *,
    memory: Memories = None,
    load: Annotated[
        str, typer.Option(help="Memories a day beside what is asked about.")
    ] = "20,100",
    lives: Annotated[int, typer.Option(min=1, max=50, help="Lives of each load.")] = 1,
    seed: Annotated[int, typer.Option(min=0, help="Who tells what, and when.")] = 7,
    profile: Annotated[
        str, typer.Option(help="The profile of llm.md that answers; none: what was to be had.")
    ] = "",
    writer: Writer = "",
    settings: MemorySettings = None,
    limit: QuestionLimit = 0,
    kinds: Annotated[bool, typer.Option("--kinds", help="By what was told as well.")] = False,
    json_file: JsonFile = None,
) -> None:
    """Have visitors tell a memory what they ask for an hour, a day and a week later."""
    from keepsake.cli import memories  # noqa: PLC0415

    same = {"profile": profile, "writer": writer, "seed": seed, "limit": limit}
    cells = memories.cells_of(memories.probes_of(load, lives), memory, settings, **same)
    memories.evaluate_probes(cells, json_file, kinds=kinds)


def sweep_command(
    plan: Annotated[Path, typer.Argument(help="A .yaml file; its form: docs/evaluation.md.")],
    *,
    folder: Annotated[
        Path | None, typer.Option("--out", help="Where results are kept; else beside the plan.")
    ] = None,
    jobs: Annotated[
        int | None, typer.Option(min=1, help="Processes side by side; one a core if not given.")
    ] = None,
) -> None:
    """Run memories × settings × seeds through the same lives; what is done stays done."""
    from keepsake.cli import memories  # noqa: PLC0415

    if not memories.swept(plan, folder or plan.with_suffix(""), jobs):
        raise typer.Exit(1)
