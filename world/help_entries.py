"""Help entries that belong to no command, from ``help/``; Evennia reads the list by its name."""

from __future__ import annotations

from pathlib import Path

import frontmatter


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


HELP_ENTRY_DICTS = [_entry(path) for path in sorted((Path(__file__).parent / "help").glob("*.md"))]
