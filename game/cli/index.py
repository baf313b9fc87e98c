"""``keepsake index``: make what is derived anew."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Annotated, Any

import typer
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bars

from game.cli.output import err, out
from game.cli.world import client, home, processes
from game.cli.world.processes import Component
from keepsake.paths import Places, places

POLL_SECONDS = 0.2
app = typer.Typer(no_args_is_help=True, help="The recall index, which follows from the vault.")

type Ask = Callable[[str, str | None], Any]
"""Asks ``index_rebuild`` (with an agent or None) or ``index_status``."""


@app.command("rebuild")
def rebuild(
    agent: Annotated[str | None, typer.Argument(help="One agent; all without it.")] = None,
) -> None:
    """Make the index anew from archive and vault; the world may run meanwhile."""
    with _asking(places()) as ask:
        began = ask("index_rebuild", agent)
        if not began["agents"]:
            out.print("No agent has lived yet: there is nothing to index.")
            return
        problems = _watch(ask)
    for problem in problems:
        err.print(f"[red]✗[/red] {escape(problem)}")
    if problems:
        raise typer.Exit(1)
    count = len(began["agents"])
    out.print(f"The index of {count} agent{'s' if count > 1 else ''} was made anew.")


def _watch(ask: Ask) -> list[str]:
    """Show how far it is until it is over; what went wrong."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Bars(*columns, TimeElapsedColumn(), console=out) as bars:
        whole, one = bars.add_task("agents"), bars.add_task("memories", visible=False)
        while True:
            found = ask("index_status", None)["rebuild"]
            agents, finished = found["agents"], found["finished"]
            bars.update(whole, completed=finished, total=len(agents))
            if finished >= len(agents):
                bars.update(one, visible=False)
                return list(found["problems"])
            bars.update(
                one,
                description=escape(agents[finished]),
                completed=found["done"],
                total=found["total"] or None,
                visible=True,
            )
            time.sleep(POLL_SECONDS)


@contextmanager
def _asking(here: Places) -> Iterator[Ask]:
    """Through the world when it runs: two processes must never write one index."""
    if processes.one(processes.running(here), Component.SERVER) is not None:
        yield lambda operation, agent: client.ask(here, operation, agent=agent)
        return
    # Here, since they bring numpy and the model clients, which no other command needs.
    from keepsake.index import service  # noqa: PLC0415 - only where it is needed: seconds to import
    from keepsake.models.embedding import EmbedderProfile, embedder, load_embedder  # noqa: PLC0415 - as above
    from keepsake.recall.config import RecallConfig  # noqa: PLC0415 - as above

    llm, recall = here.config / "llm.md", here.config / "recall.md"
    profile = load_embedder(llm) if llm.exists() else EmbedderProfile()
    settings = RecallConfig.load(recall) if recall.exists() else RecallConfig()
    with (
        home.alone(here),
        service.alone(
            here, settings, embedder(profile), lambda line: err.print(escape(line))
        ) as own,
    ):
        known = {"index_rebuild": own.answer_rebuild, "index_status": own.answer_status}
        yield lambda operation, agent: known[operation]({"agent": agent})
