"""The ``keepsake`` command: start, stop and look at the world."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from dataclasses import asdict
from importlib.metadata import version as package_version
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from keepsake.cli import backup as backups
from keepsake.cli import export as exports
from keepsake.cli import index as indexes
from keepsake.cli import lab, models, own_game, processes, service, simulate, tokens
from keepsake.cli import logs as event_logs
from keepsake.cli import world as worlds
from keepsake.cli.output import err, out, print_json, say
from keepsake.errors import KeepsakeError, not_installed
from keepsake.events.values import FaultLevel
from keepsake.models import fetching
from keepsake.paths import PRIVATE_UMASK, REPOSITORY, Places, places

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Keepsake: a text world whose inhabitants are language-model agents that remember.",
)
app.add_typer(models.app, name="model")
index_app = typer.Typer(no_args_is_help=True, help="The recall index, made from the archives.")
app.add_typer(index_app, name="index")
app.add_typer(tokens.app, name="token")
app.add_typer(service.app, name="service")
app.command("serve")(service.serve)
app.command("mcp")(service.mcp)
app.command("eval")(lab.evaluate)
app.command("simulate", context_settings=simulate.OPTIONS)(simulate.simulate)
app.command("measure")(lab.measure_command)
app.command("sweep")(lab.sweep_command)

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for other programs.")]
AgentNames = Annotated[
    list[str] | None, typer.Option("--agent", "-a", help="Only this agent; may be repeated.")
]
Kinds = Annotated[
    list[str] | None,
    typer.Option("--kind", "-k", help="Only this kind: thought, memory …; may be repeated."),
]
LabName = Annotated[str, typer.Option("--lab", help="Use the simulation of that name.")]
MOST_LINES = 1_000_000_000


_game: Path | None = None
"""The directory of another Evennia game in which the command runs; None for the village."""


def _show_version(wanted: bool) -> None:
    if wanted:
        out.print(f"Keepsake {package_version('evennia-keepsake')}", highlight=False)
        raise typer.Exit


@app.callback()
def options(
    *,
    version: Annotated[
        bool,
        typer.Option(
            "--version", is_eager=True, callback=_show_version, help="Show the version and exit."
        ),
    ] = False,
) -> None:
    """Keepsake: a text world whose inhabitants are language-model agents that remember."""


def main(command: Callable[[], object] = app) -> None:
    """Run the command; print an error as one sentence with its cure."""
    global _game  # noqa: PLW0603 - one per process
    try:
        _game = own_game.adopt()
        if _game is None:  # another game decides about its own files
            os.umask(PRIVATE_UMASK)
        command()
    except KeepsakeError as error:
        _print_error(error)
    except ModuleNotFoundError as error:
        if (problem := not_installed(error.name or "")) is None:
            raise
        _print_error(problem)


def _print_error(error: KeepsakeError) -> None:
    err.print(f"[red]{escape(error.what)}.[/red] {escape(error.cure)}".rstrip())
    sys.exit(1)


# -- the world


def _village(operation: str) -> Places:
    """Return the village's places; raise KeepsakeError in another game, which Evennia starts."""
    if _game is not None:
        raise KeepsakeError(f"{_game} is another Evennia game", f"Use: evennia {operation}")
    if not (REPOSITORY / "game").is_dir():
        raise KeepsakeError("There is no game here", "Go to the directory of your Evennia game")
    return places()


@app.command()
def start(
    foreground: Annotated[
        bool, typer.Option("--foreground", help="Run until the world ends; exit code 1 if it died.")
    ] = False,
    model: Annotated[
        str,
        typer.Option(
            envvar="KEEPSAKE_MODEL",
            help="The model to fetch if no chat model is found: a name in models.md, or none.",
        ),
    ] = "",
    new_vault: Annotated[
        bool,
        typer.Option("--new-vault", help="Give agents whose memories are missing new ones."),
    ] = False,
) -> None:
    """Start the world in the background and wait until a login works."""
    here = _village("start")
    announcement = models.before_start(here, model)
    if foreground:
        signal.signal(signal.SIGTERM, signal.default_int_handler)
    new = worlds.start(here, say, new_vault=new_vault)
    out.print("Keepsake runs." if new else "Keepsake already runs.")
    if announcement:
        fetching.begin(here, model)
        out.print(announcement, markup=False, soft_wrap=True)
    here = processes.running_places(here)
    for what, where in worlds.addresses(here).items():
        out.print(f"  {what:<11} {where}", markup=False)
    if foreground:
        try:
            worlds.watch(here)
        except KeyboardInterrupt:  # a service manager's SIGTERM too
            stop()


