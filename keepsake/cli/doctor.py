"""``keepsake doctor``: looks for problems and names the cure of each.

A check is a function that returns what it saw. It reports problems through its argument, or raises
a :class:`KeepsakeError`. What the running world knows of itself is on its pages and in its log.
"""

from __future__ import annotations

import os
import shutil
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from keepsake import database, vault_lock
from keepsake.agent.settings import RecallConfig, SleepConfig, ThinkingConfig
from keepsake.archive.log import Archive
from keepsake.archive.spill import Spill
from keepsake.books.journal import Journal
from keepsake.books.kept_lines import NOTICED, PINNED, Commitments, Pinned
from keepsake.books.notes import NoteBook
from keepsake.books.people import PeopleBook
from keepsake.cli import own_game, processes
from keepsake.cli.processes import Component
from keepsake.errors import ConfigError, KeepsakeError
from keepsake.events.files import newest_first, time_of
from keepsake.events.types import Fault
from keepsake.events.values import FaultLevel
from keepsake.json_lines import Record
from keepsake.memory.config import CompactionConfig
from keepsake.memory.integrity import check_lines
from keepsake.models import profiles as model_profiles
from keepsake.models.catalogue import load_catalogue
from keepsake.models.detection import detected_profiles
from keepsake.models.embedders import load_embedder, unfit
from keepsake.models.gateway import build
from keepsake.models.local.embedded import Embedded, require_embedded, require_gguf
from keepsake.models.local.minilm import MiniLMEmbedder
from keepsake.models.profiles import EMBEDDED, NO_MODEL
from keepsake.paths import SHIPPED_CONFIG, Places, exposed
from keepsake.ports import Embedder
from keepsake.recall.agent_index import WORDS
from keepsake.recall.chroma import Chroma
from keepsake.recall.chroma_server import DATABASE, ChromaServer, broken_folder
from keepsake.recall.stores import CHILD, NONE
from keepsake.shipped_config import other_files
from keepsake.tasks import task_prompts

LOADERS: Mapping[str, Callable[[Path], object]] = {
    "llm.md": lambda path: (model_profiles.load(path), load_embedder(path)),
    "models.md": load_catalogue,
    "memory_compaction.md": CompactionConfig.load,
    "recall.md": RecallConfig.load,
    "sleep.md": SleepConfig.load,
    "thinking.md": ThinkingConfig.load,
    **task_prompts.LOADERS,
}
"""The function that reads each configuration file; it raises ConfigError if the file is wrong."""
LEAST_FREE_MB = 500
"""Megabytes of free disk below which a folder is reported."""
_SHOWN = 5
"""The most problems of one archive that are named."""
FAULTS_SINCE = timedelta(days=1)
"""How far back faults are counted: what failed before was seen, or works again."""
_FAULT_BYTES = 64_000_000
"""The most bytes of the event log to read for faults: a busy world's day, in about a second."""

