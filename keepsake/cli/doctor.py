"""``keepsake doctor``: looks for what is wrong and names the cure."""

from __future__ import annotations

import os
import shutil
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path

from keepsake import database, vault_lock
from keepsake.agent.attention import ThinkingConfig
from keepsake.agent.sleep.tiredness import SleepConfig
from keepsake.archive.integrity import check_lines
from keepsake.archive.log import Archive
from keepsake.archive.spill import Spill
from keepsake.books.commitments import Commitments
from keepsake.books.journal import Journal, JournalConfig
from keepsake.books.notes import NoteBook
from keepsake.books.people import PeopleBook, PeopleConfig
from keepsake.books.pins import Pinned
from keepsake.cli import client, processes
from keepsake.cli.home import SHIPPED_CONFIG
from keepsake.cli.processes import Component
from keepsake.errors import (
    ArchiveUnwritable,
    ConfigError,
    IndexUnavailable,
    KeepsakeError,
    ModelError,
)
from keepsake.memory.config import FOLDER, CompactionConfig
from keepsake.memory.strategy import load_strategy
from keepsake.models import profiles as model_profiles
from keepsake.models.catalogue import load_catalogue
from keepsake.models.embedded import CONTEXT, Embedded, read
from keepsake.models.embedders import EmbedderProfile, embedder, load_embedder
from keepsake.models.profiles import (
    AUTO,
    EMBEDDED,
    EXTRACTIVE,
    OLLAMA,
    ModelProfile,
    Profiles,
    embedded_profile,
)
from keepsake.models.servers import address_of, build
from keepsake.paths import DATABASE_URL, Places
from keepsake.recall.agent_index import WORDS
from keepsake.recall.chroma import Chroma
from keepsake.recall.chroma_server import ChromaServer, broken_folder
from keepsake.recall.config import CHILD, NONE, RecallConfig
from keepsake.recall.words import WordIndex
from keepsake.tasks import task_prompts

