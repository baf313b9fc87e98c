"""``keepsake eval`` and ``keepsake sweep``: memories side by side.

Models and charts take a second to import that no other command needs, so they are imported late.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from keepsake.cli.output import err, items_bar, out, print_json, print_wide
from keepsake.errors import KeepsakeError
from keepsake.paths import places

if TYPE_CHECKING:
    from keepsake.lab.sweep import CellRecord

app = typer.Typer(no_args_is_help=True, help="Measure how well something works.")

_DATA_FILE = "LoCoMo, LongMemEval, REALTALK or ours: docs/evaluation.md; or a folder."
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
    typer.Option("--json", help="Write figures and answers there; goes on if broken off."),
]


@app.command("recall")
def recall(
    data: Annotated[Path, typer.Argument(help=_DATA_FILE)],
    memory: Annotated[
        list[str] | None,
        typer.Option("--memory", "-m", help="Through this memory; may be repeated."),
    ] = None,
    settings: MemorySettings = None,
    limit: QuestionLimit = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for other programs.")] = False,
) -> None:
    """Ask the questions of a file and show how much of their evidence recall finds."""
    from keepsake.cli import memories, recall as recalls  # noqa: I001, PLC0415
    from keepsake.lab.cell import FILE, TrialSource  # noqa: PLC0415
    from keepsake.models.minilm import MiniLMEmbedder  # noqa: PLC0415

    if memory:
        source = TrialSource(FILE, str(data))
        cells = memories.cells_of(source, memory, settings or (), limit=limit)
        found = memories.run(places(), cells, None, evidence=True)
        if as_json:
            print_json(memories.figures(found))
        else:
            print_wide(memories.as_table(found, memories.RETRIEVAL))
        return
    if settings or limit:
        raise KeepsakeError("--set and --limit go with --memory", "Name a memory, such as keepsake")
    scores = recalls.evaluate(data, MiniLMEmbedder(threads=2))
    if as_json:
        print_json(recalls.as_json(scores))
    else:
        out.print(recalls.as_table(scores))


@app.command("answers")
def answers(
    data: Annotated[Path, typer.Argument(help=_DATA_FILE)],
    *,
    memory: Annotated[
        list[str], typer.Option("--memory", "-m", help="Through this memory; may be repeated.")
    ],
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
    from keepsake.lab.cell import FILE, TrialSource  # noqa: PLC0415

    models = {"profile": profile, "judge": judge, "writer": writer}
    source, same = TrialSource(FILE, str(data)), {"limit": limit, "budget": budget, "seed": seed}
    cells = memories.cells_of(source, memory, settings or (), **models, **same)
    found = memories.rows_of(places(), cells, json_file)
    print_wide(memories.as_table(found, memories.ANSWERS))


@app.command("probes")
def probes(
    *,
    memory: Annotated[
        list[str] | None,
        typer.Option("--memory", "-m", help="Of this memory; may be repeated. Ours without it."),
    ] = None,
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
    from keepsake.lab.cell import PROBES, TrialSource  # noqa: PLC0415
    from keepsake.lab.comparing import results_of  # noqa: PLC0415

    source = TrialSource(PROBES, options=(("loads", memories.loads_of(load)), ("lives", lives)))
    same = {"profile": profile, "writer": writer, "seed": seed, "limit": limit}
    cells = memories.cells_of(source, memory or ["keepsake"], settings or (), **same)
    rows = memories.rows_of(places(), cells, json_file)
    found = results_of("probes", {cell.name: each for cell, each in rows.items()})
    for measure in found.timed:
        memories.show_over_time(found, measure)
    print_wide(memories.as_table(rows, memories.PROBED, kinds=kinds))


def sweep_command(
    plan: Annotated[Path, typer.Argument(help="A .yaml file; its form: docs/evaluation.md.")],
    *,
    folder: Annotated[
        Path | None, typer.Option("--out", help="Where results are kept; else beside the plan.")
    ] = None,
    jobs: Annotated[
        int | None, typer.Option(min=1, help="Processes side by side; one a core if not given.")
    ] = None,
    ray: Annotated[bool, typer.Option("--ray", help="Run cells as tasks of Ray.")] = False,
    address: Annotated[str, typer.Option(help="Of a Ray cluster; else this machine.")] = "",
) -> None:
    """Run memories × settings × seeds through the same lives; what is done stays done."""
    from keepsake.cli.memories import show_results  # noqa: PLC0415
    from keepsake.lab.comparing import compared  # noqa: PLC0415
    from keepsake.lab.report import write_parquet, write_report  # noqa: PLC0415
    from keepsake.lab.sweep import Runner, sweep  # noqa: PLC0415
    from keepsake.lab.sweep_plan import read_plan  # noqa: PLC0415
    from keepsake.memory import protocol  # noqa: PLC0415

    found, folder = read_plan(plan), folder or plan.with_suffix("")
    for memory in dict.fromkeys(cell.memory for cell in found.cells):
        protocol.maker(memory)  # said before anything is lived
    with _cells_bar(found.name, len(found.cells)) as done:
        records = sweep(places(), found, folder, Runner(jobs, ray, address), done)
    table, report = folder / "results.parquet", folder / "report.html"
    command = [".venv/bin/keepsake", "sweep", str(plan), "--out", str(folder)]
    command += ["--jobs", str(jobs)] * bool(jobs) + ["--ray"] * ray
    command += ["--address", address] * bool(address)
    write_parquet(records, table)
    write_report(found, records, shlex.join(command), report)
    for results in compared(records):
        show_results(results)
    out.print(f"{table}\n{report}", markup=False)
    if any(record.problem for record in records):
        raise typer.Exit(1)


@contextmanager
def _cells_bar(name: str, total: int) -> Iterator[Callable[[CellRecord, bool], None]]:
    """A bar on standard error; a failed cell is told of at once."""
    before = 0
    with items_bar(name, total) as bar:

        def done(record: CellRecord, earlier: bool) -> None:
            nonlocal before
            before += earlier
            bar(name, 1)
            if record.problem:
                told = f"[red]✗[/red] {record.name}, {record.source}, seed {record.cell['seed']}"
                err.print(f"{told}: {escape(record.problem)}")

        yield done
    if before:
        err.print(f"{before} of {total} cells were done before")
