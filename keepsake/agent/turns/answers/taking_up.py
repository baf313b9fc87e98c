"""Begins the plan that an answer carries out: one that it has made, or what a player asked for."""

from __future__ import annotations

from dataclasses import replace

from keepsake.agent.attention.impulse import DIRECT
from keepsake.agent.surroundings.people import persons_near
from keepsake.agent.surroundings.routes import place_names
from keepsake.agent.turns.answers.doing import Doing
from keepsake.agent.turns.answers.errand import errand_asked
from keepsake.agent.turns.state import Turn
from keepsake.archive.records import Memory
from keepsake.books.plan import Plan
from keepsake.happening import KnownVerb
from keepsake.prompt.verbs import PRIVATE, find_named
from keepsake.tasks.answer import AnswerPart, PartKind

_TO_ONE = (KnownVerb.TALK, KnownVerb.WHISPER)


class TakingUp:
    """Begins the plan of one answer before its first step."""

    def __init__(self, turn: Turn, doing: Doing) -> None:
        self._turn = turn
        self._doing = doing
        self._state = turn.attempt
        self._asked: Plan | None = None  # the plan of the player's request

    async def before(self, part: AnswerPart) -> None:
        """Begin the plan whose step a part may be."""
        words = self._words_of_who_is_left(part)
        if words is not None:
            await self._plan_what_was_asked(words)
        elif part.kind is PartKind.DEED and not self._state.impulse.plan:
            verbs = PRIVATE | {KnownVerb.WAIT}
            if self._doing.plans_made and self._doing.verb_of(part) not in verbs:
                await self._take_up()

    def end(self) -> None:
        """End the plan of a request if the agent is back with the player who made it."""
        plans = self._turn.tools.plans
        who = self._turn.impulse.who
        is_back = any(each.id == who for each in persons_near(self._turn.agent))
        if plans is not None and self._asked is not None and is_back and not self._state.kept_by:
            plans.end(self._asked, done=True)

    async def _take_up(self) -> Plan | None:
        """Begin the plan for now that this answer has made, if it is still to be begun.

        What follows is for that plan, also if another one was begun before and has not ended.
        """
        plans = self._turn.tools.plans
        plan = plans.made_for_now(self._doing.plans_made) if plans is not None else None
        if plan is None:
            return None
        self._state.basis = replace(self._state.basis, plan=plan.number)
        ready = self._turn.take_up(plan.number)
        if ready is not None:
            await self._turn.wait(ready)
        return plan

    async def _plan_what_was_asked(self, words: Memory, place: str = "") -> None:
        """Make a plan of a player's request, before the agent speaks to somebody for it.

        What they answer would else come to an agent that does not know any more who sent it.
        """
        turn = self._turn
        asked = errand_asked(words, place)
        act = turn.actor.do(turn.agent, asked, basis=self._state.basis, confided=True)
        self._state.acts.append(act)
        if act.result is not None:
            await turn.wait(act.result)
        self._asked = await self._take_up()

    def _words_of_who_is_left(self, part: AnswerPart) -> Memory | None:
        """Return the words of the player whom a walk has left, if a part is for somebody else.

        None if the answer has made a plan or carries one out, and for what was asked for aloud
        while the prompt held private words: of that :mod:`.errand` makes a plan.
        """
        if not self._has_walked or not self._may_be_asked or not self._is_for_others(part):
            return None
        return self._words

    async def keep(self, part: AnswerPart) -> None:
        """Make a plan of a player's request that the agent cannot set off for now.

        A rule can keep it only if it knows where: it walks there.

        ``part``: The walk.
        """
        words = self._words if self._may_be_asked else None
        if words is None:
            return
        goal = ""
        if not self._turn.services.acts_unprompted:
            goal = (
                find_named(part.text.partition(" to ")[2], [*place_names(self._turn.agent)]) or ""
            )
        await self._plan_what_was_asked(words, goal)

    @property
    def _may_be_asked(self) -> bool:
        """Whether the answer to a player's words may carry out what they ask, and has no plan."""
        turn = self._turn
        is_asked = turn.impulse.from_player and turn.impulse.kind in DIRECT
        if not is_asked or turn.plan_number or self._doing.plans_made:
            return False
        is_aloud = bool(self._doing.holds_private) and self._state.basis.aloud is not None
        return not is_aloud and KnownVerb.PLAN not in turn.tools.withheld

    @property
    def _words(self) -> Memory | None:
        """The words that are answered; None if the window has them no more."""
        window = self._turn.tools.memory.memory.context().window
        number = self._turn.impulse.memory_number
        return next((each for each in window if each.number == number), None)

    @property
    def _has_walked(self) -> bool:
        """Whether a walk of the answer has led somewhere else."""
        journey = self._state.journey
        if journey is None or not journey.is_over:
            return False
        return not (journey.at_once or journey.missed)

    def _is_for_others(self, part: AnswerPart) -> bool:
        """Whether a part speaks to somebody here, where who asked for something is not."""
        near = persons_near(self._turn.agent)
        if any(each.id == self._turn.impulse.who for each in near):
            return False
        if part.kind is PartKind.DEED:
            return self._doing.verb_of(part) in _TO_ONE
        partner = self._doing.context.partner
        return part.kind is PartKind.SPEECH and partner in near
