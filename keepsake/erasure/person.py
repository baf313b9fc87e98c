"""The person whose words are deleted."""

from __future__ import annotations

from dataclasses import dataclass

from keepsake.happening import PersonId


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
