"""Texts outside commands: the login screen, and help entries.

Evennia reads the welcome screen by ``connection_screen`` and the entries by ``HELP_ENTRY_DICTS``.
"""

from __future__ import annotations

from pathlib import Path

import frontmatter

_FOLDER = Path(__file__).parent


def connection_screen() -> str:
    """Return the login screen: ASCII of 40 columns."""
    return (_FOLDER / "connection_screen.txt").read_text(encoding="ascii")


def _entry(path: Path) -> dict[str, object]:
    page = frontmatter.load(str(path))
    readers = page["readers"]
    return {
        "key": page["key"],
        "aliases": page["aliases"],
        "category": page["category"],
        "locks": f"view:{readers};read:{readers}",
        "text": f"\n{page.content}\n",
    }


HELP_ENTRY_DICTS = [_entry(path) for path in sorted((_FOLDER / "help").glob("*.md"))]
