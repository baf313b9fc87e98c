"""The person whose words are deleted."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from keepsake.happening import PersonId
from keepsake.language.everyday import is_everyday

_SHORT_NUMBER = 8
"""Digits of the longest number that may stand in anybody's text: a date, ``20261120``."""
_SHORT_WORD = 3
"""Letters of the longest word that is nobody's own, whatever it is."""


@dataclass(frozen=True, slots=True)
class ForgottenPerson:
    """Somebody who asked to be forgotten.

    Attributes:
        key: The identity, as in :attr:`keepsake.happening.Person.id`.
        name: The current name.
        agents: The identities of all agents. What an agent says about the person comes from what
            it perceived; what a player says is the player's own.
    """

    key: PersonId
    name: str
    agents: frozenset[PersonId] = frozenset()

    def is_named_by_key(self, text: str) -> bool:
        """Return whether a text has the identity, and not only as a part of another one.

        ``discord:7`` is not in ``discord:77``. An identity that is an ordinary word or number, such
        as ``7``, says nothing in a text. In the fields of memories every identity is compared.
        """
        return bool(key_places(self.key, text))


def key_places(key: PersonId, text: str) -> list[tuple[int, int]]:
    """Return where a text has an identity, as begin and end; nowhere for an ordinary word."""
    pattern = _pattern(key)
    return [each.span() for each in pattern.finditer(text)] if pattern is not None else []


@lru_cache(maxsize=64)  # people who are forgotten at the same time
def _pattern(key: PersonId) -> re.Pattern[str] | None:
    is_number = key.isdecimal() and len(key) <= _SHORT_NUMBER
    is_word = key.isalpha() and (len(key) <= _SHORT_WORD or is_everyday(key))
    if not key or is_number or is_word:
        return None
    return re.compile(rf"(?<![\w:.-]){re.escape(key)}(?![\w:-]|\.\w)")