LOADERS: dict[str, Callable[[Path], object]] = {
    "llm.md": lambda path: (model_profiles.load(path), load_embedder(path)),
    "journal.md": JournalConfig.load,
    "models.md": load_catalogue,
    "memory_compaction.md": CompactionConfig.load,
    "people.md": PeopleConfig.load,
    "recall.md": RecallConfig.load,
    "sleep.md": SleepConfig.load,
    "thinking.md": ThinkingConfig.load,
    **task_prompts.LOADERS,
}
"""How each configuration file is read; raises ConfigError when it is wrong."""
LEAST_FREE_MB = 500
SCAN_SECONDS = 5.0
"""The longest that archives are read."""
_OWNER_ONLY = 0o600
_SHOWN = 5
_AGENT = "agent"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing looked at."""

    subject: str  # what was looked at
    well: bool  # whether it is as it should be
    what: str  # what was seen
    cure: str = ""  # what to do about it; empty when all is well


def examine(asked: Places) -> list[Finding]:
    """Run every check, in order, on the copy with that home as it runs."""
    here = processes.actual(asked)
    checks = (room, secrets, ports, world, world_database, configuration, waiting, archives, files)
    models = (embedded_model, servers, embedding, budget, words, vectors)
    return [*copy(asked, here), *(each for check in (*checks, *models) for each in check(here))]


# -- the machine


def copy(asked: Places, here: Places) -> Iterator[Finding]:
    """Which copy this is, and whether the shell names the one that runs."""
    what = f"home {here.home}, vault {here.vault}, port base {here.ports.base}"
    one, other = (database.shown(each) if each.database_url else "" for each in (asked, here))
    named = {
        "KEEPSAKE_VAULT": (asked.vault, here.vault),
        "KEEPSAKE_PORT_BASE": (asked.ports.base, here.ports.base),
        "KEEPSAKE_LISTEN": (asked.listen, here.listen),
        DATABASE_URL: (one, other),  # without its password
    }
    differing = [f"{name}={runs}" for name, (said, runs) in named.items() if said != runs]
    if differing:
        cure = f"Set these as they were set for `keepsake start`: {' '.join(differing)}"
        yield Finding("Copy", False, f"{what}: it runs so, and this shell names another", cure)
    elif not processes.running(here) and (holder := vault_lock.holder(here)):
        cure = "Stop that copy, or set KEEPSAKE_VAULT to another folder"
        yield Finding("Copy", False, f"{what}: the vault is in use by {holder}", cure)
    else:
        yield Finding("Copy", True, what)


def room(here: Places) -> Iterator[Finding]:
    """Home and vault can be written to and have room left."""
    folders = (("Home", here.home, "KEEPSAKE_HOME"), ("Vault", here.agents, "KEEPSAKE_VAULT"))
    for subject, folder, variable in folders:
        nearest = next(each for each in (folder, *folder.parents) if each.exists())
        free = shutil.disk_usage(nearest).free // 1_000_000
        if not os.access(nearest, os.W_OK | os.X_OK):
            cure = f"Make it yours, or set {variable} to a folder of your own"
            yield Finding(subject, False, f"{nearest} cannot be written to", cure)
        elif free < LEAST_FREE_MB:
            yield Finding(subject, False, f"{folder}, {free:,} MB free", "Make room on that disk")
        else:
            yield Finding(subject, True, f"{folder}, {free:,} MB free")


def secrets(here: Places) -> Iterator[Finding]:
    """Secrets are readable by their owner alone."""
    for path in (here.admin_password, here.secret_key):
        if path.exists() and (mode := stat.S_IMODE(path.stat().st_mode)) != _OWNER_ONLY:
            what = f"{path} has mode {mode:o}, others may read it"
            yield Finding("Secrets", False, what, f"chmod 600 {path}")
            return
    yield Finding("Secrets", True, "readable by their owner alone")


def ports(here: Places) -> Iterator[Finding]:
    """Every port is free, or held by a process of this copy."""
    obstacles = processes.taken(here)
    for port, reason in obstacles:
        what = f"{port.number} ({port.name}) {reason}"
        yield Finding("Ports", False, what, processes.ports_cure(here.ports))
    if not obstacles:
        first, last = here.ports.telnet, here.ports.vectors
        yield Finding("Ports", True, f"{first} to {last} are free or ours")


def world(here: Places) -> Iterator[Finding]:
    """Portal and Server run and answer, or neither of them runs."""
    found = processes.running(here)
    if not found:
        yield Finding("World", True, "not running")
    elif missing := processes.HALVES - {each.component for each in found}:
        what = f"runs without its {' and '.join(sorted(missing))}"
        cure = "`make run` mends that; `keepsake logs server --no-follow` has why it ended"
        yield Finding("World", False, what, cure)
    else:
        try:
            ready = client.ask(here, "ready", seconds=5)["ready"]
            yield Finding("World", True, "runs and answers" if ready else "is being built")
        except KeepsakeError as error:
            cure = "`make stop`, `make run`; if it stays so, `keepsake logs server --no-follow`"
            yield Finding("World", False, f"runs but does not answer: {error.what}", cure)


def world_database(here: Places) -> Iterator[Finding]:
    """The database can be reached and read."""
    subject, path = "Database", here.database
    try:
        database.refuse_another(here)
        if here.database_url:
            with database.connected(here) as connection:
                version = connection.info.server_version
            what = f"PostgreSQL {version // 10_000}.{version % 10_000}"
            yield Finding(subject, True, f"{database.shown(here)}, {what}")
        elif not path.exists():
            yield Finding(subject, True, f"{path} (SQLite) is made at the first start")
        elif problem := database.damage(path):
            cure = "Bring a backup back: `keepsake restore FILE --replace`"
            yield Finding(subject, False, f"{path} is damaged ({problem})", cure)
        else:
            size = path.stat().st_size / 1e6
            yield Finding(subject, True, f"{path}, SQLite, {size:,.0f} MB")
    except KeepsakeError as error:
        yield Finding(subject, False, error.what, error.cure)


# -- configuration and memories


def configuration(here: Places) -> Iterator[Finding]:
    """Each configuration file is there and can be used."""
    if not here.config.exists():
        yield Finding("Config", True, f"{here.config} is made at the first start")
        return
    looked_at = {here.config / name: load for name, load in LOADERS.items()}
    looked_at |= dict.fromkeys(sorted((here.config / FOLDER).glob("*.md")), load_strategy)
    wrong = [finding for path, load in looked_at.items() if (finding := _file(path, load))]
    yield from wrong
    if not wrong:
        yield Finding("Config", True, f"{len(looked_at)} files in {here.config} are understood")


def _file(path: Path, load: Callable[[Path], object]) -> Finding | None:
    if not path.exists():
        cure = f"Copy it from {SHIPPED_CONFIG}, or start anew: `make run` puts it back"
        return Finding("Config", False, f"{path} is missing", cure)
    try:
        load(path)
    except ConfigError as error:
        what = f"{path}, line {error.line}: {error.reason}"
        return Finding("Config", False, what, error.cure or "Mend that line")
    return None


def waiting(here: Places) -> Iterator[Finding]:
    """Nothing waits for an archive that cannot be written."""
    subject, wrong = "Waiting memories", list[Finding]()
    try:
        cure = "Make room on the vault's disk or mend its permissions; the rest goes by itself"
        for each in client.ask(here, "waiting", seconds=5):
            what = f"{each['waiting']} of {each['name']}: {each['problem']}"
            if each["unkept"]:
                what += f" {each['unkept']} of them are in RAM alone, and a stop would lose them."
            wrong.append(Finding(subject, False, what, cure))
    except KeepsakeError:  # no world runs, or another check tells of it
        cure = "`keepsake start` takes them into the archive"
        for agent, lines in Spill(here.spill).waiting().items():
            what = f"{len(lines)} of {agent} wait in {here.spill}"
            wrong.append(Finding(subject, False, what, cure))
    yield from wrong or [Finding(subject, True, "none")]


def archives(here: Places) -> Iterator[Finding]:
    """The archives can be read and miss nothing, as far as there is time to look."""
    deadline, lines, looked, wrong = time.monotonic() + SCAN_SECONDS, 0, 0, False
    folders = sorted(here.agents.glob("*/archive"))
    for folder in folders:
        if time.monotonic() > deadline:
            break
        looked += 1
        try:
            with closing(Archive(folder, read_only=True)) as archive:
                report = check_lines(archive)
            lines, problems = lines + report.lines, report.problems
        except (ArchiveUnwritable, OSError) as error:
            problems = (f"it cannot be read ({error.__cause__ or error})",)
        if problems:
            wrong = True
            what = f"{folder.parent.name}: {'; '.join(problems[:_SHOWN])}"
            cure = "Bring it back from a backup (`keepsake restore`); what can be read is used"
            yield Finding("Archives", False, what, cure)
    if not wrong:
        rest = len(folders) - looked
        more = f"; {rest} more were not looked at" if rest else ""
        yield Finding("Archives", True, f"{lines:,} lines of {looked} agents are whole{more}")


def files(here: Places) -> Iterator[Finding]:
    """The books of the agents can be read, as the game reads them."""
    found = sorted(each for each in here.agents.glob("*") if each.is_dir())
    problems = [problem for agent in found for problem in _problems(agent)]
    cure = "Mend it, or take it away: the game leaves it alone, and goes without"
    yield from (Finding("Files", False, problem, cure) for problem in problems)
    if not problems:
        yield Finding("Files", True, f"those of {len(found)} agents can be read")


def _problems(agent: Path) -> Iterator[str]:
    books = (
        NoteBook(agent / "notes"),
        Journal(agent / "journal"),
        PeopleBook(agent),
        Pinned(agent / "pinned.md"),
        Commitments(agent / "noticed.md"),
    )
    for book in books:
        yield from book.problems
    profile = agent / "profile.md"
    try:
        if profile.exists():
            profile.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        yield f"{profile} cannot be read ({error})"


# -- models


def embedded_model(here: Places) -> Iterator[Finding]:
    """The file of the embedded model can be served."""
    path = here.config / "llm.md"
    profile = embedded_profile(path, Profiles(path))
    if profile is not None and profile.model_file:
        try:
            info = read(here.models / profile.model_file)
            what = f"{profile.model_file}: {info.architecture}"
            yield Finding("Embedded model", True, what)
        except ModelError as error:
            yield Finding("Embedded model", False, error.what, error.cure)


def servers(here: Places) -> Iterator[Finding]:
    """Each model server that a profile names answers and has its model."""
    embedded = Embedded(here)
    asked: set[tuple[str, str, str]] = set()
    for profile in Profiles(here.config / "llm.md"):
        address = address_of(profile, embedded, os.environ)
        server = (profile.provider, address, profile.model)
        if profile.provider != EXTRACTIVE and server not in asked:
            asked.add(server)
            yield _server(here, profile, embedded, address)


def _server(here: Places, profile: ModelProfile, embedded: Embedded, address: str) -> Finding:
    subject = f"Model server {profile.provider} at {address}"
    found = processes.running(here)
    if profile.provider == EMBEDDED and processes.one(found, Component.MODEL) is None:
        if processes.one(found, Component.SERVER) is None:
            return Finding(subject, True, "starts with the world")
        cure = f"It is started again by itself; {here.logs / 'model.log'} says why it ended"
        return Finding(subject, False, "does not run", cure)
    with closing(build(profile, embedded, os.environ)) as asked:
        try:
            said, takes = asked.check(), asked.capabilities
        except ModelError as error:
            return Finding(subject, False, error.what, error.cure)
        form = takes.form if profile.form == AUTO else profile.form
        what = f"{said}; {takes.kind}, form {form}" if takes.known else said
        what += f", {takes.context:,} tokens" if takes.context else ""
        return Finding(subject, True, what)


def embedding(here: Places) -> Iterator[Finding]:
    """Texts can be embedded; the question costs one short embedding."""
    try:
        profile = load_embedder(here.config / "llm.md") if here.config.exists() else None
    except ConfigError:
        return  # the check of the configuration tells of it
    with closing(embedder(profile or EmbedderProfile())) as asked:
        subject = f"Embedder {asked.model_name}"
        try:
            dimension = len(asked.embed(["Is anybody there?"])[0])
            yield Finding(subject, True, f"answers with {dimension} dimensions")
        except ModelError as error:
            yield Finding(subject, False, error.what, error.cure)


def budget(here: Places) -> Iterator[Finding]:
    """The agents' model has room for the prompts, and for the answers behind them."""
    try:
        config = CompactionConfig.load(here.config / "memory_compaction.md")
    except ConfigError:
        return  # the check of the configuration tells of it
    profiles = Profiles(here.config / "llm.md")
    wrong = list(
        _budget_problems(config, profiles.get(_AGENT), sorted(each.name for each in profiles))
    )
    yield from wrong
    if not wrong:
        what = "for a prompt, as many tokens as the agents' model takes"
        if config.context_tokens:
            what = f"{config.budget:,} of {config.context_tokens:,} tokens for a prompt"
        yield Finding("Token budget", True, what)


