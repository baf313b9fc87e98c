"""The ``keepsake`` command: start, stop and look at the world."""

from __future__ import annotations

import io
import signal
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from game.cli import index, models
from game.cli.lab import commands as lab_commands
from game.cli.logs import logs as event_logs
from game.cli.output import err, out, print_json
from game.cli.progress import ProgressDisplay, bytes_bar
from game.cli.world import backup as backups
from game.cli.world import processes, starting, stopping
from game.cli.world import restore as restoring
from game.cli.world import status as statuses
from game.cli.world.evennia_entry import ADMIN
from keepsake.errors import KeepsakeError
from keepsake.paths import Places, places

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Keepsake: a text world whose inhabitants are language-model agents that remember.",
)
app.add_typer(index.app, name="index")
app.add_typer(models.app, name="model")

recall_app = typer.Typer(no_args_is_help=True, help="The agents' recall, for other programs.")
eval_app = typer.Typer(no_args_is_help=True, help="Measure how well something works.")
app.add_typer(recall_app, name="recall")
app.add_typer(eval_app, name="eval")

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for other programs.")]
AgentNames = Annotated[
    list[str] | None, typer.Option("--agent", "-a", help="Of this agent; may be repeated.")
]
Kinds = Annotated[
    list[str] | None,
    typer.Option("--kind", "-k", help="thought, memory, compaction … ; may be repeated."),
]

OfLab = Annotated[str, typer.Option("--lab", help="Of the simulation of that name.")]
_DATA_FILE = "LoCoMo, LongMemEval, REALTALK or ours: docs/evaluation.md; or a folder."
MOST_LINES = 1_000_000_000


def main() -> None:
    """Run the command; what goes wrong is said in one sentence, with its cure."""
    try:
        app()
    except KeepsakeError as error:
        err.print(f"[red]{escape(error.what)}.[/red] {escape(error.cure)}".rstrip())
        sys.exit(1)


@app.command()
def start(
    foreground: Annotated[
        bool,
        typer.Option("--foreground", help="Stay until it ends; exit code 1 if it died."),
    ] = False,
) -> None:
    """Start the world in the background and wait until a login works."""
    here = places()
    if foreground:
        signal.signal(signal.SIGTERM, signal.default_int_handler)
    with ProgressDisplay(out) as progress:
        started = starting.start(here, progress.step)
    out.print("Keepsake already runs." if started.already_ran else "Keepsake runs.")
    _print_addresses(processes.actual(here))
    if started.password_changed:
        out.print(
            "The admin's password was changed in the game, so that file no longer holds it. "
            "(Delete the file and start anew to get a fresh one.)"
        )
    if foreground:
        try:
            starting.watch(here)
        except KeyboardInterrupt:  # a service manager's SIGTERM too
            stop()


@app.command()
def stop(
    force: Annotated[
        bool, typer.Option("--force", help="Also when memories that no disk takes are lost.")
    ] = False,
) -> None:
    """End the world and the model server."""
    here = places()
    with ProgressDisplay(out) as progress:
        stopped = stopping.stop(here, progress.step, force=force)
    out.print("Keepsake has stopped." if stopped.anything else "Keepsake was not running.")
    for agent, number in stopped.waiting.items():
        out.print(
            f"{number} memories of {agent} wait in {here.spill}, as its archive could not be "
            "written; the next start takes them into it.",
            markup=False,
        )


@app.command()
def reload() -> None:
    """Load changed code; players stay connected."""
    with ProgressDisplay(out) as progress:
        starting.reload(places(), progress.step)
    out.print("Keepsake runs the present code.")


@app.command()
def backup(
    target: Annotated[Path, typer.Argument(metavar="FILE", help="Or a folder that exists.")],
    keep: Annotated[
        int, typer.Option(min=0, help="In a folder: how many backups stay there; 0 for all.")
    ] = 0,
) -> None:
    """Keep database, vault and secrets of one moment in a file; the world may run."""
    with bytes_bar("Backing up") as progress:
        kept = backups.backup(places(), target.absolute(), progress, keep)
    out.print(f"{kept.path}: {kept.files} files, {kept.size / 1e6:,.1f} MB", markup=False)
    for old in kept.removed:
        out.print(f"removed {old}", markup=False)


@app.command()
def restore(
    source: Annotated[Path, typer.Argument(metavar="FILE", help="What `keepsake backup` made.")],
    replace: Annotated[
        bool, typer.Option("--replace", help="Move a world that is there aside.")
    ] = False,
) -> None:
    """Make the world of this home and vault what it was at a backup; it must not run."""
    size = source.stat().st_size if source.is_file() else None
    with bytes_bar("Restoring", size) as progress:
        done = restoring.restore(places(), source.absolute(), progress, replace=replace)
    out.print(f"Restored {done.files} files as of {done.made}. Start it with `keepsake start`.")
    for folder in done.aside:
        out.print(f"What was there before is in {folder}", markup=False)


