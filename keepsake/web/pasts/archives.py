"""The pasts of all agents, which are kept in memory and only read on.

Runs in a view's thread, because it reads the archives.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from pathlib import Path

from keepsake.logs import Subsystem, get_logger, logged
from keepsake.tracing.past import Archived, Past
from keepsake.web.remembered import TEXTS

log = get_logger(Subsystem.WEB)

type Folders = Sequence[tuple[int, str, Path]]
"""Number, name and folder of each agent."""

_pasts: dict[Path, Past] = {}
_lock = threading.Lock()
_warm = threading.Event()


def past_of(folder: Path) -> Past:
    """Return the past of an agent, read to the end of its archive; ``folder``: the agent's."""
    with _lock:
        past = _pasts.setdefault(folder, Past(folder / "archive"))
    past.read_on()
    return past


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

    The longest is read first: whoever asks about that agent meanwhile would wait longest.
    """
    if _warm.is_set():
        return
    _warm.set()

    def work() -> None:
        there = [each for each in folders if (each[2] / "archive").is_dir()]
        for _, name, folder in sorted(there, key=lambda each: _size(each[2]), reverse=True):
            with logged(log, "An archive could not be read for the scrubber", agent=name):
                past_of(folder)
                TEXTS.of(folder / "archive")

    threading.Thread(target=work, name="pasts", daemon=True).start()


def _size(folder: Path) -> int:
    """Return the bytes of an agent's archive; ``folder``: the agent's."""
    return sum(each.stat().st_size for each in (folder / "archive").glob("*.jsonl"))