def _budget_problems(
    config: CompactionConfig, profile: ModelProfile, names: list[str]
) -> Iterator[Finding]:
    subject, wanted = "Token budget", config.context_tokens
    if profile.max_tokens > config.reserve_tokens:
        what = f"an answer may have {profile.max_tokens:,} tokens, and {config.reserve_tokens:,}"
        cure = "Raise reserve_tokens in memory_compaction.md, or lower max_tokens in llm.md"
        yield Finding(subject, False, f"{what} are kept free for it", cure)
    what = f"prompts and answers may have {wanted:,} tokens, and the agents' model looks at "
    lower = "ower context_tokens in memory_compaction.md"
    own = profile.context_tokens or CONTEXT
    if profile.provider == EMBEDDED and wanted > own:  # it refuses a longer prompt
        yield Finding(subject, False, f"{what}{own:,}", f"L{lower} to {own}")
    given = profile.context_tokens or wanted  # without it, it is told to look at enough
    if profile.provider == OLLAMA and wanted > given:  # it drops a part of a longer prompt
        cure = f"Write **context_tokens**: {wanted} into the section {_AGENT} of llm.md, or l"
        yield Finding(subject, False, f"{what}{given:,}", cure + lower)
    if config.profile not in names:
        what = f"memory_compaction.md has them written by {config.profile!r}"
        cure = f"Write one of {', '.join(names)} there"
        yield Finding("Summaries", False, f"{what}, and llm.md has no such profile", cure)


