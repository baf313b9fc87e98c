"""Checks of the agents' memories: what waits for a disk, the archives, the files beside them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

from game.cli.checks.finding import Finding
from game.cli.world import client
from keepsake.archive.scan import ArchiveScan, scan
from keepsake.archive.spill import Spill
from keepsake.errors import KeepsakeError
from keepsake.paths import Places

SECONDS = 5.0
"""The longest that each check reads."""
MOST_BYTES = 256_000_000
"""The most of the archives, the newest of each."""
_MOST_FILE = 16_000_000
_AHEAD = timedelta(hours=1)
_SHOWN = 5
_TEXTS = (".md", ".jsonl")


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
    found: dict[str, ArchiveScan] = {}
    folders = sorted(here.agents.glob("*/archive"))
    for number, folder in enumerate(folders):
        if late():
            break
        found[folder.parent.name] = seen = scan(folder, left // (len(folders) - number), late)
        left = max(left - seen.done, 0)
    yield from _damaged(found)
    yield from _clock(found)
    if not any(seen.problems for seen in found.values()):
        done, total = (sum(getattr(each, name) for each in found.values()) for name in _SIZES)
        lines = sum(seen.lines for seen in found.values())
        what = f"{lines:,} lines of {len(found)} agents are whole"
        if done < total or len(found) < len(folders):
            what += f" ({done / 1e6:,.0f} MB, the newest; `@memory-status` reads all of one agent)"
        yield Finding("Archives", True, what)


_SIZES = ("done", "total")


def _damaged(found: dict[str, ArchiveScan]) -> Iterator[Finding]:
    for agent, seen in found.items():
        if seen.problems:
            more = len(seen.problems) - _SHOWN
            what = "; ".join(seen.problems[:_SHOWN]) + (f"; and {more} more" if more > 0 else "")
            cure = "Bring it back from a backup (`keepsake restore`); what can be read is used"
            yield Finding("Archives", False, f"{agent}: {what}", cure)


def _clock(found: dict[str, ArchiveScan]) -> Iterator[Finding]:
    """No memory is of a time to come: the clock of the machine was wrong then, or is now."""
    now = datetime.now(UTC)
    ahead = {agent: seen.newest for agent, seen in found.items() if seen.newest}
    agent, newest = max(ahead.items(), key=lambda each: each[1], default=("", now))
    if newest > now + _AHEAD:
        what = f"it is {now:%Y-%m-%d %H:%M} UTC here, and the newest memory of {agent} is of"
        cure = "Set the machine's clock; memories keep their order, only their times are wrong"
        yield Finding("Clock", False, f"{what} {newest:%Y-%m-%d %H:%M}", cure)


def files(here: Places) -> Iterator[Finding]:
    """What people and the game write beside the archives can be read."""
    late, looked, wrong = _deadline(), 0, 0
    for path in _texts(here.agents):
        if late():
            break
        looked += 1
        if problem := _unreadable(path):
            wrong += 1
            cure = "Mend it, or take it away: the game leaves it alone, and goes without"
            yield Finding("Files", False, f"{path} cannot be read ({problem})", cure)
    if not wrong:
        yield Finding("Files", True, f"{looked:,} files of the agents can be read")


def _texts(agents: Path) -> Iterator[Path]:
    for folder, folders, names in agents.walk():
        folders[:] = [each for each in folders if each != "archive" and not each.startswith(".")]
        yield from (folder / name for name in names if name.endswith(_TEXTS))
        yield from (folder / name for name in folders if name.endswith(_TEXTS))


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
