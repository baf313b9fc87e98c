"""Who knows whom, as the agents' own pages of people have it; in a view's thread."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path

from game.web.api.lives import Inhabitant
from game.web.api.shapes import TiesView, TieView
from game.web.api.source import source
from keepsake.books.people.book import FOLDER
from keepsake.books.people.page import PersonPage, parse_page
from keepsake.errors import NoteRefused

MOST_TIES = 5_000
_PAGES = 4_000
"""Pages that are kept in RAM as they were read: a few kB each."""


def pages(folder: Path) -> Iterator[tuple[Path, PersonPage]]:
    """The people's pages in an agent's folder; what cannot be read is passed over."""
    for path in sorted((folder / FOLDER).glob("[!.]*.md")):
        with suppress(OSError, NoteRefused, UnicodeDecodeError):
            yield path, _page(path, path.stat().st_mtime_ns)


@lru_cache(maxsize=_PAGES)
def _page(path: Path, changed: int) -> PersonPage:
    return parse_page(path, path.read_text("utf-8"), datetime.fromtimestamp(changed / 1e9, UTC))


def acquaintances() -> TiesView:
    """All ties between people.

    Raises:
        KeepsakeError: The world cannot answer now.
    """
    there = source().inhabitants()
    ties = [tie for each in there for tie in _ties(each)]
    return TiesView(
        people=tuple(sorted({name for tie in ties for name in (tie.who, tie.whom)})),
        agents={each.name: each.number for each in there},
        ties=tuple(ties[:MOST_TIES]),
    )


def _ties(agent: Inhabitant) -> Iterator[TieView]:
    for _, page in pages(agent.folder):
        yield TieView(who=agent.name, whom=page.name, meetings=page.meetings, lines=len(page.lines))
