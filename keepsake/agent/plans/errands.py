"""Errands that a rule runs: a plan that is a deed already, words to one person.

A small model agrees to tell somebody something, and would not find the way there and the words. So
its plan has the words (:mod:`keepsake.agent.turns.agreeing`), and the agent walks to that person,
says them, and has done it. A capable model does its plans itself.

Everything here runs on the reactor thread.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from keepsake.agent.plans.plans import Plans
from keepsake.books.plan import Plan
from keepsake.happening import KnownVerb, Person
from keepsake.prompt.verbs import VERBS, Command, Options
from keepsake.tasks.deed import read_deed

_TALK = tuple(verb for verb in VERBS if verb.name == KnownVerb.TALK)


def words_of(plan: Plan) -> str:
    """Return the words that a plan is to say to its person; empty for any other plan."""
    if plan.whom is None:
        return ""
    read = read_deed(plan.what, _TALK, Options(people=(plan.whom.name,)))
    words = read.words if isinstance(read, Command) else ""
    return f"{words}." if words[-1:].isalnum() else words  # a plan loses its last full stop


class Say(Protocol):
    """Says words to a person for a plan, by its number."""

    def __call__(self, words: str, person: Person, *, plan: int) -> None:
        """Say them."""


class Errands:
    """The errands of one agent that a rule runs.

    Args:
        is_here: Returns whether a person is with the agent.
        walk: Walks to a place or person by name, then calls; returns False if there is no way.
        say: Says words to a person for a plan.
    """

    def __init__(
        self,
        plans: Plans,
        *,
        is_here: Callable[[Person], bool],
        walk: Callable[[str, Callable[[], None]], bool],
        say: Say,
    ) -> None:
        self._plans = plans
        self._is_here = is_here
        self._walk = walk
        self._say = say

    def keep(self, plan: Plan) -> bool:
        """Go on with an errand; return False for any other plan.

        If its person is not where the walk has ended, it goes on when they come to the agent.
        """
        words = words_of(plan)
        whom = plan.whom
        if not words or whom is None:
            return False
        self._plans.began(plan)
        if self._is_here(whom):
            self._tell(plan.number, words, whom)
        else:
            self._walk(whom.name, lambda: self._arrived(plan.number))
        return True

    def _arrived(self, number: int) -> None:
        plan = self._plans.named(number)
        if plan is not None and plan.whom is not None and self._is_here(plan.whom):
            self._tell(number, words_of(plan), plan.whom)

    def _tell(self, number: int, words: str, whom: Person) -> None:
        self._say(words, whom, plan=number)
        plan = self._plans.named(number)
        if plan is not None:
            self._plans.end(plan, done=True)
