"""Settings of earlier versions: a file that still has one opens, and a note says so."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

from game.mind.markdown_config import ConfigSection

_log = logging.getLogger("keepsake.mind")

RETIRED: Mapping[str, frozenset[str]] = {
    "journal.md": frozenset({"draw_from", "drawn", "entries", "days"}),
    "memory_compaction.md": frozenset({"on_agent"}),
    "people.md": frozenset({"shown", "observations", "facts", "conclusions", "things"}),
    "recall.md": frozenset(
        {"notes", "summaries", "remembered", "remembered_tokens", "remembered_thoughts"}
    ),
    "sleep.md": frozenset({"quiet_minutes", "reflect_after", "questions"}),
    "thinking.md": frozenset({"jitter", "pause_notice", "chatter_pause", "retries"}),
}
"""By file, what is a constant now: the default of the configuration's field of that name."""


def current_settings(read: ConfigSection, config: type[Any]) -> ConfigSection:
    """What a file sets without what is retired, which is noted, so that it has its default.

    Raises:
        ConfigError: A key is no field of the dataclass ``config``; it names the nearest one.
    """
    read.only(field.name for field in fields(config))
    if old := retired(read):
        _log.warning("[Note] %s: %s", read.path, note(old))
    entries = {key: entry for key, entry in read.entries.items() if key not in old}
    return replace(read, entries=entries)


def retired(read: ConfigSection) -> list[str]:
    """The keys of a file that nothing reads any more."""
    return sorted(read.entries.keys() & RETIRED.get(read.path.name, frozenset()))


def note(keys: Sequence[str]) -> str:
    """What a person is told of such keys."""
    lines = "this line does" if len(keys) == 1 else "these lines do"
    return f"{', '.join(keys)} cannot be set any more; {lines} nothing and can be removed"