type Report = Callable[[str, str], None]
"""A function that records a problem and its cure."""


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of a check."""

    subject: str  # what was checked
    well: bool  # whether it is as it should be
    what: str  # what was seen
    cure: str = ""  # what to do about it; empty if all is well


def examine(asked: Places, game: Path | None = None) -> list[Finding]:
    """Run every check, in order, on the copy with that home, on the ports of its running world.

    ``game``: The directory of another Evennia game, whose settings are checked, too.
    """
    if game is None:
        here = processes.running_places(asked)
        return [finding for subject in CHECKS for finding in examine_subject(here, subject)]
    missing = own_game.missing_setting()
    what = missing or f"{game} starts the agents"
    found = [Finding("Game", not missing, what, f"Add it; {own_game.PAGE}" if missing else "")]
    cure = 'Set KEEPSAKE = {"port_base": …} in settings.py; the servers use port_base + 7 and + 8'
    children = processes.taken_ports(asked, "model server", "vector server")
    found += [Finding("Ports", False, obstacle, cure) for obstacle in children]
    rest = (name for name in CHECKS if name not in ("Ports", "Privacy", "Memories"))
    return [*found, *(each for name in rest for each in examine_subject(asked, name))]


def examine_subject(here: Places, subject: str) -> list[Finding]:
    """Run the check with that name."""
    found: list[Finding] = []

    def report(what: str, cure: str) -> None:
        found.append(Finding(subject, False, what, cure))

    try:
        seen = CHECKS[subject](here, report)
    except ConfigError as error:
        seen = f"not checked, because {error.path.name} cannot be used"
    except KeepsakeError as error:
        report(error.what, error.cure or f"See the logs in {here.logs}")
    return found or [Finding(subject, True, seen)]


# -- the machine


def copy(here: Places, report: Report) -> str:
    """Check that home and vault can be written to and have room; say which copy this is."""
    for folder, variable in ((here.home, "KEEPSAKE_HOME"), (here.agents, "KEEPSAKE_VAULT")):
        nearest = next(each for each in (folder, *folder.parents) if each.exists())
        free = shutil.disk_usage(nearest).free // 1_000_000
        if not os.access(nearest, os.W_OK | os.X_OK):
            cure = f"Fix its permissions, or set {variable} to a folder of your own"
            report(f"{nearest} cannot be written to", cure)
        elif free < LEAST_FREE_MB:
            report(f"{folder} has only {free:,} MB free", "Free some disk space")
    # A world of Evennia's own runs without its agents if another copy has their vault.
    runs = processes.running(here)
    if holder := vault_lock.other_holder(here) if runs else vault_lock.holder(here):
        cure = "Stop that copy, or set KEEPSAKE_VAULT to another folder"
        report(f"the vault {here.vault} is in use by {holder}", cure)
    if here.own_world_given and not here.own_world.is_dir():
        cure = "Make it, mount its disk, or unset KEEPSAKE_WORLD"
        report(f"the own world {here.own_world} is missing", cure)
    own = f", own world {here.own_world}" if here.own_world.is_dir() else ""
    return f"home {here.home}, vault {here.vault}{own}, port base {here.ports.base}"


def privacy(here: Places, report: Report) -> str:
    """Check that no other user of this machine can read the home's secrets and the memories."""
    for path, command in exposed(here):
        cure = f"The next start mends it, or you: {command}"
        report(f"other users of this machine can read {path}", cure)
    return "no other user of this machine can read home and agents"


def ports(here: Places, report: Report) -> str:
    """Check that every port is free, or held by a process of this copy."""
    for obstacle in processes.taken_ports(here):
        report(obstacle, processes.ports_cure(here.ports))
    return f"{here.ports.telnet} to {here.ports.vectors} are free or ours"


def world(here: Places, report: Report) -> str:
    """Check that Portal and Server both run, or neither of them."""
    missing = processes.missing(here)
    if missing and missing != processes.EVENNIA_PROCESSES:
        cure = f"`keepsake start` fixes that; {here.logs / 'server.log'} says why it ended"
        report(f"runs without its {' and '.join(sorted(missing))}", cure)
    return "not running" if missing else "runs"


def world_database(here: Places, report: Report) -> str:
    """Check that the database can be reached and read."""
    database.check_world(here)
    if here.database_url:
        version = database.query(here, "SHOW server_version")
        return f"{database.address(here)}, PostgreSQL {version}"
    database.check_intact(here)
    if not here.database.exists():
        return f"{here.database} (SQLite) is created at the first start"
    return f"{here.database}, SQLite, {here.database.stat().st_size / 1e6:,.0f} MB"


# -- configuration and memories


def configuration(here: Places, report: Report) -> str:
    """Check that each configuration file exists and can be used."""
    if not here.config.exists():
        return f"{here.config} is created at the first start"
    loaders = {here.config / name: load for name, load in LOADERS.items()}
    for path, load in loaders.items():
        if not path.exists():
            report(f"{path} is missing", "The next start restores it")
            continue
        try:
            load(path)
        except ConfigError as error:
            report(f"{path}, line {error.line}: {error.reason}", error.cure or "Fix this line")
    valid = f"{len(loaders)} files in {here.config} are valid"
    if others := other_files(SHIPPED_CONFIG, here.config):
        return f"{valid}; not as this version ships them: {', '.join(others)}"
    return valid


