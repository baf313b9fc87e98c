"""``keepsake eval probes``, ``eval answers`` and ``sweep``: their options on the command line.

The work is imported when it is wanted: models and charts take a second that no other command needs.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from keepsake.paths import Places, places

MemorySettings = Annotated[
    list[str] | None,
    typer.Option("--set", help="key=value for all memories, or memory.key=value; repeatable."),
]
QuestionLimit = Annotated[
    int, typer.Option(min=0, help="How many questions at most, spread over all; 0: all.")
]


def answers(
    data: Annotated[Path, typer.Argument(help="A file or folder: docs/evaluation.md.")],
    *,
    memory: Annotated[
        list[str], typer.Option("--memory", "-m", help="Through this memory; may be repeated.")
    ],
    profile: Annotated[str, typer.Option(help="The profile of llm.md that answers.")],
    judge: Annotated[str, typer.Option(help="The profile that judges the answers as well.")] = "",
    writer: Annotated[
        str, typer.Option(help="The profile that writes memories' summaries; else by rules.")
    ] = "",
    settings: MemorySettings = None,
    limit: QuestionLimit = 0,
    budget: Annotated[
        int, typer.Option(min=0, help="Tokens of memory in a prompt; 0: as the profile has room.")
    ] = 0,
    seed: Annotated[int, typer.Option(min=0, help="Where chance comes from.")] = 1,
    json_file: Annotated[
        Path | None,
        typer.Option("--json", help="Write figures and answers there; goes on if broken off."),
    ] = None,
    show_judge: Annotated[
        bool, typer.Option("--show-judge", help="Print what the judge is asked, and end.")
    ] = False,
) -> None:
    """Have a model answer a benchmark's questions from what memories give it; grade the answers."""
    from game.cli.lab import evaluating  # noqa: PLC0415 - other commands need not wait
    from keepsake.lab.trials.cell import FILE, TrialSource  # noqa: PLC0415 - the same
    from keepsake.lab.trials.judging import KNOWN, UNKNOWN  # noqa: PLC0415 - the same

    if show_judge:
        print(KNOWN, UNKNOWN, sep="\n\n---\n\n")
        return
    cells = evaluating.cells_of(
        TrialSource(FILE, str(data)),
        memory,
        settings or (),
        seed=seed,
        profile=profile,
        judge=judge,
        writer=writer,
        limit=limit,
        budget=budget,
    )
    evaluating.answers(places(), cells, json_file)


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
    writer: Annotated[
        str, typer.Option(help="The profile that writes memories' summaries; else by rules.")
    ] = "",
    settings: MemorySettings = None,
    limit: QuestionLimit = 0,
    kinds: Annotated[bool, typer.Option("--kinds", help="By what was told as well.")] = False,
    chart_file: Annotated[
        Path | None, typer.Option("--chart", help="Draw the curves: a .png or .svg file.")
    ] = None,
    json_file: Annotated[
        Path | None,
        typer.Option("--json", help="Write figures and answers there; goes on if broken off."),
    ] = None,
) -> None:
    """Have visitors tell a memory what they ask for an hour, a day and a week later."""
    from game.cli.lab import evaluating  # noqa: PLC0415 - other commands need not wait
    from keepsake.lab.trials.cell import PROBES, TrialSource  # noqa: PLC0415 - the same
    from keepsake.memory.protocol import KEEPSAKE  # noqa: PLC0415 - the same

    options = (("loads", evaluating.loads_of(load)), ("lives", lives))
    source = TrialSource(PROBES, options=options)
    given = {"profile": profile, "writer": writer, "seed": seed, "limit": limit}
    cells = evaluating.cells_of(source, memory or [KEEPSAKE], settings or (), **given)
    evaluating.probes(places(), cells, chart=chart_file, json_file=json_file, kinds=kinds)


def sweep(
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
    from game.cli.lab import sweeping  # noqa: PLC0415 - other commands need not wait
    from keepsake.lab.sweeps.sweep import Runner  # noqa: PLC0415 - the same

    if not sweeping.swept(places(), plan, folder, Runner(jobs, ray, address)):
        raise typer.Exit(1)


def places_of(lab: str) -> Places:
    """The places of the simulation of that name; those of the world where none is named.

    Raises:
        KeepsakeError: There is no such simulation.
    """
    if not lab:
        return places()
    from keepsake.lab.simulations.plan import lab_of  # noqa: PLC0415 - other commands need not wait

    found = lab_of(places(), lab)
    found.plan()  # says which there are, if there is none of that name
    return found.places()
