"""Which memory belongs to which profile, in the order in which they were lived."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial

from keepsake.archive.records import Memory, MemoryKind
from keepsake.books.profiles.observing import (
    been_at,
    examined,
    had,
    handled,
    observe,
    place_key,
    spoken_of,
    thing_key,
)
from keepsake.books.profiles.profile import Profile
from keepsake.language.facts import key_of
from keepsake.language.fit import is_fit
from keepsake.language.fit import name as fit_name
from keepsake.language.heard import heard, own_words
from keepsake.language.words import COMMON_WORDS, words
from keepsake.prompt.tool_results import is_private_act, is_private_result

type Edit = Callable[[Profile | None], Profile]
"""Makes the new profile of the old one, which is None for nobody known."""
type Named = Callable[[str], Iterable[str]]
"""The keys of the people who are called so now."""

_ANSWERED = timedelta(minutes=10)
_PRESENT = timedelta(hours=1)
_MOST_PRESENT = 20
_MOST_NAMED = 3
_LOOKS = ("look ", "examine ", "look at ")


@dataclass(frozen=True, slots=True)
class SortingContext:
    """What later memories are understood by; kept with the cursor, so that a restart is no gap.

    Who was met lately (key, name and when, the newest last), who spoke to the agent last and
    when, and the key of the thing that it has just turned to.
    """

    present: tuple[tuple[str, str, datetime], ...] = ()
    speaker: tuple[str, datetime] | None = None
    looked_at: str = ""


class Sorter:
    """Gives each memory to the profiles that it changes."""

    def __init__(
        self, own_name: str, named: Named, known: Callable[[str], bool], scene: SortingContext
    ) -> None:
        self.own_name = own_name
        self._bearers, self._known = named, known
        self._new: dict[str, dict[str, None]] = {}
        self._present = OrderedDict((key, (name, at)) for key, name, at in scene.present)
        self._speaker, self._looked_at = scene.speaker, scene.looked_at

    def scene(self, now: datetime) -> SortingContext:
        """What is to be known of the time before ``now``."""
        near = [(key, name, at) for key, (name, at) in self._present.items() if now - at < _PRESENT]
        return SortingContext(tuple(near), self._speaker, self._looked_at)

    def edits(self, memory: Memory, importance: int) -> Iterator[tuple[str, Edit]]:
        """Keys and what the memory does to their profiles.

        What comes of the agent's use of its own memory is no event, and changes nothing.
        """
        own = memory.kind is not MemoryKind.PERCEPTION
        if own and (is_private_act(memory.text) or is_private_result(memory.text)):
            return
        if key := self._person(memory):
            yield key, lambda old: observe(old, memory, self.own_name, importance)
        if memory.kind is MemoryKind.PERCEPTION:
            for other in self._spoken_of(memory, key):
                yield other, lambda old: spoken_of(there(old), memory, importance)
        if memory.place:
            met = key if memory.kind is MemoryKind.PERCEPTION else ""
            yield place_key(memory.place), lambda old: been_at(old, memory, importance, met)
        yield from self._things(memory, importance)

    def _person(self, memory: Memory) -> str:
        """Who caused the memory, or whom the agent speaks to; empty for nobody."""
        if memory.kind is MemoryKind.PERCEPTION:
            key = key_of(memory)
            if key and (memory.source or heard(memory)):
                self._saw(key, memory)
            return key
        said = own_words(memory)
        if said is not None and said.to:
            return self._here(said.to, memory.time)
        if said is not None and self._speaker and memory.time - self._speaker[1] < _ANSWERED:
            return self._speaker[0]
        thing = handled(memory)
        return self._here(thing.to, memory.time) if thing is not None and thing.to else ""

    def _saw(self, key: str, memory: Memory) -> None:
        said = heard(memory)
        name = memory.source or (said.who if said else "")
        self._new.setdefault(fit_name(name).casefold(), {})[key] = None
        self._present[key] = (name, memory.time)
        self._present.move_to_end(key)
        while len(self._present) > _MOST_PRESENT:
            self._present.popitem(last=False)
        if said is not None and said.to in ("", "you"):
            self._speaker = (key, memory.time)

    def _here(self, name: str, now: datetime) -> str:
        """Who of those met in the last hour is meant by a name or its beginning."""
        wanted = name.casefold()
        near = [
            (key, called.casefold())
            for key, (called, time) in self._present.items()
            if now - time < _PRESENT
        ]
        exact = [key for key, called in near if called == wanted]
        begun = [key for key, called in near if called.startswith(wanted)]
        found = exact or begun
        return found[0] if len(found) == 1 else ""

    def _spoken_of(self, memory: Memory, speaker: str) -> list[str]:
        """Others whom somebody names; none where two bear the name, or it may be a mere word."""
        said = heard(memory)
        if said is None or not is_fit(said.words):
            return []
        found: list[str] = []
        for name in _capitalised(said.words):
            if name.casefold() == self.own_name.casefold():
                continue
            keys = list(dict.fromkeys((*self._bearers(name), *self._new.get(name.casefold(), ()))))
            if len(keys) == 1 and keys[0] not in (speaker, *found):
                found.append(keys[0])
        return found[:_MOST_NAMED]

    def _things(self, memory: Memory, importance: int) -> Iterator[tuple[str, Edit]]:
        thing = handled(memory)
        if thing is not None:
            yield thing.key, partial(had, memory=memory, thing=thing, importance=importance)
        elif memory.kind is MemoryKind.RESULT and self._looked_at:
            yield self._looked_at, lambda old: examined(there(old), memory)
        self._looked_at = self._look(memory)

    def _look(self, memory: Memory) -> str:
        """The key of the known thing that the agent turns to with this act."""
        if memory.kind is not MemoryKind.ACT or not memory.text.startswith(_LOOKS):
            return ""
        what = memory.text.partition(" ")[2].removeprefix("at ")
        key = thing_key(what)
        return key if self._known(key) else ""


def _capitalised(text: str) -> Iterator[str]:
    """Words that may be names, and two of them in a row."""
    found = words(text)
    for place, word in enumerate(found):
        if word[0].isupper() and word.casefold() not in COMMON_WORDS:
            following = found[place + 1 : place + 2]
            if following and following[0][0].isupper():
                yield f"{word} {following[0]}"
            yield word.removesuffix("'s").removesuffix("’s")


class Unknown(LookupError):
    """A profile that was to be added to is not there any more."""


def there(profile: Profile | None) -> Profile:
    """The profile; raises :class:`Unknown` for None."""
    if profile is None:
        raise Unknown
    return profile
