"""Texts outside commands: the login screen, and help entries.

Evennia reads the welcome screen by ``connection_screen`` and the entries by ``HELP_ENTRY_DICTS``.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import Field

from world.layers import SCREEN, file_in, layers, pages_in
from world.source import DataFile, Entry, Text


class HelpPage(Entry):
    """The front matter of a help page."""

    key: Text  # what players type after `help`
    aliases: tuple[str, ...] = ()
    category: Text
    # who may read it, as a lock of Evennia's: all(), perm(Builder)
    readers: Annotated[str, Field(pattern=r"^\w+\([\w ,]*\)$")] = "all()"


def connection_screen() -> str:
    """Return the login screen: ASCII of 40 columns."""
    return file_in(SCREEN, layers()).read_text(encoding="ascii", errors="replace")


def _entry(path: Path) -> dict[str, object]:
    file = DataFile(path)
    page = file.read(HelpPage)
    return {
        "key": page.key,
        "aliases": list(page.aliases),
        "category": page.category,
        "locks": f"view:{page.readers};read:{page.readers}",
        "text": f"\n{file.body.strip()}\n",
    }


def read_help() -> list[dict[str, object]]:
    """Read and check the help pages.

    Raises:
        ConfigError: A page is wrong; with file, line and reason.
    """
    return [_entry(path) for path in pages_in("help", layers())]


HELP_ENTRY_DICTS = read_help()
