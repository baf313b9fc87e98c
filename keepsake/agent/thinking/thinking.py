"""One thought of an agent, from its reason to what comes of the answer.

Runs on the reactor thread throughout. A thought waits in the model queue; its prompt is
built when its turn comes; its answer is applied to the agent as it is then, if it still is.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from keepsake.agent.agent_log import log
from keepsake.agent.body import Body, Life
from keepsake.agent.happenings import Basis
from keepsake.agent.impulses import IDLE, EventKind, Impulse
from keepsake.agent.memory.remembering import Remembering
from keepsake.agent.services import Services
from keepsake.agent.surroundings import identity_of, people_near, show
from keepsake.agent.tasks import Alarm, Inbox, Once, Routine
from keepsake.agent.thinking import stopgap
from keepsake.agent.thinking.actor import Act, Actor
from keepsake.agent.thinking.fitting import Fitting
from keepsake.agent.thinking.following import Following
from keepsake.agent.thinking.performer import Performance, Performer
from keepsake.agent.thinking.prompting import costs_of, kept_by, question_of
from keepsake.agent.thinking.scene import ANSWERED, SceneMaker, TurnContext
from keepsake.agent.thinking.tally import LastSent, ThoughtTally
from keepsake.agent.thinking.thought import (
    PROFILE,
    Sent,
    ThoughtInProgress,
    act_request,
    addressee,
    led,
    log_line,
    second_thought,
    thought_event,
)
from keepsake.agent.warming import cache_key
from keepsake.archive.privacy import NOBODY
from keepsake.archive.records import COURTESY, Memory, MemoryKind
from keepsake.errors import KeepsakeError, ModelError, ModelUnavailable
from keepsake.events.types import Guard
from keepsake.models.profiles import CHAT, SCRIPT, ModelProfile
from keepsake.models.queue import Outcome, Priority
from keepsake.ports import Generation, GenerationRequest
from keepsake.prompt.budget import Costs
from keepsake.prompt.grammars import from_json
from keepsake.prompt.template import Rendered
from keepsake.recall.related import SearchResult
from keepsake.tasks.answer import AnswerPart, AnswerReader, PartKind
from keepsake.tasks.deed import deed_of
from keepsake.tasks.guards import fault_of
from keepsake.tasks.talk import Talk, TalkPrompt
from keepsake.tasks.task import TRIES

TURN, COMMAND, RULES = "turn", "command", "rules"
"""How a thought is thought: words and deeds together, one command, or without a model."""
MOST_LOOKUPS = 3
"""How often what a look-up brought may come back in the same turn."""
_PRIORITIES = {"player": Priority.PLAYER, "event": Priority.EVENT, "idle": Priority.IDLE}

type Build = Callable[[Body, ModelProfile], GenerationRequest | None]
"""Makes the request of a thought whose turn has come; None if it is not to be sent."""


@dataclass
class AnswerProgress:
    """What has come of one answer so far."""

    turn: TurnContext
    refused: str = ""  # why the answer before it was not used
    acts: list[Act] = field(default_factory=list)
    parts: int = 0  # parts that were read, refused ones included
    fault: str = ""  # why a part was refused; empty if none was
    looked_up: bool = False  # whether a deed brought something to use
    talk: Talk | None = None
    prompt: TalkPrompt | None = None
    reader: AnswerReader | None = None

    def fault_of(self, words: str) -> str:
        """Why a spoken line is refused; empty if it is not."""
        assert self.talk is not None
        assert self.prompt is not None
        return self.talk.fault(words, self.prompt.instructions)

    def add(self, done: Performance) -> None:
        """One part was carried out."""
        self.acts.append(done.act)
        self.looked_up |= done.looked_up

    @property
    def shown(self) -> Act | None:
        """The act that tells most of it: one that others heard, else the last."""
        return next((act for act in self.acts if act.spoke), self.acts[-1] if self.acts else None)


class ThoughtDropped(Exception):
    """Nothing comes of the thought: whose it was is gone, asleep or paused."""


class Thinking(ABC):
    """Sees the thoughts of one agent through, one at a time.

    Attributes:
        current: The thought under way; None if there is none.
        thoughts: How many were answered, since the server started.
        tally: What came of its thoughts, since the server started.
    """

    def __init__(
        self, life: Life, mind: Remembering, services: Services, *, spent: Callable[[int], None]
    ) -> None:
        self.actor = Actor(mind.memory, mind.keeper, services)
        self.fitting = Fitting(mind.memory, services)
        self.following = Following()
        self.current: ThoughtInProgress | None = None
        self.thoughts = 0
        self.tally = ThoughtTally()
        self._key, self._find, self._services = cache_key(life.number), life.body, services
        self._mind, self._memory, self._spent = mind, mind.memory, spent
        self._scenes = SceneMaker(mind, services)
        self._performer = Performer(self.actor, self.following, self._scenes, mind.memory, services)
        self._missed: dict[str, Impulse] = {}  # who got no answer, as no model gave one
        self._task: Routine[Act | None] | None = None
        self._notice = Alarm(services.timer)

    @abstractmethod
    def _thought_over(self, act: Act | None) -> None:
        """A thought has ended."""

    @abstractmethod
    def _still_wanted(self, impulse: Impulse) -> Impulse | None:
        """The impulse as it is now that its turn has come; None if its cause is gone."""

    def begin(self, impulse: Impulse) -> None:
        """Think, now that the moment has come."""
        self.tally.waits_since = self._services.seconds()
        self.current = ThoughtInProgress(impulse)
        pause = self._services.thinking.current.pause_notice
        if impulse.priority == "player" and pause:
            self._notice.set(pause, self._show_thinking)
        self._task = Routine(self._think(self.current), self._finish, self._broke_off)
        self._task.run()

    def break_off(self) -> None:
        """Let go of the thought under way; an answer that still comes is dropped."""
        if self.current is not None:
            self._drop()
            self._finish(None)

    def close(self) -> None:
        """Let go of it for good."""
        if self.current is not None:
            self._drop()
        self._end()

    def _drop(self) -> None:
        assert self._task is not None
        assert self.current is not None
        self._task.cancel()
        self._told(self.current, "dropped")

    def _finish(self, act: Act | None) -> None:
        self._end()
        self._thought_over(act)

    def _end(self) -> None:
        self._notice.cancel()
        self.current = self._task = self.tally.waits_since = None

    def _broke_off(self, error: Exception) -> None:
        """Whatever breaks ends the thought: the agent must be able to think again."""
        agent, thought = self._find(), self.current
        assert thought is not None
        what = "The answer could not be acted out" if thought.answer else "The thought broke off"
        log(f"[Thinker] {agent.key if agent else self._key}: {what}: {error!r}")
        self._told(thought, "broke off", answer=thought.answer, problem=repr(error))
        self._finish(None)

    # -- from the reason to the act

    async def _think(self, thought: ThoughtInProgress) -> Act | None:
        """What is done in the end; None for nothing."""
        try:
            for _ in range(TRIES):
                thought.rerouted = False
                act = await self._take(thought)
                if not thought.rerouted:
                    return act
        except ThoughtDropped:
            pass
        return None

    async def _take(self, thought: ThoughtInProgress) -> Act | None:
        try:
            way = self._way(self._profile(), thought.impulse)
        except KeepsakeError:  # there is no model to ask, which is told when it is asked
            way = COMMAND
        if way == RULES:
            return await self._by_rules(thought)
        return await (self._turn(thought) if way == TURN else self._act(thought))

    def _profile(self) -> ModelProfile:
        """How the model is asked; what its prompts may have counts for the memory too."""
        profile = self._services.gateway.profile(PROFILE)
        self._services.chat_tokens = profile.prompt_tokens if profile.form == CHAT else 0
        return profile

    @staticmethod
    def _way(profile: ModelProfile, impulse: Impulse) -> str:
        """How a thought is thought with a model of that profile."""
        answers = bool(impulse.source) and impulse.trigger in ANSWERED
        if profile.form == CHAT:
            return TURN
        if profile.form == SCRIPT or not answers:
            return COMMAND
        return RULES if profile.is_stopgap else TURN

    async def _act(self, thought: ThoughtInProgress) -> Act | None:
        """Choose a command, and do it."""
        await self._make_room()
        agent = self._body()
        question = question_of(agent, self._memory.context())
        scene = thought.impulse.trigger == "idle"
        thought.found = await self._mind.keeper.relate(question, scene=scene)
        squeezed = False
        while True:
            agent, answer = await self._ask(thought, partial(self._act_request, thought))
            if isinstance(answer, Generation):
                act = self._acted(agent, thought, answer)
                if act.result is not None:  # a tool call: what it brings is for the next thought
                    await act.result
                speaks = self._services.gateway.profile(PROFILE).form == SCRIPT
                config = self._services.thinking.current
                again = second_thought(thought, act, config, speaks=speaks)
                if again is None:
                    return act
                thought = self._next(again)
                squeezed = False
            elif thought.rerouted:
                return None
            elif not thought.too_large:
                self._unanswered(agent, thought, answer)
                return None
            elif squeezed or self._memory.no_room is not None:
                self._too_large(agent, thought)
                return None
            else:  # room is made once more, now that its weight is known
                squeezed = True
            await self._make_room()

    async def _make_room(self) -> None:
        made: Once[None] = Once()
        self._memory.make_room(lambda: made(None))
        await made

    def _acted(self, agent: Body, thought: ThoughtInProgress, answer: Generation) -> Act:
        self.fitting.answered(answer.prompt_tokens)
        self._count(answer)
        self._mind.keeper.thought_over()
        text = led(thought.lead, from_json(answer.text))
        impulse = thought.impulse
        confidant = impulse.source if self._scenes.context_of(agent, impulse).whispered else ""
        act = self.actor.act(agent, text, addressee=addressee(impulse), confidant=confidant)
        log(log_line(agent.key, thought, answer, act))
        self._told(thought, "acted" if act.command else "refused", act, answer=answer)
        return act

    def _too_large(self, agent: Body, thought: ThoughtInProgress) -> None:
        self.fitting.tell(agent)
        self._told(thought, "too large", costs=self.fitting.too_large)
        self.show_absent(agent, thought.impulse)

    async def _by_rules(self, thought: ThoughtInProgress) -> Act | None:
        """Answer without a model."""
        agent = self._body()
        turn = self._scenes.context_of(agent, thought.impulse)
        thought.found = await self._relate(agent, turn)
        agent = self._able_body(thought)
        if not self._is_wanted(agent, thought):
            self._told(thought, "dropped")
            return None
        words = stopgap.words_of(agent, turn, thought.found, self._memory, self._services)
        whispered = self._scenes.is_whispered(agent, turn, thought.found)
        act = self.actor.speak(agent, words, turn.partner, whispered=whispered, event=COURTESY)
        if act.result is not None:
            await act.result
        log(log_line(agent.key, thought, None, act))
        self._told(thought, "acted" if act.command else "refused", act)
        return act

    # -- a turn: words and deeds together

    async def _turn(self, thought: ThoughtInProgress) -> Act | None:
        """Answer somebody, or act of one's own accord; what a look-up brings comes back here."""
        last: Act | None = None
        for _ in range(1 + MOST_LOOKUPS):
            await self._make_room()
            agent = self._body()
            turn = self._scenes.context_of(agent, thought.impulse)
            thought.found = await self._relate(agent, turn)
            answered = await self._answer(thought, turn)
            last = answered.shown or last
            if not answered.looked_up:
                break
            self._next(thought)
        return last

    async def _relate(self, agent: Body, turn: TurnContext) -> SearchResult | None:
        memory, keeper = self._memory.context(), self._mind.keeper
        if turn.partner and turn.words:
            return await keeper.relate(
                turn.words, scene=False, by="talk", audience=turn.audience, asker=turn.partner
            )
        question = question_of(agent, memory)
        return await keeper.relate(question, scene=True, audience=turn.audience)

    async def _answer(self, thought: ThoughtInProgress, turn: TurnContext) -> AnswerProgress:
        """Ask the model; a first part that is refused is asked for once more, with the reason."""
        answered = AnswerProgress(turn)
        for attempt in range(1, TRIES + 1):
            thought.attempt = attempt
            answered = AnswerProgress(turn, answered.fault)
            agent, outcome = await self._hear(thought, answered)
            if isinstance(outcome, Generation):
                self._count(outcome)
                self.fitting.answered(outcome.prompt_tokens)
            if not (answered.acts or answered.fault or isinstance(outcome, Generation)):
                if thought.too_large:
                    self._too_large(agent, thought)
                elif not thought.rerouted:
                    self._unanswered(agent, thought, outcome)
                return answered
            self._record(agent, thought, outcome, answered)
            if not answered.fault or answered.acts:
                break
            self._next(thought)
        self._mind.keeper.thought_over()
        self._missed.pop(thought.impulse.key, None)
        if answered.fault and not answered.acts:
            self.show_absent(self._body(), thought.impulse)
        return answered

    async def _hear(
        self, thought: ThoughtInProgress, answered: AnswerProgress
    ) -> tuple[Body, Outcome]:
        """Have the model asked, and each part done as soon as it is whole."""
        inbox: Inbox[str | tuple[Outcome]] = Inbox()

        def hear(piece: str) -> None:
            self._services.post(lambda: inbox.put(piece))

        def build(agent: Body, profile: ModelProfile) -> GenerationRequest | None:
            request = self._turn_request(thought, answered, agent, profile)
            return replace(request, on_text=hear) if request is not None else None

        with self._asked(thought, build, lambda outcome: inbox.put((outcome,))) as problem:
            if problem is not None:
                inbox.put((problem,))
            while True:
                item = await inbox.next()
                agent = self._able_body(thought)
                if not isinstance(item, str):
                    await self._end_answer(agent, thought, item[0], answered)
                    return agent, item[0]
                assert answered.reader is not None
                for part in answered.reader.feed(item):
                    await self._part(agent, thought, part, answered)
                if answered.fault and not answered.acts:
                    return agent, None  # the rest is not wanted: it is asked for anew

    async def _end_answer(
        self,
        agent: Body,
        thought: ThoughtInProgress,
        outcome: Outcome,
        answered: AnswerProgress,
    ) -> None:
        """What was still missing its end, an answer that came in one piece, and tool calls."""
        if not isinstance(outcome, Generation) or answered.reader is None:
            return
        thought.answer = outcome
        reader = answered.reader
        rest = [] if reader.heard else reader.feed(f"{outcome.text}\n")
        deeds = [AnswerPart(PartKind.DEED, deed_of(call)) for call in outcome.tool_calls]
        for part in [*rest, *reader.end(), *deeds]:
            await self._part(agent, thought, part, answered)
        if not answered.parts:
            answered.fault = answered.fault or fault_of("", instructions="", own_lines=())
            self._guarded(thought, "refused", outcome.text, "", answered.fault)
        elif reader.altered:
            before = "\n".join(reader.altered)
            self._guarded(thought, "altered", before, "", "labels and marks are not spoken")

    async def _part(
        self,
        agent: Body,
        thought: ThoughtInProgress,
        part: AnswerPart,
        answered: AnswerProgress,
    ) -> None:
        """Do one part, unless a guard refuses it."""
        if answered.fault and not answered.acts:
            return
        answered.parts += 1
        self._notice.cancel()
        if part.kind is PartKind.SPEECH and (fault := answered.fault_of(part.text)):
            op = "dropped" if answered.acts else "refused"
            self._guarded(thought, op, part.text, "", fault)
            answered.fault = fault
            return
        turn = answered.turn
        whispered = self._scenes.is_whispered(agent, turn, thought.found)
        done = await self._performer.perform(agent, part, turn, whispered=whispered)
        if self.current is None:  # its own act has broken it off, as walking into a talk does
            raise ThoughtDropped
        answered.add(done)
        if done.act.command is None:
            self._guarded(thought, "dropped", part.text, "", done.act.refusal)

    def _turn_request(
        self,
        thought: ThoughtInProgress,
        answered: AnswerProgress,
        agent: Body,
        profile: ModelProfile,
    ) -> GenerationRequest | None:
        thought.too_large = False
        if not self._is_wanted(agent, thought):
            return None
        if self._way(profile, thought.impulse) != TURN:
            thought.rerouted = True
            return None
        talk, basis = self._scenes.talk(agent, answered.turn, thought.found)
        answered.talk, answered.reader = talk, talk.reader()
        answered.prompt = prompt = talk.prompt(profile, answered.refused)
        costs = costs_of(prompt.rendered, self._services.tokens, profile.prompt_tokens)
        if not self.fitting.takes(costs, basis):
            thought.too_large = True
            return None
        request = profile.request_for(prompt.question, cache_key=self._key)
        return self._sending(thought, request, prompt.rendered, costs, basis)

    def _record(
        self, agent: Body, thought: ThoughtInProgress, outcome: Outcome, answered: AnswerProgress
    ) -> None:
        """Log what came of an answer."""
        answer = outcome if isinstance(outcome, Generation) else None
        acts = answered.acts or [Act(None, answered.fault)]
        log(log_line(agent.key, thought, answer, *acts))
        how = "acted" if any(act.command for act in acts) else "refused"
        problem = answered.fault or (str(outcome) if isinstance(outcome, ModelError) else "")
        self._told(thought, how, *acts, answer=answer, problem=problem)

    def _guarded(
        self, thought: ThoughtInProgress, op: str, before: str, after: str, reason: str
    ) -> None:
        """Have the event log told that an answer was not spoken as it was written."""
        self.tally.guarded[op] += 1
        event = Guard(
            agent=self._memory.name,
            task="talk" if thought.impulse.trigger in ANSWERED else "act",
            op=op,
            before=before,
            after=after,
            reason=reason,
            cause=thought.impulse.memory,
        )
        self._services.events.emit(event)
        log(f"[Thinker] {self._memory.name}: An answer was {op}: {reason}")

    def _next(self, thought: ThoughtInProgress) -> ThoughtInProgress:
        """The thought goes on as that one, unless its own act has broken it off.

        Raises:
            ThoughtDropped: It has.
        """
        if self.current is None:
            raise ThoughtDropped
        self.current = thought
        return thought

    def _unanswered(
        self, agent: Body, thought: ThoughtInProgress, error: ModelError | None
    ) -> None:
        if error is not None:
            log(f"[Thinker] {agent.key}: No answer: {error}")
            self.show_absent(agent, thought.impulse)
            if thought.impulse.priority == "player":
                self._missed[thought.impulse.key] = thought.impulse
        self._told(thought, "no answer" if error else "dropped", problem=str(error or ""))

    def _count(self, answer: Generation) -> None:
        self.thoughts += 1
        self._spent(answer.prompt_tokens + answer.completion_tokens)

    # -- asking the model

    async def _ask(self, thought: ThoughtInProgress, build: Build) -> tuple[Body, Outcome]:
        """The agent as it is when the answer has come, and the answer; None if none is needed.

        Raises:
            ThoughtDropped: Nothing comes of it.
        """
        came: Once[Outcome] = Once()
        with self._asked(thought, build, came) as problem:
            answer = problem if problem is not None else await came
        agent = self._able_body(thought, answer)
        thought.answer = answer if isinstance(answer, Generation) else None
        return agent, answer

    @contextmanager
    def _asked(
        self, thought: ThoughtInProgress, build: Build, done: Callable[[Outcome], None]
    ) -> Iterator[ModelError | None]:
        """Within it the model is asked; why it cannot be, or None. Its end gives the call up."""

        def build_now(profile: ModelProfile) -> GenerationRequest | None:
            agent = self._find()
            there = agent is not None and agent.location is not None
            return build(agent, profile) if agent is not None and there else None

        thought.queued = self._services.seconds()
        priority = _PRIORITIES[thought.impulse.priority]
        try:
            ticket = self._services.gateway.submit(PROFILE, priority, self._key, build_now, done)
        except KeepsakeError as error:
            yield error if isinstance(error, ModelError) else ModelUnavailable(str(error))
            return
        try:
            yield None
        finally:
            ticket.cancel()  # where it was broken off; too late does no harm

    def _able_body(self, thought: ThoughtInProgress, answer: Outcome = None) -> Body:
        """The agent as it is now, if it may still act.

        Raises:
            ThoughtDropped: It has been deleted, paused or put to sleep.
        """
        agent = self._body()
        if agent.db.paused or agent.db.asleep:  # since when the model wrote: nothing comes of it
            self._told(thought, "dropped", answer=answer)
            raise ThoughtDropped
        return agent

    def _body(self) -> Body:
        """The agent as it is now.

        Raises:
            ThoughtDropped: It has been deleted.
        """
        if (agent := self._find()) is None:
            raise ThoughtDropped
        return agent

    def _act_request(
        self, thought: ThoughtInProgress, agent: Body, profile: ModelProfile
    ) -> GenerationRequest | None:
        thought.too_large = False
        if not self._is_wanted(agent, thought):
            return None
        if thought.attempt == 1 and self._way(profile, thought.impulse) != COMMAND:
            thought.rerouted = True
            return None
        fitting = self.fitting
        turn = self._scenes.context_of(agent, thought.impulse)
        audience = turn.audience if turn.whispered else NOBODY
        kept = kept_by(agent, self._mind, thought.found, audience)
        if (prompt := fitting.prompt(agent, kept, thought.nudge)) is None:
            thought.too_large = True
            return None
        request = act_request(agent, prompt, thought, profile, self._services)
        request = replace(request, cache_key=self._key)
        return self._sending(thought, request, prompt, fitting.costs, fitting.basis)

    def _is_wanted(self, agent: Body, thought: ThoughtInProgress) -> bool:
        """Whether somebody needs it now that its turn has come; its impulse is of now then."""
        wanted = self._still_wanted(thought.impulse)
        if wanted is None or agent.db.paused or agent.db.asleep:
            return False
        thought.impulse = wanted
        return True

    def show_reply(
        self, agent: Body, partner: Any, words: str, show: Callable[[str], None]
    ) -> None:
        """Hand over the prompt with which the agent would answer these words now."""
        profile = self._profile()
        said = Memory(
            number=self._memory.newest + 1,
            time=self._services.clock.now(),
            kind=MemoryKind.PERCEPTION,
            text=f'{partner.key} says to you, "{words}"',
            place=agent.location.key if agent.location else "",
            source=partner.key,
            source_id=identity_of(partner),
        )
        asked = Impulse(
            EventKind.ADDRESSED, True, partner.key, source_id=said.source_id, priority="player"
        )
        turn = replace(self._scenes.context_of(agent, asked), words=words)

        def found(result: SearchResult | None) -> None:
            talk, _ = self._scenes.talk(agent, turn, result, said)
            show(talk.prompt(profile).rendered.text)

        Routine(self._relate(agent, turn), found).run()

    def head(self, agent: Body, profile: ModelProfile) -> GenerationRequest:
        """The prompt of an answer to nobody, for a server's cache."""
        turn = self._scenes.context_of(agent, IDLE)
        prompt = self._scenes.talk(agent, turn, None)[0].prompt(profile)
        return profile.request_for(prompt.question)

    # -- what is kept and told of it

    def _sending(
        self,
        thought: ThoughtInProgress,
        request: GenerationRequest,
        rendered: Rendered | None = None,
        costs: Costs | None = None,
        basis: Basis | None = None,
    ) -> GenerationRequest:
        """Keep what is sent, for the event log and for whoever looks at it."""
        now = self._services.seconds()
        thought.sent = Sent(request, costs, now - thought.queued, now, basis)
        if rendered is not None and costs is not None:
            impulse, at = thought.impulse, self._services.clock.now()
            self.tally.sent = LastSent(at, impulse.trigger, impulse.source, rendered, costs)
        return request

    def _told(
        self,
        thought: ThoughtInProgress,
        outcome: str,
        *acts: Act,
        answer: Outcome = None,
        problem: str = "",
        costs: Costs | None = None,
    ) -> None:
        """Have the event log told of a thought that has come to its end."""
        came = answer if isinstance(answer, Generation) else None
        event = thought_event(
            self._memory.name,
            thought,
            outcome,
            self._services.seconds(),
            *acts,
            answer=came,
            problem=problem,
            costs=costs,
        )
        self._services.events.emit(event)
        self.tally.ended(event, came, self._services.clock.now())

    # -- what people see of it

    def _show_thinking(self) -> None:
        if agent := self._find():
            self._show(agent, f"{agent.key} pauses, thinking.")

    def show_absent(self, agent: Body, impulse: Impulse) -> None:
        """Whoever waits for an answer is told that none will come, if they are still here."""
        here = [person.key for person in people_near(agent)]
        if impulse.priority == "player" and impulse.source in here:
            self._show(agent, f"{agent.key} seems far away, and does not answer.")

    @staticmethod
    def _show(agent: Body, text: str) -> None:
        """Tell the people in the room; agents would only remember it for nothing."""
        agents = tuple(person for person in people_near(agent) if person.is_agent)
        show(agent, text, "thinking", hidden_from=agents)
