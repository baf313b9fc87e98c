"""What people told an agent in confidence, for a moment in which nobody else hears it.

No summary and no journal has private words. The page of a person does, with the number of the
memory of each line, so that the archive says who may know it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from keepsake.archive.privacy import Audience, PrivateWords
from keepsake.books.person_page import PageLine, PersonPage
from keepsake.language.perception import shorten
from keepsake.tasks.scene import Excerpt

IN_CONFIDENCE = "in confidence"
"""The words of a search for what those who are here told in confidence."""
MOST_CONFIDED = 5
"""The most lines that such a search brings."""
LONGEST_CONFIDED = 300
"""The most characters of each: a few sentences. The result of a tool has room for two of these, and
for more short ones; the archive has all."""


def confided(
    pages: Iterable[PersonPage], audience: Audience, private: PrivateWords, before: int | None
) -> tuple[Excerpt, ...]:
    """Return what those who hear an answer told in confidence before the window, newest first.

    Args:
        pages: The pages of all people.
        audience: Who hears the answer.
        before: The number of the first memory of the window; None if there is none.
    """
    found = [
        (line.time, page.name, line)
        for page in pages
        if page.key in audience
        for line in _private_lines(page, private)
        if private.may_hear(line.numbers, audience)
        and (before is None or line.numbers[-1] < before)
    ]
    newest = sorted(found, key=lambda each: each[0], reverse=True)[:MOST_CONFIDED]
    return tuple(
        Excerpt(line.numbers, f"{name}: {shorten(line.shown, LONGEST_CONFIDED)}")
        for _, name, line in newest
    )


def _private_lines(page: PersonPage, private: PrivateWords) -> Iterator[PageLine]:
    return (each for each in page.lines if private.confidants_of(each.numbers) is not None)
