"""Carries out the parts of an answer: each as soon as the model has written it."""

from __future__ import annotations

from collections import deque
from dataclasses import replace

from keepsake.agent.acts import Act
from keepsake.agent.agent_log import call_hook
from keepsake.agent.surroundings.identity import identity_of
from keepsake.agent.surroundings.naming import place_of
from keepsake.agent.surroundings.people import people_near, persons_near
from keepsake.agent.turns.abilities import available_verbs, sought_by
from keepsake.agent.turns.consent.passing import pass_on
from keepsake.agent.turns.consent.question import leave_for
from keepsake.agent.turns.consent.wanted import WordsFor, all_words, wanted_by
from keepsake.agent.turns.context import arrived, secrecy
from keepsake.agent.turns.errand import NOT_FOR_OTHERS, errand_at, errand_of, read_words, why_unsaid
from keepsake.agent.turns.plan_steps import met_after_walk
from keepsake.agent.turns.state import Turn
from keepsake.archive.message_types import MessageType
from keepsake.events.values import GuardOp
from keepsake.happening import KnownVerb, Person, Result
from keepsake.ports import Generation
from keepsake.prompt.verbs import PRIVATE, Command
from keepsake.tasks.answer import AnswerPart, PartKind
from keepsake.tasks.answer_reader import AnswerReader
from keepsake.tasks.deed import deed_of, read_deed
from keepsake.tasks.guard import SpeechFault, SpeechGuard


