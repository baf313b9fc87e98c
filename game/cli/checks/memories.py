"""Checks of the agents' memories: what waits for a disk, the archives, the files beside them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

from game.cli.checks.finding import Finding
from game.cli.world import client
from keepsake.archive.integrity import check_lines
from keepsake.archive.log import Archive
from keepsake.archive.spill import Spill
from keepsake.books.commitments import Commitments
from keepsake.books.journal import Journal
from keepsake.books.notes import NoteBook
from keepsake.books.people import PeopleBook
from keepsake.books.pins import Pinned
from keepsake.errors import ArchiveUnwritable, KeepsakeError
from keepsake.paths import Places

SECONDS = 5.0
"""The longest that each check reads."""
_MOST_FILE = 16_000_000
_SHOWN = 5
_TEXTS = (".md", ".jsonl")
_BOOKS = {"archive", "notes", "journal", "people", "pinned.md", "noticed.md"}
"""What other checks look at, in an agent's folder."""


def waiting(here: Places) -> Iterator[Finding]:
    """Nothing waits for an archive that cannot be written."""
    subject, kept = "Waiting memories", Spill(here.spill)
    cure = "Make room on the vault's disk or mend its permissions; they are taken in by themselves"
    try:
        found = client.ask(here, "waiting", seconds=5)
    except KeepsakeError:  # no world runs, or another check tells of it
        for agent, lines in kept.waiting().items():
            what = f"{len(lines)} of {agent} wait in {here.spill}"
            yield Finding(subject, False, what, "`keepsake start` takes them into the archive")
        if not kept.waiting():
            yield Finding(subject, True, "none")
        return
    for each in found:
        what = f"{each['waiting']} of {each['name']}: {each['problem']}"
        if each["unkept"]:
            what += f" {each['unkept']} of them are in RAM alone, and a stop would lose them."
        yield Finding(subject, False, what, cure)
    if not found:
        yield Finding(subject, True, "none")


def archives(here: Places) -> Iterator[Finding]:
    """The archives can be read and miss nothing, as far as there is time to look."""
    late, lines, looked, wrong = _deadline(), 0, 0, False
    folders = sorted(here.agents.glob("*/archive"))
    for folder in folders:
        if late():
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
            what = "; ".join(problems[:_SHOWN])
            cure = "Bring it back from a backup (`keepsake restore`); what can be read is used"
            yield Finding("Archives", False, f"{folder.parent.name}: {what}", cure)
    if not wrong:
        what = f"{lines:,} lines of {looked} agents are whole"
        what += (
            f"; {len(folders) - looked} more were not looked at" if looked < len(folders) else ""
        )
        yield Finding("Archives", True, what)


def files(here: Places) -> Iterator[Finding]:
    """What people and the game write beside the archives can be read, books as the game does it."""
    late, problems, looked = _deadline(), list[str](), 0
    cure = "Mend it, or take it away: the game leaves it alone, and goes without"
    for agent in sorted(here.agents.glob("*")):
        if late() or not agent.is_dir():
            continue
        looked += 1
        problems += (problem for book in _books(agent) for problem in book.problems)
        texts = (each for each in agent.rglob("*") if each.suffix in _TEXTS)
        for path in texts:
            if not _BOOKS & {*path.relative_to(agent).parts} and (problem := _unreadable(path)):
                problems.append(f"{path} cannot be read ({problem})")
    yield from (Finding("Files", False, problem, cure) for problem in problems)
    if not problems:
        yield Finding("Files", True, f"those of {looked} agents can be read")


def _books(agent: Path) -> tuple[NoteBook | Journal | PeopleBook | Pinned | Commitments, ...]:
    return (
        NoteBook(agent / "notes"),
        Journal(agent / "journal"),
        PeopleBook(agent),
        Pinned(agent / "pinned.md"),
        Commitments(agent / "noticed.md"),
    )


def _unreadable(path: Path) -> str:
    """Why a file cannot be read as text; empty if it can."""
    try:
        with path.open("rb") as file:
            file.read(_MOST_FILE).decode("utf-8")
    except OSError as error:
        return error.strerror or str(error)
    except UnicodeDecodeError as error:
        return f"byte {error.start + 1} is not UTF-8"
    return ""


def _deadline() -> Callable[[], bool]:
    end = time.monotonic() + SECONDS
    return lambda: time.monotonic() > end
