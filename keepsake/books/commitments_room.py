"""Who gives way to whom in the noticed block, which is small and must not be taken over."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache

from keepsake.books.noticing import Noticed, NoticedKind
from keepsake.language.words import telling_roots
from keepsake.names import skeleton
from keepsake.prompt.tokens import most_tokens

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
    newcomers = [item for item in items if item.by_newcomer]
    if any(same(item, new) for item in items) or (
        new.by_newcomer and _cost(*newcomers, new) > NEWCOMERS_LIMIT
    ):
        return None
    goes = [
        item
        for kind in _GIVES_WAY[new.kind]
        for item in sorted(items, key=lambda each: not alike(each, new))
        if item.kind is kind and item.number
    ]
    mine = [item for item in goes if whose(item) == whose(new)]
    kept = _making_room(items, mine, lambda left: _mine_fit(left, new))
    if kept is not None:
        if new.kind is NoticedKind.RULE and not new.by_newcomer:
            goes = [*sorted(newcomers, key=lambda each: -each.number), *goes]
        kept = _making_room(kept, goes, lambda left: _cost(*left, new) <= LIMIT)
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
    items: Sequence[Noticed], goes: Iterable[Noticed], fits: Callable[[Sequence[Noticed]], bool]
) -> Sequence[Noticed] | None:
    """``items`` without those that had to go, the first of ``goes`` first; None if it is no use."""
    for item in goes:
        if fits(items):
            break
        items = [each for each in items if each is not item]
    return items if fits(items) else None


def _mine_fit(items: Sequence[Noticed], new: Noticed) -> bool:
    mine = [item for item in items if item.number and whose(item) == whose(new)]
    return len(mine) < PERSON_MOST and _cost(*mine, new) <= PERSON_LIMIT


def _cost(*items: Noticed) -> int:
    return sum(most_tokens(f"- {item.line}\n") for item in items)


_glance = lru_cache(maxsize=1024)(skeleton)


def whose(item: Noticed) -> str:
    """Whose an item is; names that look alike are one person here."""
    return _glance(item.who)
