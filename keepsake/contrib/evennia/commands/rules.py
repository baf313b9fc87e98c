"""Builders see what agents have promised and which rules they keep to, and drop one person's."""

from __future__ import annotations

from collections.abc import Sequence

from keepsake.books.commitments import Commitment, Commitments
from keepsake.contrib.evennia.commands.base import one_line, plain, table
from keepsake.contrib.evennia.wording import counted
from keepsake.errors import KeepsakeError


def listed(books: Sequence[tuple[str, Commitments]]) -> str:
    """``@rules``: the open promises and rules of some agents."""
    rows = [
        (name, each.kind.value, plain(each.who), each.number, one_line(each.text, 60))
        for name, book in books
        for each in book.items
    ]
    shown = table(("Agent", "What", "Who", "Memory", "Words"), rows)
    return f"{shown}\n{counted(len(rows), 'line')}" if rows else "No promise or rule is open."


def dropped(books: Sequence[tuple[str, Commitments]], person: str) -> str:
    """``@rules/drop``: one person's are taken out; raises KeepsakeError if there are none."""
    wanted = person.casefold()

    def theirs(each: Commitment) -> bool:
        return wanted in (each.key.casefold(), each.who.casefold())

    gone = {name: count for name, book in books if (count := book.drop(theirs))}
    if not gone:
        raise KeepsakeError(f"No agent has one of {plain(person)}", "See them: @rules")
    told = ", ".join(f"{name} {count}" for name, count in gone.items())
    return f"|gDropped|n what was open with {plain(person)}: {told}."
