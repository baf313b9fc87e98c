"""``keepsake index``: make what is derived anew."""

from __future__ import annotations

import time
from typing import Annotated

import typer
from rich.markup import escape

from game.cli.output import err, out
from game.cli.world import client
from keepsake.paths import places

POLL_SECONDS = 0.5
app = typer.Typer(no_args_is_help=True, help="The recall index, which follows from the vault.")


@app.command("rebuild")
def rebuild(
    agent: Annotated[str | None, typer.Argument(help="One agent; all without it.")] = None,
) -> None:
    """Make the index of the running world anew from archive and vault."""
    here = places()
    agents = client.ask(here, "index_rebuild", agent=agent)["agents"]
    with out.status("Making the index anew") as shown:
        while True:
            found = client.ask(here, "index_status")["rebuild"]
            if found["finished"] >= len(agents):
                break
            shown.update(f"{agents[found['finished']]}: {found['done']} of {found['total']}")
            time.sleep(POLL_SECONDS)
    for problem in found["problems"]:
        err.print(f"[red]✗[/red] {escape(problem)}")
    if found["problems"]:
        raise typer.Exit(1)
    out.print(f"The index was made anew, of {len(agents)} agents.")


@app.callback()
def _only_a_group() -> None:
    """So that ``rebuild`` is a command of its own, though it is the only one."""
