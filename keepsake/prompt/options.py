"""What an agent can do at this moment: verbs with the things, people and exits that are there."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile

from keepsake.prompt.verbs import Takes, Verb

_TYPO = 0.8
_LISTED = 12
_WHERE = frozenset({"from", "on", "in", "with", "near", "off", "under", "behind", "by"})
_ARTICLES = frozenset({"the", "a", "an", "my", "some"})


@dataclass(frozen=True, slots=True)
class Options:
    """What is around an agent, by name."""

    exits: tuple[str, ...] = ()
    people: tuple[str, ...] = ()
    things: tuple[str, ...] = ()  # what is here, and what the place's description mentions
    lying: tuple[str, ...] = ()  # those of the things that can be picked up
    carried: tuple[str, ...] = ()
    stays: bool = False  # whether it must not leave now: it is in a talk, or has guests

    def of(self, takes: Takes) -> tuple[str, ...]:
        """The names that may follow such a verb, of a gift the thing; empty where none is due."""
        seen = tuple(dict.fromkeys((*self.people, *self.things, *self.lying, *self.carried)))
        named = {
            Takes.EXIT: () if self.stays else self.exits,
            Takes.THING: seen,
            Takes.MAYBE_THING: seen,
            Takes.LYING: self.lying,
            Takes.CARRIED: self.carried,
            Takes.GIFT: self.carried if self.people else (),
            Takes.WHISPER: self.people,
            Takes.PERSON: self.people,
        }
        return named.get(takes, ())

    def usages(self, verbs: Sequence[Verb]) -> dict[Verb, str]:
        """The verbs for which there is something or somebody here, each with how it is written."""
        found = {}
        for verb in verbs:
            names = self.of(verb.takes)
            if names or verb.takes not in NAMING:
                to = f"; to {either(self.people)}" if verb.takes is Takes.GIFT else ""
                shown = f" ({', '.join(names[:_LISTED])}{to})" if names else ""
                found[verb] = f"{verb.usage}{shown}"
        return found


NAMING = frozenset(
    {Takes.EXIT, Takes.PERSON, Takes.THING, Takes.LYING, Takes.CARRIED, Takes.GIFT, Takes.WHISPER}
)
"""What has to name something or somebody that is there."""


def either(names: Sequence[str]) -> str:
    """``north, up or out``; the first dozen."""
    *others, last = names[:_LISTED] or ("",)
    return f"{', '.join(others)} or {last}" if others else last


def find_named(said: str, names: Sequence[str]) -> str | None:
    """The one of ``names`` that is meant: whole, by words of it, or mistyped; None for none.

    ``said``: ``the lamp``, ``Lamp on the shelf``, ``brass lmap``.
    """
    wanted = _bare(said)
    known = {_bare(name): name for name in reversed(names)}
    first, *rest = wanted.split() or [""]
    where = " ".join([first, *takewhile(lambda word: word not in _WHERE, rest)])
    for spelling in (wanted, where):
        having = [key for key in known if set(spelling.split()) <= set(key.split())]
        if spelling in known or (spelling and len(having) == 1):
            return known[spelling if spelling in known else having[0]]
    near = difflib.get_close_matches(wanted, known, 2, _TYPO)
    return known[near[0]] if wanted and len(near) == 1 else None


def _bare(name: str) -> str:
    words = name.casefold().split()
    return " ".join(words[1:] if len(words) > 1 and words[0] in _ARTICLES else words)