def words(here: Places) -> Iterator[Finding]:
    """Nothing is wrong with the recall index of any agent."""
    if processes.one(processes.running(here), Component.SERVER) is not None:
        with suppress(KeepsakeError):  # it starts or ends just now
            for each in client.ask(here, "index_status")["agents"]:
                if each["problem"]:
                    yield Finding("Recall", False, f"{each['agent']}: {each['problem']}")
        return
    for path in sorted(here.index.glob(f"*/{WORDS}")):
        with closing(WordIndex(path)) as index:
            try:
                index.check()
            except IndexUnavailable as problem:
                yield Finding("Recall", False, problem.what, "It is made anew by the next start")


def vectors(here: Places) -> Iterator[Finding]:
    """The Chroma server that recall.md names answers."""
    path = here.config / "recall.md"
    try:
        config = RecallConfig.load(path) if path.exists() else RecallConfig()
    except ConfigError:
        return  # the check of the configuration tells of it
    aside, broken = "", broken_folder(here)
    if broken.exists():
        aside = f"; a store that was damaged was set aside as {broken}"
    address, cure = config.chroma, f"Start it, or set chroma to child in {path}"
    if address == NONE:
        yield Finding("Vectors", True, "none wanted: recall finds by words alone")
        return
    if address == CHILD:
        if processes.one(processes.running(here), Component.SERVER) is None:
            yield Finding("Vectors", True, f"Chroma's server starts with the world{aside}")
            return
        address = ChromaServer(here).address
        cure = f"It is started again by itself; see {here.logs / 'vectors.log'}"
    with closing(Chroma(address, here)) as chroma:
        try:
            yield Finding("Vectors", True, f"{chroma.check()} at {address}{aside}")
        except IndexUnavailable as problem:
            yield Finding("Vectors", False, problem.what, cure)