@app.command()
def status(as_json: AsJson = False) -> None:
    """Show what runs; exit code 1 when nobody could log in."""
    found = statuses.look(places())
    if as_json:
        print_json(found)
    else:
        out.print(statuses.as_table(found))
        works = "A login works." if found["ready"] else "No login works. Start with `make run`."
        out.print(works)
    raise typer.Exit(0 if found["ready"] else 1)


@app.command()
def logs(
    which: Annotated[str, typer.Argument(help="events, agents, server, portal …")] = "events",
    *,
    lines: Annotated[
        int, typer.Option("-n", "--lines", min=0, max=MOST_LINES, help="How many to show first.")
    ] = 20,
    follow: Annotated[bool, typer.Option(help="Go on showing what is added.")] = True,
    agent: AgentNames = None,
    kind: Kinds = None,
    text: Annotated[bool, typer.Option("--text", help="The agents' log as plain text.")] = False,
    lab: OfLab = "",
    as_json: AsJson = False,
) -> None:
    """Show what the agents think and do, or a text log, and follow it."""
    here = lab_commands.places_of(lab)
    if text or which != event_logs.EVENTS:
        name = event_logs.AGENTS if which == event_logs.EVENTS else which
        event_logs.show_text(out, here, name, lines, go_on=follow)
    else:
        wanted = event_logs.wanted_events(agent or (), kind or ())
        for line in event_logs.unknown_agents(here, agent or ()):
            err.print(line, markup=False)
        event_logs.show_events(out, here, wanted, lines, go_on=follow, as_json=as_json)


@app.command()
def export(
    folder: Annotated[Path, typer.Argument(help="Where the tables go; made when missing.")],
    *,
    form: Annotated[
        list[str] | None, typer.Option("--format", help="parquet, csv; both by default.")
    ] = None,
    agent: AgentNames = None,
    kind: Kinds = None,
    prompts: Annotated[bool, typer.Option(help="The prompts as well, whole.")] = True,
    probes: Annotated[
        Path | None, typer.Option(help="What `eval probes --json` wrote, as a table as well.")
    ] = None,
    lab: OfLab = "",
) -> None:
    """Write events, memories, people and answers as tables for pandas, DuckDB or a spreadsheet."""
    # Here, since pyarrow takes its time and no other command needs it.
    from game.cli.logs import exports, lives  # noqa: PLC0415 - other commands need not wait

    here, wanted = lab_commands.places_of(lab), event_logs.wanted_events(agent or (), kind or ())
    more = () if kind else lives.tables(here, wanted, probes)
    for table in exports.export(
        here.events, folder, exports.forms(form), wanted, prompts=prompts, more=more
    ):
        out.print(f"{table.rows:>9,} rows  {table.path}", markup=False)


@app.command()
def simulate(
    context: typer.Context,
    name: Annotated[
        str, typer.Argument(help="What to call it; seed-7 and so on if not given.")
    ] = "",
    *,
    agents: Annotated[int, typer.Option(help="How many agents, 1 to 100.")] = 5,
    hours: Annotated[
        float | None, typer.Option(help="Hours to live through, 24 if not given.")
    ] = None,
    seed: Annotated[int, typer.Option(help="The dice: the same seed, the same life.")] = 7,
    model: Annotated[
        str,
        typer.Option(help="scripted; vault: as llm.md; embedded; ollama:M; openai:M@HOST."),
    ] = "scripted",
    start: Annotated[str, typer.Option(help="Its first moment.")] = "2026-05-04T08:00",
    zone: Annotated[str, typer.Option(help="The time zone of that.")] = "UTC",
    visitors: Annotated[int, typer.Option(help="How many players come and go, 0 to 20.")] = 1,
    villages: Annotated[
        int, typer.Option(help="How many copies of the village they are shared out among.")
    ] = 1,
    strategy: Annotated[str, typer.Option(help="A template of vault/config/compaction.")] = "",
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set", help="A setting: idle_interval=60, sleep.awake_hours=12; may be repeated."
        ),
    ] = None,
    memory: Annotated[
        str, typer.Option(help="What its agents remember with: rag, mem0, package:Class …")
    ] = "",
    resume: Annotated[str, typer.Option(help="Go on with the simulation of that name.")] = "",
) -> None:
    """Live through days in a world of its own, as fast as the models answer."""
    from game.cli.lab import simulate as simulating  # noqa: PLC0415 - other commands need not wait
    from keepsake.lab.simulations.plan import SimulationPlan  # noqa: PLC0415 - the same
    from keepsake.lab.simulations.settings import settings_from  # noqa: PLC0415 - the same
    from keepsake.lab.simulations.simulate import create, resumed  # noqa: PLC0415 - the same

    here = places()
    if resume:
        _refuse_beside_resume(context)
        lab = resumed(here, resume, hours)
    else:
        length = 24.0 if hours is None else hours
        chosen = settings_from(settings or (), strategy)
        plan = SimulationPlan(
            *(name, agents, length, seed, start, zone, model, visitors, chosen),
            memory=memory,
            villages=villages,
        )
        lab = create(here, plan)
    raise typer.Exit(0 if simulating.show(out, lab) else 1)