class Answering:
    """Carries out one answer of an agent.

    What is done is added to the attempt that the turn is at when this object is made.

    Args:
        guard: Checks the words; None for words by rule, and for deeds alone.
    """

    def __init__(self, turn: Turn, guard: SpeechGuard | None) -> None:
        self._turn = turn
        self._guard = guard
        self._context = turn.context
        self._state = turn.attempt
        self._tools = turn.tools
        self._actor = turn.actor
        # The parts from the first whose words need leave; the model is asked when it has ended.
        self._held: deque[AnswerPart] = deque()
        self._has_ended = False

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

    async def _do(self, allowed: AnswerPart) -> None:
        """Do a part that the game allows, or hold it if its words need leave."""
        state = self._state
        missed = await self._end_journey(allowed)
        if not missed:
            await self._take_up_plan(allowed)
            missed = await self._go_after(allowed)
        wanted = None if missed else self._wanted(allowed)
        if wanted is not None and not self._has_ended:
            self._held.append(allowed)
            return
        if wanted is not None:
            act = await self._pass_on(allowed, wanted)
        else:
            act = Act(None, missed) if missed else self._act(allowed)
        if act is None:
            return
        state.acts.append(act)
        if act.command is None:
            self._log_guard(GuardOp.DROPPED, allowed, act.refusal)
        elif act.result is not None:
            await self._turn.wait(act.result)

    def _wanted(self, part: AnswerPart) -> WordsFor | None:
        """Return what a part would say to somebody who does not know what the prompt held.

        None for words that were asked for aloud: they are planned, and said among others.
        """
        known = self._state.basis.confidants
        if not self._holds_private or known is None:
            return None
        agent = self._turn.agent
        wanted = wanted_by(part, agent, self._context, self._state.journey, known)
        if wanted is None:
            return None
        line = f"{KnownVerb.TALK} {wanted.to.name} = {wanted.words}"
        is_errand = errand_of(line, agent, self._tools, self._state.basis) is not None
        return None if is_errand else wanted

    async def _pass_on(self, part: AnswerPart, wanted: WordsFor) -> Act | None:
        """Say words to somebody who does not know what the prompt held, if that is allowed."""
        leave = await leave_for(self._turn, wanted.to, all_words(wanted, self._held))
        if leave is None:
            self._turn.hides_replies = True
            return self._act(part)
        if self._has_gone(wanted.to):  # while the model was asked
            to = wanted.to.name
            return self._refused(wanted.verb, f"You did not say your words to {to}: {to} has gone")
        if self._tells_secret(wanted.words, aloud=False):
            return Act(None, SpeechFault.SECRET)
        whispers = wanted.verb == KnownVerb.WHISPER
        if not whispers and (fault := self._fault(wanted.words, aloud=False)):
            return Act(None, fault)
        return pass_on(self._turn, wanted, leave)

    async def _take_up_plan(self, part: AnswerPart) -> None:
        """Begin a plan for now that this answer has made, before the first deed that follows it."""
        state = self._state
        plans = self._tools.plans
        if plans is None or part.kind is not PartKind.DEED or state.basis.plan:
            return
        made = self._plans_made
        plan = plans.made_for_now(made) if made else None
        if plan is None or self._verb_of(part) in PRIVATE | {KnownVerb.WAIT}:
            return
        state.basis = replace(state.basis, plan=plan.number)
        ready = self._turn.take_up(plan.number)
        if ready is not None:
            await self._turn.wait(ready)

    def _verb_of(self, part: AnswerPart) -> str:
        """Return the verb of a deed, as it is understood now."""
        agent = self._turn.agent
        able = available_verbs(agent, self._context, self._tools, holds=self._holds_private)
        return read_deed(part.text, *able).verb

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
            self._refused(KnownVerb.SAY, f"You did not say {reader.cut!r}: {why}")
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
            self._log_guard(GuardOp.REFUSED, part, f"{by} vetoed it")
            self._state.acts.append(Act(None, "That may not be said or done here", vetoed=True))
        elif found != part:
            self._log_guard(GuardOp.ALTERED, part, f"{by} changed it")
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
        if part.kind is PartKind.DEED and self._verb_of(part) in PRIVATE:
            return ""
        if journey.is_over:
            return journey.missed
        began = turn.services.seconds()
        state.is_walking = True
        await turn.wait(journey.await_by(lambda: not turn.dropped))
        state.is_walking = False
        state.travelled += turn.services.seconds() - began
        state.place = turn.agent.location
        wanted = met_after_walk(turn, journey.person, self._context.partner)
        self._context = arrived(turn.agent, self._context, wanted, state.basis.confidants)
        return journey.missed

    async def _go_after(self, part: AnswerPart) -> str:
        """Walk on to the person for whom a deed is, if they are not where the walk has ended.

        An agent that has come to an appointment waits there for its person.

        Returns:
            Why the part is not done: the walk has not reached them. Empty if it is done.
        """
        state = self._state
        walked = state.journey is not None and state.journey.is_over and not state.journey.missed
        if not walked or part.kind is not PartKind.DEED or self._holds_private:
            return ""
        agent = self._turn.agent
        able = available_verbs(agent, self._context, self._tools, holds=self._holds_private)
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

    def _act(self, part: AnswerPart) -> Act | None:
        """Do a part; return None if its words were refused."""
        private = self._tools.memory.private
        whispered, confided = secrecy(
            self._turn.agent, self._context, private, holds=self._holds_private
        )
        match part.kind:
            case PartKind.DEED:
                return self._do_deed(part, whispered=whispered, confided=confided)
            case PartKind.EMOTE:
                return self._gesture(part, whispered=whispered)
            case PartKind.SPEECH:
                return self._speak(part, self._context.partner, whispered=whispered)

    def _speak(self, part: AnswerPart, partner: Person | None, *, whispered: bool) -> Act | None:
        """Say plain words to a person, or to all; return None if they were refused."""
        state = self._state
        if fault := self._fault(part.text, aloud=not whispered):
            self._log_guard(GuardOp.DROPPED if state.acts else GuardOp.REFUSED, part, fault)
            state.fault = fault
            return None
        if partner is not None and self._has_gone(partner):
            return self._left_unsaid(part.text, partner)
        if (whispered and partner is None) or self._is_untold(partner):
            return self._refused(KnownVerb.SAY, f"You did not say it: {NOT_FOR_OTHERS}")
        return self._actor.speak(
            self._turn.agent,
            part.text,
            partner,
            whispered=whispered,
            event="" if self._guard else MessageType.COURTESY,
            reason=part.reason,
            basis=state.basis,
        )

    def _left_unsaid(self, words: str, partner: Person) -> Act:
        """Plan to say words that are for somebody else by now, if that was asked for; else refuse.

        Args:
            partner: Who was answered, and is not here.
        """
        state = self._state
        journey = state.journey
        if journey is not None:
            whom = journey.person
            errand = (
                self._as_errand(f"{KnownVerb.TALK} {whom.name} = {words}")
                if whom is not None
                else self._as_errand_here(words)
            )
            if errand is not None:
                return errand
        walked = journey is not None and bool(self._holds_private)
        why = NOT_FOR_OTHERS if walked else f"{partner.name} has gone"
        return self._refused(KnownVerb.SAY, f"You did not say it: {why}")

    def _is_untold(self, person: Person | None) -> bool:
        """Return whether somebody does not know all that the prompt held in private."""
        known = self._state.basis.confidants
        if person is None or known is None or not self._holds_private:
            return False
        return person.id not in known

    def _near(self, name: str) -> Person | None:
        """Return the person here whom the agent knows by that name; None for nobody."""
        return next((x for x in persons_near(self._turn.agent) if x.name == name), None)

    def _has_gone(self, person: Person) -> bool:
        """Return whether a person whose identity is known is not here any more."""
        near = map(identity_of, people_near(self._turn.agent))
        return bool(person.id) and person.id not in near

    def _gesture(self, part: AnswerPart, *, whispered: bool) -> Act:
        """Do a gesture, unless the scene has changed or others would see what is private."""
        agent = self._turn.agent
        if self._state.place is not None and agent.location is not self._state.place:
            return Act(None, "You are somewhere else by now", is_step=False)
        partner = self._context.partner
        others = (
            each for each in people_near(agent) if not partner or identity_of(each) != partner.id
        )
        seen = whispered and any(others)
        seen = seen or any(map(self._is_untold, persons_near(agent)))
        if seen and self._guard is not None:
            return Act(None, "A gesture would show others what was whispered", is_step=False)
        if self._tells_secret(part.text):
            return Act(None, SpeechFault.SECRET, is_step=False)
        gesture = Command(KnownVerb.EMOTE, part.text, part.reason, words=part.text)
        if self._guard is None:  # by rule, it is the answer, and tells nothing
            event = MessageType.COURTESY
            return self._actor.do(agent, gesture, partner, event=event, basis=self._state.basis)
        return self._actor.do(agent, gesture, basis=self._state.basis)

    def _do_deed(self, part: AnswerPart, *, whispered: bool, confided: bool) -> Act | None:
        """Execute a line of the answer that begins with ``>``; return None for refused words."""
        agent = self._turn.agent
        able = available_verbs(agent, self._context, self._tools, holds=self._holds_private)
        read = read_deed(part.text, *able)
        if isinstance(read, Command):
            failed = any(act.refusal and act.is_step for act in self._state.acts)
            if read.verb == KnownVerb.DONE and failed:
                return self._refused(read.verb, "You tried to end a plan: one of its steps failed")
            if read.verb == KnownVerb.WAIT and read.words and failed:  # nobody comes for that
                return Act(None, "You did not wait: what you would wait for has failed")
            aloud = read.verb != KnownVerb.WHISPER
            if read.verb == KnownVerb.TALK and (fault := self._fault(read.words, aloud=aloud)):
                return Act(None, fault)
            if read.verb not in PRIVATE and self._tells_secret(read.words, aloud=aloud):
                return Act(None, SpeechFault.SECRET)
            return self._actor.do(agent, read, basis=self._state.basis, confided=confided)
        if confided and read.verb == KnownVerb.TALK and read.verb not in self._tools.withheld:
            words = read_words(part.text, able[1].people)
            if words is not None:  # to somebody who may know what the answer says
                spoken = replace(part, text=words.words, reason=words.reason)
                return self._speak(spoken, self._near(words.to), whispered=whispered)
        errand = self._as_errand(part.text)
        if errand is not None:
            return errand
        why = why_unsaid(part.text, read.verb, agent, self._tools) if confided else read.reason
        return self._refused(read.verb, why)

    @property
    def _holds_private(self) -> bool | None:
        """Whether the prompt held private words; None for an answer by rule, which has none."""
        return None if self._guard is None else self._state.basis.confidants is not None

    def _as_errand(self, line: str) -> Act | None:
        """Make a plan to say words that cannot be said now; None if there is no such plan."""
        return self._planned(errand_of(line, self._turn.agent, self._tools, self._state.basis))

    def _as_errand_here(self, words: str) -> Act | None:
        """Make a plan to say words here that cannot be said now; None if there is no such plan."""
        agent = self._turn.agent
        place = place_of(agent)
        return self._planned(errand_at(place, words, agent, self._tools, self._state.basis))

    def _planned(self, errand: Command | None) -> Act | None:
        """Make a plan of an errand, unless the answer has made one: then it is that one's step."""
        if errand is None or self._plans_made:
            return None
        basis = self._state.basis
        return self._actor.do(self._turn.agent, errand, basis=basis, confided=True)

    @property
    def _plans_made(self) -> set[int]:
        """The numbers of the memories of the plans that the answer has made."""
        done = [(act.command, act.memory_number) for act in self._state.acts]
        return {n for command, n in done if command is not None and command.verb == KnownVerb.PLAN}

    def _refused(self, verb: str, told: str) -> Act:
        """Remember that a deed was refused, and why."""
        agent = self._turn.agent
        basis = self._state.basis
        known = basis.confidants
        if known is not None and not known:  # nobody knows all; it tells nothing of it
            known = self._state.impulse.confided or basis.audience
        self._tools.memory.remember(
            Result(verb=verb, done=False, shown=told),
            place=place_of(agent),
            witnesses=None if known is None else tuple(sorted(known)),
        )
        return Act(None, told)

    def _fault(self, words: str, *, aloud: bool) -> str:
        """Return why the guard refuses words; empty if it does not. ``aloud``: Others hear them."""
        return self._guard.fault(words, aloud=aloud) if self._guard else ""

    def _tells_secret(self, words: str, *, aloud: bool = True) -> bool:
        """Return whether the guard finds a secret of the persona in words."""
        return self._guard is not None and self._guard.gives_away(words, aloud=aloud)

    def _log_guard(self, op: GuardOp, part: AnswerPart, reason: str) -> None:
        """Log that a part was changed or not carried out."""
        self._turn.thoughts.guard(self._state.impulse, op, part.text, reason)


class Reading:
    """Reads an answer as it comes, and has each part carried out as soon as it is complete."""

    def __init__(self, reader: AnswerReader, answering: Answering) -> None:
        self._reader = reader
        self._answering = answering

    async def take(self, piece: str) -> None:
        """Read a piece of the answer."""
        for part in self._reader.feed(piece):
            await self._answering.carry_out(part)

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
