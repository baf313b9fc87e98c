"""What recall may use and how much it may say, from ``vault/config/recall.md``."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import urlsplit

from game.mind.markdown_config import ConfigSection, between, load_settings

CHILD, NONE = "child", "none"


@dataclass(frozen=True, slots=True)
class RecallConfig:
    """Each is explained in the file."""

    chroma: str = CHILD
    budget: int = between(600, high=100_000)
    notes: int = 3
    summaries: int = 2
    memories: int = between(5, high=200)
    patience: float = between(0.5, low=0.05, high=60.0)
    remembered: int = 24
    remembered_tokens: int = 600
    remembered_thoughts: int = 3


def load_recall_config(path: Path) -> RecallConfig:
    """Read the file; what it does not name keeps its default.

    Raises:
        ConfigError: A value or a name is wrong; says which line and why.
    """
    config, read = load_settings(path, RecallConfig)
    return replace(config, chroma=_chroma(read, config.chroma))


def _chroma(read: ConfigSection, written: str) -> str:
    written = written.rstrip("/")
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
