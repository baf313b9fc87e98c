"""Who gives way to whom in the noticed block, which is small and must not be taken over."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache

from game.mind.books.noticing import Noticed, NoticedKind
from game.mind.language.words import telling_roots
from game.mind.names import skeleton
from game.mind.prompt.tokens import most_tokens

LIMIT = 400
"""Estimated tokens of the whole block in a prompt."""
PERSON_MOST = 4
"""Items that one person may have in it."""
PERSON_LIMIT = 100
"""Estimated tokens that one person may have in it: it takes several to fill the block."""
NEWCOMERS_LIMIT = 100
"""Estimated tokens that the rules of all newcomers may have together: a hundred accounts made
today have no more of the block than one person."""
_ALIKE = 0.6
"""The share of their telling words that two lines which say nearly the same have in common."""

_GIVES_WAY: dict[NoticedKind, tuple[NoticedKind, ...]] = {
    NoticedKind.RULE: (NoticedKind.QUESTION, NoticedKind.PROMISE),
    NoticedKind.PROMISE: (NoticedKind.QUESTION, NoticedKind.PROMISE),
    NoticedKind.QUESTION: (NoticedKind.QUESTION,),
}
"""What makes room for a new item of each kind, first to go first; rules never do."""


def admit(items: Sequence[Noticed], new: Noticed) -> tuple[Noticed, ...] | None:
    """The items with ``new`` among them, less those that make room for it.

    A person's own items make room first, then everybody's; what says nearly the same before
    the rest, the oldest before the newer.
    What people wrote into the file by hand stays. Of newcomers' rules only so many are kept, and
    they give way to a rule of whoever is known for longer.

    Returns:
        None if ``new`` is there already or there is no room for it.
    """
    if any(same(item, new) for item in items):
        return None
    kept = _making_room(list(items), new, _mine_fit, lambda item: whose(item) == whose(new))
    if new.by_newcomer and not _newcomers_fit(items, new):
        return None
    if kept is not None and new.kind is NoticedKind.RULE and not new.by_newcomer:
        while not _all_fit(kept, new) and (newest := _newcomers_newest(kept)) is not None:
            kept = [each for each in kept if each is not newest]
    if kept is not None:
        kept = _making_room(kept, new, _all_fit, lambda _: True)
    return None if kept is None else (*kept, new)


def same(one: Noticed, other: Noticed) -> bool:
    """Whether both say the same of the same person."""
    return (
        one.kind is other.kind
        and one.text.casefold() == other.text.casefold()
        and whose(one) == whose(other)
    )


def alike(one: Noticed, other: Noticed) -> bool:
    """Whether both say nearly the same of the same person, as who repeats themselves does."""
    if one.kind is not other.kind or whose(one) != whose(other):
        return False
    mine, theirs = telling_roots(one.text), telling_roots(other.text)
    return len(mine & theirs) >= _ALIKE * len(mine | theirs) > 0


def shown(items: Iterable[Noticed]) -> tuple[Noticed, ...]:
    """What of it a prompt shows: rules, newcomers' last; promises; questions; within the limit."""
    order = list(NoticedKind)
    room, kept = LIMIT, []
    for item in sorted(items, key=lambda each: (order.index(each.kind), each.by_newcomer)):
        if (cost := _cost(item)) <= room:
            room -= cost
            kept.append(item)
    return tuple(kept)


def _making_room(
    items: list[Noticed],
    new: Noticed,
    fits: Callable[[list[Noticed], Noticed], bool],
    may_go: Callable[[Noticed], bool],
) -> list[Noticed] | None:
    """``items`` without those that had to go until ``new`` fits; None if it never does."""
    for kind in _GIVES_WAY[new.kind]:
        may = [item for item in items if item.kind is kind and item.number and may_go(item)]
        for item in sorted(may, key=lambda each: not alike(each, new)):
            if fits(items, new):
                return items
            items = [each for each in items if each is not item]
    return items if fits(items, new) else None


def _mine_fit(items: list[Noticed], new: Noticed) -> bool:
    mine = [item for item in items if item.number and whose(item) == whose(new)]
    return len(mine) < PERSON_MOST and sum(map(_cost, [*mine, new])) <= PERSON_LIMIT


def _newcomers_fit(items: Sequence[Noticed], new: Noticed) -> bool:
    theirs = [item for item in items if item.by_newcomer]
    return sum(map(_cost, [*theirs, new])) <= NEWCOMERS_LIMIT


def _newcomers_newest(items: Sequence[Noticed]) -> Noticed | None:
    theirs = [item for item in items if item.by_newcomer]
    return max(theirs, key=lambda item: item.number, default=None)


def _all_fit(items: list[Noticed], new: Noticed) -> bool:
    return sum(map(_cost, [*items, new])) <= LIMIT


def _cost(item: Noticed) -> int:
    return most_tokens(f"- {item.line}\n")


@lru_cache(maxsize=1024)
def _glance(name: str) -> str:
    return skeleton(name)


def whose(item: Noticed) -> str:
    """Whose an item is; names that look alike are one person here."""
    return _glance(item.who)