app.command("sweep")(lab_commands.sweep)


@app.command("doctor")
def examine(as_json: AsJson = False) -> None:
    """Look for what is wrong and say the cure; exit code 1 when something is."""
    # Here, since it brings the model clients and numpy: a second that no other command needs.
    from game.cli.checks import doctor  # noqa: PLC0415 - other commands need not wait

    findings = doctor.examine(places())
    if as_json:
        print_json([asdict(finding) for finding in findings])
    else:
        for finding in findings:
            mark = "[green]✓[/green]" if finding.well else "[red]✗[/red]"
            out.print(f"{mark} {escape(finding.subject)}: {escape(finding.what)}")
            if finding.cure:
                out.print(f"  [yellow]→[/yellow] {escape(finding.cure)}")
    raise typer.Exit(0 if all(finding.well for finding in findings) else 1)


@recall_app.command("serve")
def serve_recall() -> None:
    """Answer JSON lines on standard input with JSON lines on standard output."""
    # Here, since onnxruntime and numpy take their time and no other command needs them.
    from game.cli import recall  # noqa: PLC0415 - other commands need not wait
    from keepsake.models.minilm import MiniLMEmbedder  # noqa: PLC0415 - other commands need not wait

    for stream in (sys.stdin, sys.stdout):
        if isinstance(stream, io.TextIOWrapper):  # whatever the locale says, JSON is UTF-8
            stream.reconfigure(encoding="utf-8", errors="replace")
    recall.RecallServer(MiniLMEmbedder(threads=2)).serve(sys.stdin, sys.stdout)


@eval_app.command("recall")
def evaluate_recall(
    data: Annotated[Path, typer.Argument(help=_DATA_FILE)],
    memory: Annotated[
        list[str] | None,
        typer.Option("--memory", "-m", help="Through this memory; may be repeated."),
    ] = None,
    settings: lab_commands.MemorySettings = None,
    limit: lab_commands.QuestionLimit = 0,
    as_json: AsJson = False,
) -> None:
    """Ask the questions of a file and show how much of their evidence recall finds."""
    from game.cli import recall  # noqa: PLC0415 - other commands need not wait
    from keepsake.models.minilm import MiniLMEmbedder  # noqa: PLC0415 - other commands need not wait

    if memory:
        from game.cli.lab import evaluating  # noqa: PLC0415 - the same
        from keepsake.lab.trials.cell import FILE, TrialSource  # noqa: PLC0415 - the same

        source = TrialSource(FILE, str(data))
        cells = evaluating.cells_of(source, memory, settings or (), limit=limit)
        evaluating.recall(places(), cells, as_json=as_json)
        return
    if settings or limit:
        raise KeepsakeError("--set and --limit go with --memory", "Name a memory, such as keepsake")
    found = recall.evaluate(data, MiniLMEmbedder(threads=2))
    if as_json:
        print_json(recall.as_json(found))
    else:
        out.print(recall.as_table(found))


eval_app.command("probes")(lab_commands.probes)
eval_app.command("answers")(lab_commands.answers)


def _refuse_beside_resume(context: typer.Context) -> None:
    """What a simulation is made with stays: whoever gives it another value must hear of it."""
    for option in context.params:
        source = context.get_parameter_source(option)
        given = source is not None and source.name == "COMMANDLINE"
        if given and option not in ("resume", "hours"):
            flag = {"name": "a second name", "settings": "--set"}
            told = flag.get(option, f"--{option}")
            raise KeepsakeError(
                f"{told} does not go with --resume: a simulation stays what it was made as",
                "Leave it out, or make another simulation; only --hours can be changed",
            )


def _print_addresses(here: Places) -> None:
    host = "localhost" if here.listen in ("127.0.0.1", "0.0.0.0") else here.listen
    out.print(f"  telnet      telnet {host} {here.ports.telnet}")
    if here.certificate is not None:
        out.print(f"  with TLS    {host}, port {here.ports.telnet_tls}")
    web = f"{'https' if here.certificate else 'http'}://{host}:{here.ports.web}"
    out.print(f"  web         {web}/webclient/")
    out.print(f"  dashboard   {web}/agents/ (as admin)")
    out.print(f"  admin       {ADMIN}, password in {here.admin_password}", markup=False)
    out.print("  newcomers   type: create <name> <password>", markup=False)
    out.print("  models      keepsake model list: some talk better than the shipped one")
