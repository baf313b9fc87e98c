"""What an agent said of a fact in words of its own, though not in the words that were typed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from keepsake.archive.records import Memory
from keepsake.tracing.content import Content, Rarity, told_in
from keepsake.tracing.kept import has_enough
from keepsake.tracing.past import Archived
from keepsake.tracing.texts import memories_at

MOST = 50
"""The most acts of an agent that are read, the newest."""


def retold(archived: Archived, memories: Sequence[Memory]) -> Iterator[Memory]:
    """Yield an agent's own words that rest on its memories of a fact and say it again; blocks.

    An answer rests on what it answers, whatever it says. So it needs words of the memory, too.
    """
    known = {each.number: Content(each.words or each.text, Rarity()) for each in memories}
    resting = {act for number in known for act in archived.past.resting_on(number)}
    newest = sorted(resting.difference(known))[-MOST:]
    for own in memories_at(archived.texts.of(archived.folder), newest) if newest else ():
        said = told_in(own.words) if own.own_words is not None else ""
        if said and any(has_enough(known[basis], said) for basis in known.keys() & {*own.rests_on}):
            yield own