@app.command()
def stop() -> None:
    """Stop the world and the processes that it started."""
    was_running = worlds.stop(_village("stop"), say)
    out.print("Keepsake has stopped." if was_running else "Keepsake was not running.")


@app.command()
def reload() -> None:
    """Load changed code; players stay connected."""
    worlds.reload(_village("reload"), say)
    out.print("Keepsake runs the changed code.")


@app.command()
def status(as_json: AsJson = False) -> None:
    """Show what runs; exit code 1 if players cannot log in."""
    found = worlds.status(_village("status"))
    if as_json:
        print_json(found)
    else:
        out.print(worlds.status_table(found))
        if found["model"]:
            out.print(found["model"], markup=False)
        cure = "Players cannot log in. Start the world with `make run`."
        out.print("Players can log in." if found["ready"] else cure)
    raise typer.Exit(0 if found["ready"] else 1)


@app.command()
def doctor(as_json: AsJson = False) -> None:
    """Find what is wrong and say how to fix it; exit code 1 if something is wrong."""
    # It loads the model clients and numpy, a second that other commands save.
    from keepsake.cli.doctor import examine  # noqa: PLC0415 - slow to import

    findings = examine(places(), _game)
    if as_json:
        print_json([asdict(finding) for finding in findings])
    else:
        for finding in findings:
            mark = "[green]✓[/green]" if finding.well else "[red]✗[/red]"
            out.print(f"{mark} {escape(finding.subject)}: {escape(finding.what)}")
            if finding.cure:
                out.print(f"  [yellow]→[/yellow] {escape(finding.cure)}")
    raise typer.Exit(0 if all(finding.well for finding in findings) else 1)


@app.command()
def backup(
    target: Annotated[Path, typer.Argument(metavar="FILE", help="A new file, or a folder for it.")],
) -> None:
    """Write database, vault and secrets to one file; the world may run."""
    with out.status("Backing up"):
        made = backups.backup(places(), target.absolute())
    out.print(
        f"{made.path}: {made.files} files, {made.path.stat().st_size / 1e6:,.1f} MB", markup=False
    )


@app.command()
def restore(
    source: Annotated[
        Path, typer.Argument(metavar="FILE", help="A file that `keepsake backup` made.")
    ],
    replace: Annotated[
        bool, typer.Option("--replace", help="Move an existing world aside.")
    ] = False,
) -> None:
    """Restore a backup into this home and vault; the world must not run."""
    with out.status("Restoring"):
        done = backups.restore(places(), source.absolute(), replace=replace)
    out.print(f"Restored {done.files} files as of {done.made}. Start with `keepsake start`.")
    for folder in done.aside:
        out.print(f"The replaced files are in {folder}", markup=False)
    for link in done.links:
        out.print(f"Not restored, because it is a link: {link}", markup=False)


@index_app.callback()
def index_commands() -> None:
    """Keep ``rebuild`` a command of its own, although it is the only one."""


@index_app.command("rebuild")
def rebuild_index(
    agent: Annotated[str, typer.Argument(help="Only this agent; by default all.")] = "",
) -> None:
    """Make the recall index of one or all agents again; the world may run."""
    names, running = indexes.rebuild(places(), agent)
    when = "now, in the background" if running else "at the next start"
    shown = ", ".join(names) or "none"
    out.print(f"The index is rebuilt {when}: {shown}", markup=False)


# -- the event log


@app.command()
def logs(
    *,
    lines: Annotated[
        int, typer.Option("-n", "--lines", min=0, max=MOST_LINES, help="Past lines to show first.")
    ] = 20,
    follow: Annotated[bool, typer.Option(help="Keep showing new lines.")] = True,
    agent: AgentNames = None,
    kind: Kinds = None,
    level: Annotated[
        FaultLevel | None,
        typer.Option(help="Only faults: warnings and errors, or errors alone."),
    ] = None,
    lab: LabName = "",
    as_json: AsJson = False,
) -> None:
    """Show the event log (what agents think and do), and follow it."""
    here = simulate.places_of(lab)
    wanted = event_logs.wanted_events(agent or (), kind or (), level)
    event_logs.show_events(here, wanted, lines, go_on=follow, as_json=as_json)


@app.command()
def export(
    folder: Annotated[Path, typer.Argument(help="A new or empty folder for the tables.")],
    *,
    agent: AgentNames = None,
    kind: Kinds = None,
    lab: LabName = "",
) -> None:
    """Write events, prompts, memories and people as JSON lines, for jq, pandas or DuckDB."""
    here = simulate.places_of(lab)
    wanted = event_logs.wanted_events(agent or (), kind or ())
    tables = exports.export(here, folder, wanted, archives=not kind)
    for path, rows in tables.items():
        out.print(f"{rows:>9,} rows  {path}", markup=False)
