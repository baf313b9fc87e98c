"""Who bears a name: namesakes, former names, and names that were all that was known."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from game.mind.books.profiles.acquaintance import closeness
from game.mind.books.profiles.profile import Closeness, Name, Profile, ProfileKind
from game.mind.language.fit import name as fit_name


@dataclass(frozen=True, slots=True)
class Light:
    """What is in RAM of every profile."""

    key: str
    kind: ProfileKind
    names: tuple[Name, ...]
    last_met: datetime
    closeness: Closeness
    profile: Profile


def light(head: Profile, now: datetime | None = None) -> Light:
    """A head with what is asked of it most; closeness at ``now``, or when they last met."""
    close = closeness(head, now or head.last_met)
    return Light(head.key, head.kind, head.names, head.last_met, close, head)


class NameIndex:
    """The present names of all people, and the keys that somebody had before."""

    def __init__(self) -> None:
        self._by_name: dict[str, tuple[str, ...]] = {}
        self._now: dict[str, str] = {}

    def of(self, name: str) -> tuple[str, ...]:
        """The keys of the people who are called so now."""
        return self._by_name.get(fit_name(name).casefold(), ())

    def now(self, key: str) -> str:
        """The key that took the place of ``key``; empty if none did."""
        return self._now.get(key, "")

    def all(self, heads: Iterable[Profile]) -> None:
        """Learn everybody's name anew."""
        names: dict[str, list[str]] = defaultdict(list)
        for head in heads:
            if head.kind is ProfileKind.PERSON:
                names[head.name.casefold()].append(head.key)
                self._now.update((old, head.key) for old in head.formerly)
        self._by_name = {name: tuple(keys) for name, keys in names.items()}

    def met(self, head: Profile | None) -> None:
        """Know somebody by the present name, and by that alone."""
        if head is None or head.kind is not ProfileKind.PERSON:
            return
        for each in {one.name.casefold() for one in head.names}:
            self._by_name[each] = tuple(k for k in self._by_name.get(each, ()) if k != head.key)
        self._now.update((old, head.key) for old in head.formerly)
        mine = head.name.casefold()
        self._by_name[mine] = (*self._by_name[mine], head.key)


def answering(heads: Iterable[Profile], words: str) -> list[Profile]:
    """Those who are called so, or whose name begins or goes so; the best first."""
    wanted = " ".join(words.split()).casefold()
    ranked = [(rank, head) for head in heads if (rank := _rank(head, wanted)) is not None]
    ranked.sort(key=lambda each: (each[0], -each[1].last_met.timestamp()))
    return [head for _, head in ranked] if wanted else []


def _rank(head: Profile, wanted: str) -> tuple[int, int] | None:
    """How well a profile answers to a name, best first; None for not at all."""
    kind = 0 if head.kind is ProfileKind.PERSON else 1
    names = [each.name.casefold() for each in reversed(head.names)]
    if wanted in (head.key.casefold(), names[0]):
        return 0, kind
    if wanted in names:
        return 1, kind
    if any(name.startswith(wanted) for name in names):
        return 2, kind
    return (3, kind) if any(wanted in name for name in names) else None
