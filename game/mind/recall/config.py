"""What recall may use and how much it may say, from ``vault/config/recall.md``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from game.mind.markdown_config import ConfigSection, merged
from game.mind.retired_settings import current_settings

CHILD, NONE = "child", "none"


@dataclass(frozen=True, slots=True)
class RecallConfig:
    """Each is explained in the file."""

    chroma: str = CHILD
    budget: int = 600
    notes: int = 3
    summaries: int = 2
    memories: int = 5
    patience: float = 0.5
    remembered: int = 24
    remembered_tokens: int = 600
    remembered_thoughts: int = 3


def load_recall_config(path: Path) -> RecallConfig:
    """Read the file; what it does not name keeps its default.

    Raises:
        ConfigError: A value or a name is wrong; says which line and why.
    """
    read, default = current_settings(merged(path), RecallConfig), RecallConfig()
    return RecallConfig(
        chroma=_chroma(read, default.chroma),
        budget=read.integer("budget", default.budget, high=100_000),
        memories=read.integer("memories", default.memories, high=200),
        patience=read.number("patience", default.patience, low=0.05, high=60.0),
    )


def _chroma(read: ConfigSection, default: str) -> str:
    written = read.text("chroma", default).rstrip("/")
    if written in (CHILD, NONE):
        return written
    try:
        url = urlsplit(written)
        usable = url.scheme in ("http", "https") and bool(url.hostname) and url.port != 0
    except ValueError:  # a port that is no number
        usable = False
    if not usable or url.path or url.query:
        raise read.refuse(
            "chroma",
            f"{written!r} is neither child, none nor an address",
            "Write child, none, or an address such as http://127.0.0.1:8000",
        )
    return written
