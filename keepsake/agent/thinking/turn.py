"""A turn of an agent: words and deeds together, each done as soon as it is written.

A thought waits in the model queue. Its prompt is built when its turn comes, and its answer is
applied to the agent as it is then, if it still is. Runs on the reactor thread throughout.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from typing import Any

from twisted.internet.defer import Deferred, DeferredQueue

from keepsake.agent.agent_log import log
from keepsake.agent.attention import ANSWERED, Impulse
from keepsake.agent.body import Body, Life
from keepsake.agent.memory.remembering import Remembering
from keepsake.agent.runtime import Runtime
from keepsake.agent.surroundings import is_agent, people_near, place_of, show
from keepsake.agent.thinking.acting import Act, Actor
from keepsake.agent.thinking.fitting import Fitting
from keepsake.agent.thinking.reports import Progress, Sent, ThoughtReports
from keepsake.agent.thinking.scene import SceneMaker, TurnContext, words_by_rule
from keepsake.archive.records import COURTESY, MemoryKind
from keepsake.errors import KeepsakeError, ModelError, ModelUnavailable
from keepsake.models.profiles import CHAT, DIALOGUE, ModelProfile
from keepsake.models.queue import Outcome, Priority, Ticket
from keepsake.ports import Generation, GenerationRequest
from keepsake.prompt.budget import costs_of
from keepsake.prompt.verbs import Command
from keepsake.recall.related import SearchResult
from keepsake.tasks.answer import AnswerPart, AnswerReader, PartKind
from keepsake.tasks.deed import deed_of, read_deed
from keepsake.tasks.guards import fault_of
from keepsake.tasks.talk import Talk
from keepsake.tasks.task import TRIES

PROFILE = "agent"
"""The profile that agents think with."""
MOST_LOOKUPS = 3
"""How often what a look-up brought may come back in the same turn."""
_PRIORITIES = {"player": Priority.PLAYER, "event": Priority.EVENT, "idle": Priority.IDLE}


class TurnDropped(Exception):
    """Nothing comes of the turn: whose it was is gone, asleep, paused, or thinks otherwise."""


@dataclass
class Turn(Progress):
    """A turn under way."""

    found: SearchResult | None = None  # what recall brought for it
    rerouted: bool = False  # whether the model turned out to be of another form
    too_large: bool = False  # whether its prompt could not be brought under the budget
    ticket: Ticket | None = None  # its place in the model queue, once it has one


@dataclass
class _Answer:
    """What has come of one answer so far."""

    context: TurnContext
    refused: str  # why the answer before it was not used
    acts: list[Act] = field(default_factory=list)
    parts: int = 0  # parts that were read, refused ones included
    fault: str = ""  # why words were refused, or all that was tried; empty if none was
    talk: Talk | None = None  # what was asked, once its turn has come; so are the two that follow
    instructions: str = ""
    reader: AnswerReader | None = None

    @property
    def did(self) -> bool:
        """Whether anything came of it."""
        return any(act.command is not None for act in self.acts)


class Turns:
    """Takes the turns of one agent, one at a time.

    Args:
        life: Whose turns they are.
        mind: What it remembers.
        actor: Its hands and its voice.
        reports: What is told of its thoughts.
        runtime: The models, and what else all agents run on.
        still_wanted: The impulse as it is when its turn has come; None if its cause is gone.
        heard: Called when a part of an answer has come.

    Attributes:
        current: The turn under way; None if there is none.
        missed: Impulses of players who got no answer, as no model gave one, by who they are.
        key: The name of the agent's prompt in a server's cache.
    """

    def __init__(
        self,
        life: Life,
        mind: Remembering,
        actor: Actor,
        reports: ThoughtReports,
        runtime: Runtime,
        *,
        still_wanted: Callable[[Impulse], Impulse | None],
        heard: Callable[[], None],
    ) -> None:
        self.scenes, self.fitting = SceneMaker(mind, runtime), Fitting(mind.memory, runtime)
        self.current: Turn | None = None
        self.missed: dict[str, Impulse] = {}
        self.key = f"agent-{life.number}"
        self._find, self._mind, self._actor = life.body, mind, actor
        self._reports, self._runtime = reports, runtime
        self._still_wanted, self._heard = still_wanted, heard

    def profile(self) -> ModelProfile:
        """How the model is asked; what its prompts may have counts for the memory too."""
        profile = self._runtime.gateway.profile(PROFILE)
        self._runtime.chat_tokens = profile.prompt_tokens if profile.form == CHAT else 0
        return profile

    async def take(self, turn: Turn) -> Act | None:
        """Answer somebody, or act of one's own accord; what came of it, None for nothing."""
        try:
            for _ in range(TRIES):
                turn.rerouted = False
                if self._has_rules(turn):
                    return await self._by_rules(turn)
                act = await self._by_model(turn)
                if not turn.rerouted:
                    return act
        except TurnDropped:
            pass
        return None

    def drop(self) -> bool:
        """Let go of the turn under way; an answer that still comes is dropped.

        Returns:
            Whether there was one.
        """
        turn, self.current = self.current, None
        if turn is not None and turn.ticket is not None:
            turn.ticket.cancel()
        if turn is not None:
            self._reports.ended(turn, "dropped")
        return turn is not None

    def _has_rules(self, turn: Turn) -> bool:
        """Whether no model is asked: the shipped one hardly answers.

        Raises:
            TurnDropped: Such a model would act of its own accord, which makes no sense to anybody.
        """
        try:
            profile = self.profile()
        except KeepsakeError:  # there is no model to ask, which is told when it is asked
            return False
        if profile.form != DIALOGUE:
            return False
        if not turn.impulse.source or turn.impulse.kind not in ANSWERED:
            raise TurnDropped
        return profile.is_stopgap

    async def _by_rules(self, turn: Turn) -> Act | None:
        """Say something fitting without a model."""
        context = self.scenes.context_of(self._body(), turn.impulse)
        turn.found = await self._checked(turn, self.scenes.relate(self._body(), context))
        agent = self._able_body(turn)
        if not self._is_wanted(agent, turn):
            self._reports.ended(turn, "dropped")
            return None
        words = words_by_rule(agent, context, turn.found, self._mind.memory, self._runtime.random)
        whispered = self.scenes.is_whispered(agent, context, turn.found)
        act = self._actor.speak(agent, words, context.partner, whispered=whispered, event=COURTESY)
        if act.result is not None:
            await act.result
        self._reports.done(turn, act)
        return act

    async def _by_model(self, turn: Turn) -> Act | None:
        """Have a model answer; what a look-up brings comes back in the same turn."""
        last: Act | None = None
        context = self.scenes.context_of(self._body(), turn.impulse)
        if context.answered:  # with what was said before it, in one answer
            self._reports.ended(turn, "dropped")
            return None
        for _ in range(1 + MOST_LOOKUPS):
            await self._make_room(turn)
            turn.found = await self._checked(turn, self.scenes.relate(self._body(), context))
            acts = await self._ask(turn, context)
            last = next((act for act in acts if act.spoke), acts[-1] if acts else last)
            if not any(act.looked_up for act in acts):
                break
        return last

    async def _checked[T](self, turn: Turn, result: Awaitable[T]) -> T:
        """Wait for it, and go on with the turn.

        Raises:
            TurnDropped: It was broken off meanwhile.
        """
        found = await result
        if self.current is not turn:
            raise TurnDropped
        return found

    async def _make_room(self, turn: Turn) -> None:
        """Have the memory compacted first if it is over its emergency mark."""
        made: Deferred[None] = Deferred()
        self._mind.memory.make_room(lambda: made.callback(None))
        await self._checked(turn, made)

    async def _ask(self, turn: Turn, context: TurnContext) -> list[Act]:
        """Ask the model; a first part that is refused is asked for once more, with the reason."""
        answer = _Answer(context, "")
        for attempt in range(1, TRIES + 1):
            turn.attempt, turn.answer = attempt, None
            answer = _Answer(context, answer.fault)
            outcome = await self._hear(turn, answer)
            if isinstance(outcome, Generation):
                self._reports.answered(outcome)
                self.fitting.answered(outcome.prompt_tokens)
            elif not (answer.acts or answer.fault):
                no_room = self._mind.memory.no_room
                if turn.too_large and attempt < TRIES and no_room is None:
                    await self._make_room(turn)  # now that its weight is known
                    continue
                self._unanswered(turn, outcome)
                return []
            acts = answer.acts or [Act(None, answer.fault)]
            problem = answer.fault or (str(outcome) if isinstance(outcome, ModelError) else "")
            self._reports.done(turn, *acts, problem=problem)
            if not answer.fault or answer.did:
                break
        self.missed.pop(turn.impulse.key, None)
        if answer.fault and not answer.did:
            show_absent(self._body(), turn.impulse)
        return answer.acts

    async def _hear(self, turn: Turn, answer: _Answer) -> Outcome:
        """Have the model asked, and each part done as soon as it is whole."""
        inbox: DeferredQueue[str | tuple[Outcome]] = DeferredQueue()

        def hear(piece: str) -> None:
            self._runtime.post(lambda: inbox.put(piece))

        def build(profile: ModelProfile) -> GenerationRequest | None:
            request = self._request(turn, answer, profile)
            return replace(request, on_text=hear) if request is not None else None

        turn.queued = self._runtime.seconds()
        priority = _PRIORITIES[turn.impulse.priority]
        try:
            turn.ticket = self._runtime.gateway.submit(
                PROFILE, priority, self.key, build, lambda outcome: inbox.put((outcome,))
            )
        except KeepsakeError as error:
            return error if isinstance(error, ModelError) else ModelUnavailable(str(error))
        try:
            while True:
                item = await self._checked(turn, inbox.get())
                agent = self._able_body(turn)
                if not isinstance(item, str):
                    await self._end_answer(agent, turn, item[0], answer)
                    return item[0]
                assert answer.reader is not None
                for part in answer.reader.feed(item):
                    await self._part(agent, turn, part, answer)
                if answer.fault and not answer.acts:
                    return None  # the rest is not wanted: it is asked for anew
        finally:
            turn.ticket.cancel()  # where it was broken off; too late does no harm

    def _request(
        self, turn: Turn, answer: _Answer, profile: ModelProfile
    ) -> GenerationRequest | None:
        """The request of a turn whose moment has come; None if it is not to be sent."""
        agent, turn.too_large = self._find(), False
        if agent is None or agent.location is None or not self._is_wanted(agent, turn):
            return None
        if profile.form == DIALOGUE and (profile.is_stopgap or not answer.context.partner):
            turn.rerouted = True
            return None
        runtime, memory = self._runtime, self._mind.memory
        talk, basis = self.scenes.talk(agent, answer.context, turn.found)
        answer.context = replace(answer.context, seen=memory.newest)
        budget = self.fitting.budget(profile)
        answer.talk, answer.reader = talk, talk.reader(profile)
        prompt = talk.prompt(replace(profile, prompt_tokens=budget), answer.refused)
        answer.instructions = prompt.instructions
        costs = costs_of(prompt.rendered, runtime.tokens, budget)
        if not self.fitting.takes(costs):
            turn.too_large = True
            return None
        self._mind.keeper.thought_over()
        request = profile.request_for(prompt.question, cache_key=self.key)
        now, wait = runtime.seconds(), runtime.seconds() - turn.queued
        turn.sent = self._reports.tally.sent = Sent(
            runtime.clock.now(), turn.impulse, prompt.rendered, request, costs, wait, now, basis
        )
        return request

    async def _end_answer(self, agent: Body, turn: Turn, outcome: Outcome, answer: _Answer) -> None:
        """What was still missing its end, an answer that came in one piece, and tool calls."""
        if not isinstance(outcome, Generation) or answer.reader is None:
            return
        turn.answer, reader = outcome, answer.reader
        rest = [] if reader.heard else reader.feed(f"{outcome.text}\n")
        deeds = [AnswerPart(PartKind.DEED, deed_of(call)) for call in outcome.tool_calls]
        for part in [*rest, *reader.end(), *deeds]:
            await self._part(agent, turn, part, answer)
        if answer.acts and not answer.did:
            answer.fault = answer.fault or answer.acts[-1].refusal
        if not answer.parts:
            answer.fault = answer.fault or fault_of("", instructions="", own_lines=())
            self._reports.guarded(turn.impulse, "refused", outcome.text, answer.fault)
        elif reader.altered:
            before, why = "\n".join(reader.altered), "labels and marks are not spoken"
            self._reports.guarded(turn.impulse, "altered", before, why)

    async def _part(self, agent: Body, turn: Turn, part: AnswerPart, answer: _Answer) -> None:
        """Do one part, unless a guard refuses it."""
        if answer.fault and not answer.acts:
            return
        assert answer.talk is not None
        answer.parts += 1
        self._heard()
        spoken = part.kind is PartKind.SPEECH
        if spoken and (fault := answer.talk.fault(part.text, answer.instructions)):
            op = "dropped" if answer.acts else "refused"
            self._reports.guarded(turn.impulse, op, part.text, fault)
            answer.fault = fault
            return
        act = self._perform(agent, part, answer.context, turn.found)
        if act.result is not None:
            await self._checked(turn, act.result)  # its own act may have broken it off
        answer.acts.append(act)
        if act.command is None:
            self._reports.guarded(turn.impulse, "dropped", part.text, act.refusal)

    def _perform(
        self, agent: Body, part: AnswerPart, context: TurnContext, found: SearchResult | None
    ) -> Act:
        """Say it, play it or do it, by the rules that bind a player."""
        seen = context.seen
        if part.kind is PartKind.DEED:
            command = read_deed(part.text, *self.scenes.choices(agent, context))
            if isinstance(command, Command):
                return self._actor.do(agent, command, seen=seen)
            self._mind.memory.remember(command, MemoryKind.RESULT, place=place_of(agent))
            return Act(None, command)
        whispered = self.scenes.is_whispered(agent, context, found)
        if part.kind is PartKind.SPEECH:
            to, why = context.partner, part.reason
            return self._actor.speak(
                agent, part.text, to, whispered=whispered, reason=why, seen=seen
            )
        if whispered and len(people_near(agent)) > 1:
            return Act(None, "A gesture would show others what was whispered")
        return self._actor.do(agent, Command("emote", part.text, part.reason), seen=seen)

    def _unanswered(self, turn: Turn, error: Outcome) -> None:
        """No model has answered, or nobody needed it any more."""
        agent, impulse = self._body(), turn.impulse
        if turn.rerouted:
            return
        if turn.too_large:
            self.fitting.tell(agent)
            self._reports.ended(turn, "too large", costs=self.fitting.costs)
            show_absent(agent, impulse)
        elif isinstance(error, ModelError):
            log(f"[Thinker] {agent.key}: No answer: {error}")
            show_absent(agent, impulse)
            if impulse.priority == "player":
                self.missed[impulse.key] = impulse
            self._reports.ended(turn, "no answer", problem=str(error))
        else:
            self._reports.ended(turn, "dropped")

    # -- whose turn it is

    def _is_wanted(self, agent: Body, turn: Turn) -> bool:
        """Whether somebody needs it now that its turn has come; its impulse is of now then."""
        wanted = self._still_wanted(turn.impulse)
        if wanted is None or agent.db.paused or agent.db.asleep:
            return False
        turn.impulse = wanted
        return True

    def _able_body(self, turn: Turn) -> Body:
        """The agent as it is now, if it may still act.

        Raises:
            TurnDropped: It has been deleted, paused or put to sleep.
        """
        agent = self._body()
        if agent.db.paused or agent.db.asleep:  # since when the model wrote: nothing comes of it
            self._reports.ended(turn, "dropped")
            raise TurnDropped
        return agent

    def _body(self) -> Body:
        if (agent := self._find()) is None:
            raise TurnDropped
        return agent


def show_absent(agent: Body, impulse: Impulse) -> None:
    """Anyone who waits for an answer is told that none will come, if they are still here."""
    here = [person.key for person in people_near(agent)]
    if impulse.priority == "player" and impulse.source in here:
        show_people(agent, f"{agent.key} seems far away, and does not answer.")


def show_people(agent: Any, text: str) -> None:
    """Tell the people in the room; agents would only remember it for nothing."""
    agents = tuple(person for person in people_near(agent) if is_agent(person))
    show(agent, text, "thinking", hidden_from=agents)
