"""Carries out the parts of an answer: each as soon as the model has written it."""

from __future__ import annotations

from collections import deque
from dataclasses import replace

from keepsake.agent.acting.acts import Act
from keepsake.agent.acting.journey import Journey
from keepsake.agent.agent_log import call_hook
from keepsake.agent.turns.abilities import sought_by
from keepsake.agent.turns.answers.doing import Doing
from keepsake.agent.turns.answers.errand import errand_of
from keepsake.agent.turns.answers.taking_up import TakingUp
from keepsake.agent.turns.consent.wanted import LEAVING, WordsFor, wanted_by
from keepsake.agent.turns.context import arrived
from keepsake.agent.turns.plan_steps import met_after_walk
from keepsake.agent.turns.state import Turn
from keepsake.events.values import GuardOp
from keepsake.happening import KnownVerb
from keepsake.language.perception import shorten
from keepsake.ports import Generation
from keepsake.prompt.verbs import PRIVATE, Command
from keepsake.tasks.answer import AnswerPart, PartKind
from keepsake.tasks.answer_reader import AnswerReader
from keepsake.tasks.deed import deed_of, read_deed
from keepsake.tasks.guard import SpeechFault, SpeechGuard

_LONGEST_TRIED = 60
"""The longest description of a failed step, in characters, in the reason that the agent reads."""


