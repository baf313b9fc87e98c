"""Who knows whom, as the agents' own profiles of people have it; in a view's thread."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path

from game.web.api.lives import Inhabitant
from game.web.api.shapes import TiesView, TieView
from game.web.api.source import source
from keepsake.books.profiles.feelings import closeness
from keepsake.books.profiles.files import FOLDERS
from keepsake.books.profiles.page import Page, parse_page
from keepsake.books.profiles.profile import ProfileKind
from keepsake.errors import NoteRefused

MOST_TIES = 5_000
_PAGES = 4_000
"""Profiles that are kept in RAM as they were read: a few kB each."""


def pages(folder: Path, kind: ProfileKind = ProfileKind.PERSON) -> Iterator[tuple[Path, Page]]:
    """The profiles of that kind in an agent's folder; what cannot be read is passed over."""
    for path in sorted((folder / FOLDERS[kind]).glob("[!.]*.md")):
        with suppress(OSError, NoteRefused, UnicodeDecodeError):
            yield path, _page(path, path.stat().st_mtime_ns)


@lru_cache(maxsize=_PAGES)
def _page(path: Path, changed: int) -> Page:
    return parse_page(path, path.read_text("utf-8"), datetime.fromtimestamp(changed / 1e9, UTC))


def acquaintances() -> TiesView:
    """All ties between people.

    Raises:
        KeepsakeError: The world cannot answer now.
    """
    now, there = source().now(), source().inhabitants()
    ties = [tie for each in there for tie in _ties(each, now)]
    return TiesView(
        people=tuple(sorted({name for tie in ties for name in (tie.who, tie.whom)})),
        agents={each.name: each.number for each in there},
        ties=tuple(ties[:MOST_TIES]),
    )


def _ties(agent: Inhabitant, now: datetime) -> Iterator[TieView]:
    for _, page in pages(agent.folder):
        known = page.profile
        if known.meetings or known.facts:
            yield TieView.of(
                known,
                who=agent.name,
                whom=known.name,
                closeness=closeness(known, now).value,
                facts=sum(fact.holds for fact in known.facts),
            )
