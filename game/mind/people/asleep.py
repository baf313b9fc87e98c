"""What the rules miss about people: a model reads again while the agent sleeps."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from game.mind.journal.entries import Importance
from game.mind.people.book import PeopleBook
from game.mind.records import Memory
from game.mind.sleep.asking import Ask
from game.mind.sleep.steps import Figures


def update_profiles(
    book: PeopleBook,
    memories: Sequence[Memory],
    ask: Ask,
    own_name: str,
    importance_of: Callable[[Memory], Importance],
) -> Figures:
    """Work in what is missing, then ask the model once for each person met; blocks."""
    return {"profiles": book.take(memories, own_name, importance_of)}
