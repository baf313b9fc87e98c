"""The files that one agent in a game keeps beside its memory.

Worker threads write the pages of people once a minute. Otherwise a talking crowd would write a
file with every sentence. Nothing is lost: the book knows the last memory that it contains, and
newer ones are read from the archive.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace

from keepsake.agent.body import AgentRef, Body
from keepsake.agent.memory.shelf import PageNeeds, Reader, Shelf
from keepsake.agent.plans.shown_plans import reminds_of
from keepsake.agent.runtime import Runtime
from keepsake.agent.surroundings.identity import identity_of, is_agent
from keepsake.agent.surroundings.naming import name_of
from keepsake.agent.surroundings.people import people_near
from keepsake.archive.privacy import Audience, PrivateWords
from keepsake.books.kept_lines import Commitment
from keepsake.books.person_line import PersonLine
from keepsake.books.plan import PlanState
from keepsake.events.values import Author
from keepsake.happening import PersonId
from keepsake.language.perception import names


class Books(Shelf):
    """The shelf of an agent in a game, which knows who is there."""

    def __init__(self, ref: AgentRef, services: Runtime) -> None:
        super().__init__(
            ref.name,
            ref.folder,
            clock=services.clock,
            tokens=services.tokens,
            emit=services.events.emit,
        )
        self._services = services

    def journal_lines(
        self,
        private: PrivateWords,
        first: int | None,
        about: Collection[PersonId] = (),
        words: str = "",
        *,
        masked: frozenset[int] = frozenset(),
    ) -> tuple[str, ...]:
        """Return the journal entries for a prompt; those that concern the moment come first.

        Args:
            private: Which memories are private.
            first: The first memory of the window; None if there is none.
            masked: The memories of the window that the prompt does not show in full.
            about: The identities of those who are here.
            words: What is answered; empty for nothing.
        """
        reader = replace(self._reader(private, first), masked=masked)
        return self.entries(reader, about, words)

    def people_lines(
        self,
        agent: Body,
        private: PrivateWords,
        first: int | None,
        audience: Audience,
        needs: PageNeeds,
    ) -> tuple[PersonLine, ...]:
        """Return a prompt's lines about the people who are with the agent, the partner first.

        Agents without a memory know nothing of people.
        """
        if not self._services.thinking.current.memory:
            return ()
        near = [(identity_of(each), each) for each in people_near(agent)]
        known = {name for page in self.people.known.values() for name in page.names}
        known.update(name_of(person, agent) for _, person in near)
        profile = str(agent.db.profile or "")
        # Its profile names its neighbours. A player who takes such a name is a stranger.
        of_old = frozenset(
            key
            for key, person in near
            if is_agent(person) and names(profile, name_of(person, agent))
        )
        # Skip agents that it has not met: its persona may describe them, as neighbours.
        told = [each for each in near if each[0] in self.people.known or not is_agent(each[1])]
        present = [(key, name_of(person, agent)) for key, person in told]
        return self.pages(
            present,
            self._reader(private, first),
            audience,
            needs,
            of_old=of_old,
            near=[name_of(person, agent) for _, person in near],
        )

    def close_commitments(
        self,
        which: Callable[[Commitment], bool],
        state: PlanState,
        *,
        by: Author,
        going_on: int = 0,
    ) -> int:
        """Remove promises and rules, and end the plans that only remind of such a promise; blocks.

        Args:
            which: Whether a promise or rule is one of them.
            state: How the plans end.
            by: Who removes them.
            going_on: The number of the plan that is carried out now, which ends by itself; 0 for
                none.

        Returns:
            How many promises and rules were removed.

        Raises:
            NoteRefused: A file cannot be written.
        """
        gone = [each for each in self.commitments.items if which(each)]
        count = self.commitments.close(lambda each: each in gone, by=by)
        for plan in self.plans.current:
            if plan.number != going_on and reminds_of(plan, gone) is not None:
                self.plans.set_state(plan, state, by=by)
        return count

    def _reader(self, private: PrivateWords, first: int | None) -> Reader:
        return Reader(private, first, self._services.limits.prompt_tokens)
