"""Carries out the parts of an answer: each as soon as the model has written it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from keepsake.agent.acting import Act, Actor
from keepsake.agent.agent_log import ThoughtLog, call_hook
from keepsake.agent.memory.tools import WRITES, MemoryTools
from keepsake.agent.surroundings import Body, identity_of, people_near, place_of
from keepsake.agent.turns.attempt import AttemptState
from keepsake.agent.turns.context import TurnContext, secrecy
from keepsake.agent.turns.scene import available_verbs
from keepsake.archive.message_types import MessageType
from keepsake.events.values import GuardOp
from keepsake.happening import KnownVerb, Person, Result
from keepsake.prompt.verbs import PRIVATE, Command
from keepsake.tasks.answer import AnswerPart, PartKind
from keepsake.tasks.deed import read_deed
from keepsake.tasks.guard import SpeechFault, SpeechGuard

type Wait = Callable[[Awaitable[Any]], Awaitable[Any]]
"""Waits for a result; raises :class:`keepsake.agent.turns.attempt.TurnDropped` if the turn ends."""


class Answering:
    """Carries out one answer of an agent.

    Args:
        body: Returns the agent, which is looked up again after each wait.
        state: The attempt, to which what was done is added.
        guard: Checks its words; None for words by rule, which need no check.
        begins: Called before each part is carried out; what it returns is waited for.
    """

    def __init__(
        self,
        body: Callable[[], Body],
        context: TurnContext,
        state: AttemptState,
        guard: SpeechGuard | None,
        *,
        tools: MemoryTools,
        actor: Actor,
        thoughts: ThoughtLog,
        begins: Callable[[], Awaitable[None] | None],
    ) -> None:
        self._body = body
        self._context = context
        self._state = state
        self._guard = guard
        self._tools = tools
        self._actor = actor
        self._thoughts = thoughts
        self._begins = begins

    async def carry_out(self, part: AnswerPart, wait: Wait) -> None:
        """Say, emote or execute a part, as a player could, and wait until that is done."""
        state = self._state
        if state.is_refused:
            return
        state.parts += 1
        ready = self._begins()
        if ready is not None:
            await wait(ready)
        allowed = self._allowed(part)
        if allowed is None:
            return
        act = self._act(allowed)
        if act is None:
            return
        state.acts.append(act)
        if act.command is None:
            self._log_guard(GuardOp.DROPPED, allowed, act.refusal)
        elif act.result is not None:
            await wait(act.result)  # the act itself may have cancelled the turn

    def _allowed(self, part: AnswerPart) -> AnswerPart | None:
        """Return the part as the game's hook allows or changes it; None if the hook vetoes it."""
        hook = "at_agent_answer"
        agent = self._body()
        found: AnswerPart | None = call_hook(agent, hook, AnswerPart | None, part, part)
        by = f"{type(agent).__name__}.{hook}"
        if found is None:
            self._log_guard(GuardOp.REFUSED, part, f"{by} vetoed it")
            self._state.acts.append(Act(None, "That may not be said or done here", vetoed=True))
        elif found != part:
            self._log_guard(GuardOp.ALTERED, part, f"{by} changed it")
        return found

    def _act(self, part: AnswerPart) -> Act | None:
        """Do a part; return None if its words were refused."""
        whispered, confided = secrecy(self._body(), self._context, self._tools.memory.private)
        match part.kind:
            case PartKind.DEED:
                return self._do_deed(part, confided=confided)
            case PartKind.EMOTE:
                return self._gesture(part, whispered=whispered)
            case PartKind.SPEECH:
                return self._speak(part, whispered=whispered)

    def _speak(self, part: AnswerPart, *, whispered: bool) -> Act | None:
        """Say plain words to the partner; return None if they were refused."""
        state = self._state
        if fault := self._fault(part.text, aloud=not whispered):
            self._log_guard(GuardOp.DROPPED if state.acts else GuardOp.REFUSED, part, fault)
            state.fault = fault
            return None
        partner = self._context.partner
        if partner is not None and self._has_gone(partner):
            return self._refused(KnownVerb.SAY, f"You did not say it: {partner.name} has gone")
        return self._actor.speak(
            self._body(),
            part.text,
            partner,
            whispered=whispered,
            event="" if self._guard else MessageType.COURTESY,
            reason=part.reason,
            basis=state.basis,
        )

    def _has_gone(self, person: Person) -> bool:
        """Return whether a person whose identity is known is not here any more."""
        near = map(identity_of, people_near(self._body()))
        return bool(person.id) and person.id not in near

    def _gesture(self, part: AnswerPart, *, whispered: bool) -> Act:
        """Do a gesture, unless the scene has changed or others would see what is private."""
        agent = self._body()
        if self._state.place is not None and agent.location is not self._state.place:
            return Act(None, "You are somewhere else by now")
        partner = self._context.partner
        others = (
            each for each in people_near(agent) if not partner or identity_of(each) != partner.id
        )
        if whispered and self._guard is not None and any(others):
            return Act(None, "A gesture would show others what was whispered")
        if self._tells_secret(part.text):
            return Act(None, SpeechFault.SECRET)
        gesture = Command(KnownVerb.EMOTE, part.text, part.reason, words=part.text)
        if self._guard is None:  # by rule, it is the answer, and tells nothing
            event = MessageType.COURTESY
            return self._actor.do(agent, gesture, partner, event=event, basis=self._state.basis)
        return self._actor.do(agent, gesture, basis=self._state.basis)

    def _do_deed(self, part: AnswerPart, *, confided: bool) -> Act:
        """Execute a line of the answer that begins with ``>``."""
        agent = self._body()
        read = read_deed(part.text, *available_verbs(agent, self._context, self._tools))
        if isinstance(read, Command):
            if read.verb == KnownVerb.DONE and any(act.refusal for act in self._state.acts):
                return self._refused(read.verb, "You tried to end a plan: one of its steps failed")
            if read.verb not in PRIVATE and any(act.sets_off for act in self._state.acts):
                told = f"You did not {read.verb} yet: you are on your way. Do it when you are there"
                return self._refused(read.verb, told)
            aloud = read.verb != KnownVerb.WHISPER
            if read.verb == KnownVerb.TALK and (fault := self._fault(read.words, aloud=aloud)):
                return Act(None, fault)
            if read.verb not in PRIVATE and self._tells_secret(read.words, aloud=aloud):
                return Act(None, SpeechFault.SECRET)
            return self._actor.do(agent, read, basis=self._state.basis, confided=confided)
        why = "that cannot be done now"
        if read.verb in WRITES:
            why = "notes may not contain whispered words"
        told = f"You tried to {read.verb}: {why}" if confided else read.reason
        return self._refused(read.verb, told)

    def _refused(self, verb: str, told: str) -> Act:
        """Remember that a deed was refused, and why."""
        agent = self._body()
        confidants = self._state.basis.confidants
        self._tools.memory.remember(
            Result(verb=verb, done=False, shown=told),
            place=place_of(agent),
            witnesses=None if confidants is None else tuple(sorted(confidants)),
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
        self._thoughts.guard(self._state.impulse, op, part.text, reason)
