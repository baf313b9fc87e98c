"""The pasts of all agents, which are kept in memory and only read on.

Runs in a view's thread, because it reads the archives.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from keepsake.archive.log import Archive
from keepsake.archive.records import memories_in
from keepsake.language.past_times import read_past_time
from keepsake.logs import Subsystem, get_logger, logged
from keepsake.tracing.past import Archived, Past
from keepsake.web.remembered import TEXTS

log = get_logger(Subsystem.WEB)

type Folders = Sequence[tuple[int, str, Path]]
"""Number, name and folder of each agent."""

_FIRST_FEW = 50
"""The memories among which the first one is looked for: somebody may have had it forgotten."""
_pasts: dict[Path, Past] = {}
_lock = threading.Lock()
_warm = threading.Event()


def past_of(folder: Path) -> Past:
    """Return the past of an agent, read to the end of its archive; ``folder``: the agent's."""
    with _lock:
        past = _pasts.setdefault(folder, Past(folder / "archive"))
    past.read_on()
    return past


def span_of(folder: Path) -> tuple[float, float] | None:
    """Return the times of an agent's first and newest memory, in seconds since 1970; blocks.

    Only the ends of its archive are read: a phrase such as *yesterday* needs no more.

    Args:
        folder: The agent's.

    Returns:
        None if it has no memory.
    """
    archive = Archive(folder / "archive", read_only=True)
    newest = next(memories_in(archive.backwards()), None)
    if newest is None:
        return None
    first = next(iter(archive.read(1, _FIRST_FEW)), newest)
    return first.time.timestamp(), newest.time.timestamp()


def archives_of(folders: Folders) -> Mapping[str, Archived]:
    """Return the archives of the agents that have one, by key, to follow a fact in them."""
    return {
        str(each): Archived(name, folder / "archive", past_of(folder), TEXTS)
        for each, name, folder in folders
        if (folder / "archive").is_dir()
    }


def forget_others(folders: Folders) -> None:
    """Forget the pasts of agents that were deleted. ``folders``: Those of all agents."""
    there = {folder for _, _, folder in folders}
    with _lock:
        for gone in _pasts.keys() - there:
            del _pasts[gone]
    TEXTS.keep_only({folder / "archive" for folder in there})


def warm(folders: Folders) -> None:
    """Read all archives once in a thread of its own, so that the first scrubber need not wait.

    Phrases such as *yesterday* are read first, as the first one takes a third of a second.

    The longest is read first: whoever asks about that agent meanwhile would wait longest.
    """
    if _warm.is_set():
        return
    _warm.set()

    def work() -> None:
        read_past_time("yesterday", datetime.now(UTC))
        there = [each for each in folders if (each[2] / "archive").is_dir()]
        for _, name, folder in sorted(there, key=lambda each: _size(each[2]), reverse=True):
            with logged(log, "An archive could not be read for the scrubber", agent=name):
                past_of(folder)
                TEXTS.of(folder / "archive")

    threading.Thread(target=work, name="pasts", daemon=True).start()


def _size(folder: Path) -> int:
    """Return the bytes of an agent's archive; ``folder``: the agent's."""
    return sum(each.stat().st_size for each in (folder / "archive").glob("*.jsonl"))
