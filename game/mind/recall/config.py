"""What recall may use and how much it may say, from ``vault/config/recall.md``."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from urllib.parse import urlsplit

from game.mind.markdown_config import ConfigSection, merged

CHILD, NONE = "child", "none"
_RANGES = {
    "budget": (0, 100_000),
    "notes": (0, 50),
    "summaries": (0, 50),
    "memories": (0, 200),
    "remembered": (1, 1000),
    "remembered_tokens": (100, 100_000),
    "remembered_thoughts": (1, 1000),
}


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
    read, default = merged(path), RecallConfig()
    read.only(field.name for field in fields(RecallConfig))
    return RecallConfig(
        chroma=_chroma(read, default.chroma),
        patience=read.number("patience", default.patience, low=0.05, high=60.0),
        **{
            name: read.integer(name, getattr(default, name), low=low, high=high)
            for name, (low, high) in _RANGES.items()
        },
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
