"""Checks of the agents' memories: what waits for a disk, the archives, the files beside them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path

from game.cli.checks.finding import Finding
from game.cli.world import client
from keepsake.archive.scan import ArchiveScan, scan
from keepsake.archive.spill import Spill
from keepsake.books.commitments import Commitments
from keepsake.books.journal import Journal
from keepsake.books.notes import NoteBook
from keepsake.books.people import PeopleBook
from keepsake.books.pins import Pinned
from keepsake.errors import KeepsakeError
from keepsake.paths import Places

SECONDS = 5.0
"""The longest that each check reads."""
MOST_BYTES = 256_000_000
"""The most of the archives, the newest of each."""
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
    late, left = _deadline(), MOST_BYTES
    folders, seen = sorted(here.agents.glob("*/archive")), list[ArchiveScan]()
    for number, folder in enumerate(folders):
        if late():
            break
        found = scan(folder, left // (len(folders) - number), late)
        left = max(left - found.done, 0)
        seen.append(found)
        if found.problems:
            what = "; ".join(found.problems[:_SHOWN])
            cure = "Bring it back from a backup (`keepsake restore`); what can be read is used"
            yield Finding("Archives", False, f"{folder.parent.name}: {what}", cure)
    if not any(each.problems for each in seen):
        done, total = sum(each.done for each in seen), sum(each.total for each in seen)
        what = f"{sum(each.lines for each in seen):,} lines of {len(seen)} agents are whole"
        if done < total or len(seen) < len(folders):
            what += f" ({done / 1e6:,.0f} MB, the newest; `@memory-status` reads all of one agent)"
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