def waiting(here: Places, report: Report) -> str:
    """Check that no memories wait because their archive cannot be written."""
    for agent, lines in Spill(here.spill).waiting().items():
        cure = "Free space on the vault's disk, or fix its permissions; they are archived later"
        report(f"memories of {agent} that wait in {here.spill}: {len(lines)}", cure)
    return "none"


def memories(here: Places, report: Report) -> str:
    """Check that the vault has a folder for each agent of the running world."""
    if not processes.newest(here, Component.SERVER):
        return "checked by the running world, and by each start"
    for agent in processes.ask(here, "missing_memories"):
        cure = (
            f"Put its folder back into {here.agents} (is its disk mounted?) and reload, or give it "
            "a new memory: `keepsake stop`, `keepsake start --new-vault`"
        )
        report(f"the memory of {agent} is missing; it is not opened", cure)
    return "every agent has its folder"


def archives(here: Places, report: Report) -> str:
    """Check that the archives can be read and are complete."""
    lines = 0
    folders = sorted(here.agents.glob("*/archive"))
    for folder in folders:
        try:
            with closing(Archive(folder, read_only=True)) as archive:
                checked = check_lines(archive)
            lines = lines + checked.lines
            problems = checked.problems
        except (KeepsakeError, OSError) as error:
            problems = (f"it cannot be read ({error.__cause__ or error})",)
        if problems:
            cure = "Restore it from a backup (`keepsake restore`); readable lines are still used"
            report(f"{folder.parent.name}: {'; '.join(problems[:_SHOWN])}", cure)
    return f"{lines:,} lines of {len(folders)} agents are intact"


def files(here: Places, report: Report) -> str:
    """Check that the agents' books can be read, in the way the game reads them."""
    found = sorted(each for each in here.agents.glob("*") if each.is_dir())
    for agent in found:
        books = (
            NoteBook(agent / "notes"),
            Journal(agent / "journal"),
            PeopleBook(agent),
            Pinned(agent / PINNED),
            Commitments(agent / NOTICED),
        )
        for problem in (problem for book in books for problem in book.problems):
            report(problem, "Fix or remove it: the game ignores this file")
        for aside in agent.glob("summaries/*-edited-before-*.md"):
            report(f"{aside} has edits that were not used", "Copy what you need, then delete it")
    return f"the files of {len(found)} agents can be read"


def faults(here: Places, report: Report) -> str:
    """Report the errors of the last day, counted by agent and subsystem, with the newest of each.

    Warnings are only counted: what they are about works again, or in a simpler way.
    """
    since = datetime.now(UTC) - FAULTS_SINCE
    newest = dict[tuple[str, str], Record]()
    errors = Counter[tuple[str, str]]()
    warnings = Counter[tuple[str, str]]()
    kind = Fault.kind
    day = f"{since:%Y-%m-%d}"
    for record in newest_first(here.events, kind=kind, since=day, most=_FAULT_BYTES):
        when = time_of(record.get("t"))
        if when is None or when < since:
            break
        of = str(record.get("agent", "")), str(record.get("subsystem", ""))
        if record.get("level") == FaultLevel.WARNING:
            warnings[of] += 1
        else:
            errors[of] += 1
            newest.setdefault(of, record)
    for of, count in errors.most_common():
        last = newest[of]
        what = f"{_named(of)}: {count} since yesterday, the newest at {last['t']}"
        report(f"{what}: {last.get('text')}", f"Look in {here.agents_log} for its traceback")
    told = [f"{_named(of)} {count}" for of, count in warnings.most_common()]
    return f"warnings since yesterday: {', '.join(told)}" if told else "none since yesterday"


def _named(of: tuple[str, str]) -> str:
    """Return the agent and the subsystem of faults, as far as they are known."""
    return ", ".join(filter(None, of)) or "other"


# -- models and the index