class Answering:
    """Carries out one answer of an agent.

    What is done is added to the attempt that the turn is at when this object is made.

    Args:
        guard: Checks the words; None for words by rule, and for deeds alone.
    """

    def __init__(self, turn: Turn, guard: SpeechGuard | None) -> None:
        self._turn = turn
        self._doing = Doing(turn, guard)
        self._state = turn.attempt
        self._tools = turn.tools
        self._actor = turn.actor
        self._taking = TakingUp(turn, self._doing)
        # The parts from the first whose words need leave; the model is asked when it has ended.
        self._held: deque[AnswerPart] = deque()
        self._has_ended = False
        self._met: Journey | None = None  # the last walk whose end has changed who is answered

    async def carry_out(self, part: AnswerPart) -> None:
        """Say, emote or execute a part, as a player could, and wait until that is done.

        If its words need leave, it and those behind it wait for :meth:`release`.

        Raises:
            TurnDropped: The turn ended meanwhile; the act itself may have cancelled it.
        """
        state = self._state
        if state.is_refused:
            return
        if self._held and not self._has_ended:
            self._held.append(part)
            return
        state.parts += 1
        ready = self._turn.begins()
        if ready is not None:
            await self._turn.wait(ready)
        allowed = self._allowed(part)
        if allowed is not None:
            await self._do(allowed)

    async def release(self) -> None:
        """Do the parts that waited for the end of the answer: the model can be asked now.

        Raises:
            TurnDropped: The turn ended meanwhile.
        """
        self._has_ended = True
        if self._held:
            await self._do(self._held.popleft())
        while self._held:
            await self.carry_out(self._held.popleft())
        self._taking.end()

    async def _do(self, allowed: AnswerPart) -> None:
        """Do a part that the game allows, or hold it if its words need leave."""
        state = self._state
        missed = await self._end_journey(allowed)
        if not missed:
            await self._taking.before(allowed)
            missed = await self._stays(allowed) or await self._go_after(allowed)
        wanted = None if missed else self._wanted(allowed)
        if wanted is not None and not self._has_ended:
            self._held.append(allowed)
            return
        if wanted is not None:
            act = await self._doing.pass_on(allowed, wanted, self._held)
        else:
            act = Act(None, missed) if missed else self._doing.act(allowed)
        if act is None:
            return
        if act.command is None:
            deed = "> " if allowed.kind is PartKind.DEED else ""
            act = replace(act, tried=f"{deed}{shorten(allowed.text, _LONGEST_TRIED)}")
        state.acts.append(act)
        if act.command is None:
            self._doing.log_guard(GuardOp.DROPPED, allowed, act.refusal)
        elif act.result is not None:
            await self._turn.wait(act.result)

    def _wanted(self, part: AnswerPart) -> WordsFor | None:
        """Return what a part would say to somebody who does not know what the prompt held.

        Words that were asked for aloud are said aloud by leave if the answer has a plan for them.
        Without one they are no such words: they are planned, and said among others.
        """
        known = self._state.basis.confidants
        if not self._doing.holds_private or known is None:
            return None
        agent = self._turn.agent
        wanted = wanted_by(part, agent, self._doing.context, self._state.journey, known)
        if wanted is None:
            return None
        line = f"{KnownVerb.TALK} {wanted.to.name} = {wanted.words}"
        is_errand = errand_of(line, agent, self._tools, self._state.basis) is not None
        if is_errand and not self._doing.plans_made:
            return None
        return replace(wanted, aloud=is_errand)

    def end(self, reader: AnswerReader, text: str) -> None:
        """Record why nothing of an answer was done, or that the reader has altered it.

        Args:
            reader: Has read the whole answer.
            text: The answer, as the model wrote it.
        """
        state = self._state
        did = any(act.command is not None for act in state.acts)
        if state.acts and not did:
            state.fault = state.fault or state.acts[-1].refusal
        if not state.parts:
            fault = SpeechFault.NOT_OWN if reader.is_over else SpeechFault.EMPTY
            state.fault = state.fault or fault
            self._turn.thoughts.guard(state.impulse, GuardOp.REFUSED, text, state.fault)
            return
        if reader.is_over and state.basis.plan:  # else it takes them for said, and the plan as done
            why = "a line that begins so is taken for that person's"
            self._doing.refused(KnownVerb.SAY, f"You did not say {reader.cut!r}: {why}")
        if reader.altered:
            why = "labels and marks are not spoken"
            altered = "\n".join(reader.altered)
            self._turn.thoughts.guard(state.impulse, GuardOp.ALTERED, altered, why)

    def _allowed(self, part: AnswerPart) -> AnswerPart | None:
        """Return the part as the game's hook allows or changes it; None if the hook vetoes it."""
        hook = "at_agent_answer"
        agent = self._turn.agent
        found: AnswerPart | None = call_hook(agent, hook, AnswerPart | None, part, part)
        by = f"{type(agent).__name__}.{hook}"
        if found is None:
            self._doing.log_guard(GuardOp.REFUSED, part, f"{by} vetoed it")
            self._state.acts.append(Act(None, "That may not be said or done here", vetoed=True))
        elif found != part:
            self._doing.log_guard(GuardOp.ALTERED, part, f"{by} changed it")
        return found

    async def _end_journey(self, part: AnswerPart) -> str:
        """Let the walk that the agent is on end first: what was written after it is done there.

        A memory tool is used at once.

        Returns:
            Why the part is not done: the walk has ended elsewhere. Empty if it is done.
        """
        state = self._state
        journey = state.journey
        if journey is None:
            return ""
        turn = self._turn
        if part.kind is PartKind.DEED and self._doing.verb_of(part) in PRIVATE:
            return ""
        if journey.at_once and journey is not self._met:
            self._meet(journey)
        if journey.is_over:
            return journey.missed
        began = turn.services.seconds()
        state.is_walking = True
        await turn.wait(journey.await_by(lambda: not turn.dropped))
        state.is_walking = False
        state.travelled += turn.services.seconds() - began
        state.place = turn.agent.location
        self._meet(journey)
        return journey.missed

    def _meet(self, journey: Journey) -> None:
        """Find for whom plain lines are after a walk. One that led nowhere changes nobody."""
        self._met = journey
        if journey.at_once and journey.person is None:
            return
        doing = self._doing
        wanted = met_after_walk(self._turn, journey.person, doing.context.partner)
        confidants = self._state.basis.confidants
        doing.context = arrived(self._turn.agent, doing.context, wanted, confidants)

    async def _stays(self, part: AnswerPart) -> str:
        """Let the agent stay if a player here waits for an answer: that comes before a walk.

        Returns:
            Why the part is not done. Empty if it is done: it is no walk, and comes before one.
        """
        state = self._state
        verb = self._doing.verb_of(part) if part.kind is PartKind.DEED else ""
        if verb in PRIVATE:
            return ""
        who = self._turn.next_player if verb in LEAVING and not state.kept_by else None
        if who is not None:
            state.kept_by = who.name
            told = f"You did not set off: {who.name} waits for your answer, and then you may go"
            self._doing.refused(verb, told)
            await self._taking.keep(part)
        return f"{state.kept_by} waits for an answer" if state.kept_by else ""

    async def _go_after(self, part: AnswerPart) -> str:
        """Walk on to the person for whom a deed is, if they are not where the walk has ended.

        An agent that has come to an appointment waits there for its person.

        Returns:
            Why the part is not done: the walk has not reached them. Empty if it is done.
        """
        state = self._state
        walked = state.journey is not None and state.journey.is_over and not state.journey.missed
        if not walked or part.kind is not PartKind.DEED or self._doing.holds_private:
            return ""
        agent = self._turn.agent
        able = self._doing.able
        name = sought_by(part.text, agent, able, self._tools.people_known)
        if not name or self._waits_here:
            return ""
        way = read_deed(f"{KnownVerb.WALK} to {name}", *able)
        if not isinstance(way, Command):  # it must stay here
            return ""
        state.acts.append(self._actor.do(agent, way, basis=state.basis))
        return await self._end_journey(part)

    @property
    def _waits_here(self) -> bool:
        """Whether the agent is where an appointment is kept that the answer is about."""
        plans = self._tools.plans
        plan = plans.named(self._state.basis.plan) if plans is not None else None
        if plans is None or plan is None:
            return False
        window = self._tools.memory.memory.context().window
        made = next((each.time for each in window if each.number == plan.since), None)
        return plans.is_kept_here(plan, made)


class Reading:
    """Reads an answer as it comes, and has each part carried out as soon as it is complete."""

    def __init__(self, reader: AnswerReader, answering: Answering) -> None:
        self._reader = reader
        self._answering = answering

    async def take(self, piece: str) -> None:
        """Read a piece of the answer."""
        for part in self._reader.feed(piece):
            await self._answering.carry_out(part)

    async def break_off(self) -> None:
        """Do the whole parts that wait for leave: the server has failed, and no others come."""
        await self._answering.release()

    async def end(self, answer: Generation) -> None:
        """Read the rest of the answer: an unfinished line, an unstreamed text, tool calls."""
        reader = self._reader
        unread = [] if reader.heard else reader.feed(answer.text)
        rest = [*unread, *reader.end()]
        deeds = [AnswerPart(PartKind.DEED, deed_of(call)) for call in answer.tool_calls]
        for part in [*rest, *deeds]:
            await self._answering.carry_out(part)
        await self._answering.release()
        self._answering.end(reader, answer.text)