def servers(here: Places, report: Report) -> str:
    """Check that each model server named by a profile answers and has its model."""
    embedded = Embedded(here)
    profiles = detected_profiles(here)
    seen = [f"the agents' model is {profiles.agent_model_line}"]
    asked = {
        (profile.provider, profile.host, profile.model): profile
        for profile in profiles.current.values()
        if profile.provider != NO_MODEL
    }
    with suppress(KeepsakeError):  # no world runs here
        for shortage in processes.ask(here, "shortages"):
            report(*shortage.split(". ", 1))
    for (provider, _, _), profile in asked.items():
        if provider == EMBEDDED:
            require_embedded()
            require_gguf(here.models / profile.model_file)
        if provider == EMBEDDED and not processes.newest(here, Component.MODEL):
            if _has_agents(here):
                cure = f"It restarts automatically; {here.logs / 'model.log'} says why it ended"
                report(f"{provider} at {embedded.address} does not run", cure)
            seen.append(f"{provider} starts with the first agent of the world")
            continue
        server = build(profile, embedded)
        try:
            seen.append(f"{provider} at {server.host}: {server.check()}")
            takes = server.capabilities
            if takes.known:
                seen[-1] += f", {takes.kind}, form {takes.form}, {takes.context:,} tokens"
        except KeepsakeError as error:
            report(error.what, error.cure)
    return "; ".join(seen)


def embedding(here: Places, report: Report) -> str:
    """Check that texts can be embedded, by embedding one short text."""
    path = here.config / "llm.md"
    asked: Embedder = MiniLMEmbedder()
    if path.exists():
        asked = load_embedder(path, detected_profiles(here).found, here.language)
    if (problem := unfit(asked, here.language)) is not None:
        report(problem.what, problem.cure)
    dimension = len(asked.embed(["Is anybody there?"])[0])
    return f"{asked.model_name} answers with {dimension} dimensions"


def vectors(here: Places, report: Report) -> str:
    """Check that the Chroma server named by ``recall.md`` answers."""
    path = here.config / "recall.md"
    broken = broken_folder(here)
    address = RecallConfig.load(path).chroma if path.exists() else CHILD
    aside = f"; a damaged store was set aside as {broken}" if broken.exists() else ""
    if address == NONE:
        return "not used: recall searches by words alone"
    if address == CHILD and not _has_agents(here):
        return f"Chroma's server starts with the first agent of the world{aside}"
    cure = f"Start it, or set chroma to child in {path}; a child's log is vectors.log"
    address = ChromaServer(here).address if address == CHILD else address
    with closing(Chroma(address, here)) as chroma:
        try:
            return f"{chroma.check()} at {address}{aside}"
        except KeepsakeError as problem:
            report(problem.what, cure)
            return ""


def index(here: Places, report: Report) -> str:
    """Check that the index files are intact; a running world monitors its own."""
    if processes.newest(here, Component.SERVER):
        return "checked by the running world"
    folders = {each for each in here.index.glob("*") if each.is_dir()} - {broken_folder(here)}
    for folder in sorted(folders):
        if not os.access(folder, os.R_OK | os.W_OK | os.X_OK):
            report(f"{folder} cannot be read and written", f"Fix access: chmod -R u+rwX {folder}")
        for file in (folder / WORDS, folder / DATABASE):
            if file.exists() and (problem := database.damage(file)):
                cure = f"Delete {folder}: the next start rebuilds it from the archives"
                report(f"{file} is damaged ({problem})", cure)
    return f"{len(folders)} folders in {here.index} are intact"


def _has_agents(here: Places) -> bool:
    """Return whether a world with agents runs: only then are the child servers needed."""
    return bool(processes.newest(here, Component.SERVER)) and any(here.agents.glob("*/archive"))


CHECKS: Mapping[str, Callable[[Places, Report], str]] = {
    "Copy": copy,
    "Privacy": privacy,
    "Ports": ports,
    "World": world,
    "Database": world_database,
    "Config": configuration,
    "Waiting memories": waiting,
    "Memories": memories,
    "Archives": archives,
    "Files": files,
    "Faults": faults,
    "Model servers": servers,
    "Embedder": embedding,
    "Vectors": vectors,
    "Index": index,
}
"""The checks, by subject, in the order they run."""
