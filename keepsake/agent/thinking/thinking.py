"""One thought of an agent, from its reason to what comes of the answer.

Runs on the reactor thread throughout. A thought waits in the model queue; its prompt is
built when its turn comes; its answer is applied to the agent as it is then, if it still is.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import replace
from functools import partial

from keepsake.agent.agent_log import log
from keepsake.agent.body import Body, Life
from keepsake.agent.happenings import Basis
from keepsake.agent.impulses import EventKind, Impulse
from keepsake.agent.memory.remembering import Remembering
from keepsake.agent.services import Services
from keepsake.agent.surroundings import people_near, show
from keepsake.agent.tasks import Alarm, Once, Routine
from keepsake.agent.thinking.actor import Act, Actor
from keepsake.agent.thinking.deeds import DeedChoice, Deeds
from keepsake.agent.thinking.fitting import Fitting
from keepsake.agent.thinking.following import Following
from keepsake.agent.thinking.prompting import costs_of, kept_by, question_of
from keepsake.agent.thinking.replying import Reply, Replying, is_answered
from keepsake.agent.thinking.tally import LastSent, ThoughtTally
from keepsake.agent.thinking.thought import (
    DEED,
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
from keepsake.archive.privacy import WHISPER
from keepsake.archive.records import COURTESY, SHRUG
from keepsake.errors import KeepsakeError, ModelError, ModelUnavailable
from keepsake.models.profiles import ModelProfile
from keepsake.models.queue import Outcome, Priority
from keepsake.ports import Generation, GenerationRequest
from keepsake.prompt.budget import Costs
from keepsake.prompt.grammars import from_json
from keepsake.prompt.reply.courtesies import DEEDS
from keepsake.prompt.reply.deeds import NOTHING
from keepsake.prompt.template import Rendered

MOST_RESTARTS = 2
"""How often a reply waits for somebody who goes on speaking; then it answers what there is."""
_PRIORITIES = {"player": Priority.PLAYER, "event": Priority.EVENT, "idle": Priority.IDLE}

type Build = Callable[[Body, ModelProfile], GenerationRequest | None]
"""Makes the request of a thought whose turn has come; None if it is not to be sent."""


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
        self._deeds = Deeds(self.actor, self.following, services)
        self._replying = Replying(mind, services)
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
        if self.current is not None and self.current.choice is not None:
            act = self.current.choice.reply  # to the others it is all one
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
            if self._is_reply(thought.impulse):  # its prompt is as large as its profile says
                return await self._reply(thought)
            return await self._act(thought)
        except ThoughtDropped:
            return None

    def _is_reply(self, impulse: Impulse) -> bool:
        try:
            return is_answered(impulse, self._services.gateway.profile(PROFILE))
        except KeepsakeError:  # there is no model to ask, which is told when it is asked
            return False

    async def _act(self, thought: ThoughtInProgress) -> Act | None:
        """Choose a command, and do it."""
        await self._make_room()
        agent = self._body()
        question = question_of(agent, self._memory.context())
        scene = thought.impulse.trigger == "idle"
        audience = self._replying.audience_of_act(thought.impulse)
        thought.found = await self._mind.keeper.relate(question, scene=scene, audience=audience)
        squeezed = False
        while True:
            agent, answer = await self._ask(thought, partial(self._act_request, thought))
            if isinstance(answer, Generation):
                act = self._acted(agent, thought, answer)
                if act.result is not None:  # a tool call: what it brings is for the next thought
                    await act.result
                speaks = self._services.gateway.profile(PROFILE).speaks_unasked
                config = self._services.thinking.current
                again = second_thought(thought, act, config, speaks=speaks)
                if again is None:
                    return act
                thought = self._next(again)
                squeezed = False
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
        whispered = bool(self._replying.audience_of_act(impulse))
        confidant = impulse.source if whispered else ""
        act = self.actor.act(agent, text, addressee=addressee(impulse), confidant=confidant)
        log(log_line(agent.key, thought, answer, act))
        self._told(thought, "acted" if act.command else "refused", answer=answer, act=act)
        return act

    def _too_large(self, agent: Body, thought: ThoughtInProgress) -> None:
        self.fitting.tell(agent)
        self._told(thought, "too large", costs=self.fitting.too_large)
        self.show_absent(agent, thought.impulse)

    async def _reply(self, thought: ThoughtInProgress) -> Act | None:
        """Answer whoever turned to the agent; a shrug when there is nothing that can be said."""
        reply = await self._gathered(thought)
        while words := self._courtesy(thought, reply):
            if not self._is_gathered_anew(self._body(), thought, reply):
                # News are its own words: they are told once.
                event = COURTESY if reply.scene.news is None else ""
                agent = self._body()
                return await self._say(agent, thought, reply, None, words=words, event=event)
            reply = await self._gathered(thought)
        while True:
            agent, answer = await self._ask(thought, partial(self._reply_request, thought, reply))
            if thought.stale:
                thought.stale = False
                reply = await self._gathered(thought)
                continue
            if isinstance(answer, ModelError) and thought.attempt > 1:
                log(f"[Thinker] {agent.key}: No answer to another try: {answer}")
                return await self._say(agent, thought, reply, None, str(answer))
            if not isinstance(answer, Generation):
                self._unanswered(agent, thought, answer)
                return None
            self._count(answer)
            if reply.looking:
                if unknown := self._replying.unknown(reply, answer.text):
                    return await self._say(agent, thought, reply, answer, words=unknown)
                self._told(thought, "looked", answer=answer)
                continue
            last = thought.attempt > self._services.thinking.current.retries
            fault = self._replying.judged(reply, answer.text, last=last).fault
            if not fault or last:
                return await self._say(agent, thought, reply, answer, fault)
            refused = Act(None, fault)
            log(log_line(agent.key, thought, answer, refused))
            self._told(thought, "refused", answer=answer, act=refused)
            thought = self._next(ThoughtInProgress(thought.impulse, thought.attempt + 1))

    async def _gathered(self, thought: ThoughtInProgress) -> Reply:
        agent = self._body()
        return await self._replying.gather(agent, thought.impulse)

    def _courtesy(self, thought: ThoughtInProgress, reply: Reply) -> str:
        """What is said where nothing was asked; empty where the model is to be asked.

        Raises:
            ThoughtDropped: Nobody needs it any more.
        """
        profile = self._services.gateway.profile(PROFILE)
        agent = self._body()
        said = " ".join(reply.scene.said)
        wished = bool(self._deeds.wished(agent, reply.partner, said))
        words = self._replying.courtesy(agent, thought.impulse, reply, profile, wished=wished)
        if not words:
            return ""
        if agent.location is None or not self._is_wanted(agent, thought):
            self._told(thought, "dropped")
            raise ThoughtDropped
        return words

    async def _say(
        self,
        agent: Body,
        thought: ThoughtInProgress,
        reply: Reply,
        answer: Generation | None,
        fault: str = "",
        *,
        words: str = "",
        event: str = "",
    ) -> Act | None:
        """Say the words, or the best there is, and see whether a deed was asked for."""
        words = words or self._replying.chosen(reply)
        if not words and not reply.scene.said:  # nobody said anything that wants an answer
            self._told(thought, "refused", answer=answer, act=Act(None, fault))
            return None
        act = self.actor.speak(
            agent,
            words or self._replying.shrug(agent),
            reply.partner,
            whispered=self._replying.is_whispered(agent, reply),
            event=event if words else SHRUG,
        )
        log(log_line(agent.key, thought, answer, act))
        outcome = "acted" if act.command else "refused"
        self._told(thought, outcome, answer=answer, act=act, problem="" if words else fault)
        said = " ".join(reply.scene.said)
        choice = (
            self._deeds.choice(agent, reply.partner, said, words, act)
            if words and act.command
            else None
        )
        if choice is not None:
            self._notice.cancel()
            chosen = ThoughtInProgress(thought.impulse, lead=DEED, choice=choice)
            await self._choose(self._next(chosen), choice)
        return act

    async def _choose(self, thought: ThoughtInProgress, choice: DeedChoice) -> None:
        """Choose a deed after the words, and do it."""
        agent, answer = await self._ask(thought, partial(self._choice_request, thought, choice))
        if not isinstance(answer, Generation):
            self._decline(agent, choice)
            self._told(thought, "no answer" if answer else "dropped", problem=str(answer or ""))
            return
        self._count(answer)
        act = self._deeds.do(agent, choice, answer.text)
        if act.command == NOTHING.command:
            self._decline(agent, choice)
        log(log_line(agent.key, thought, answer, act))
        self._told(thought, "acted", answer=answer, act=act)

    def _decline(self, agent: Body, choice: DeedChoice) -> None:
        """Say so, where "Let me see." was all that was said."""
        said, words = choice.reply.command, self._replying.declined()
        near = any(person.key == choice.partner for person in people_near(agent))
        if choice.answer in DEEDS and said is not None and near:
            whispered = said.verb == WHISPER
            self.actor.speak(agent, words, choice.partner, whispered=whispered, event=COURTESY)

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

        def build_now(profile: ModelProfile) -> GenerationRequest | None:
            agent = self._find()
            there = agent is not None and agent.location is not None
            return build(agent, profile) if agent is not None and there else None

        came: Once[Outcome] = Once()
        thought.queued = self._services.seconds()
        priority = _PRIORITIES[thought.impulse.priority]
        answer: Outcome
        try:
            ticket = self._services.gateway.submit(PROFILE, priority, self._key, build_now, came)
        except KeepsakeError as error:
            answer = error if isinstance(error, ModelError) else ModelUnavailable(str(error))
        else:
            try:
                answer = await came
            finally:
                ticket.cancel()  # where it was broken off; too late does no harm
        agent = self._body()
        if agent.db.paused or agent.db.asleep:  # since when the model wrote: nothing comes of it
            self._told(thought, "dropped", answer=answer)
            raise ThoughtDropped
        thought.answer = answer if isinstance(answer, Generation) else None
        return agent, answer

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
        fitting = self.fitting
        audience = self._replying.audience_of_act(thought.impulse)
        kept = kept_by(agent, self._mind, thought.found, audience)
        if (prompt := fitting.prompt(agent, kept, thought.nudge)) is None:
            thought.too_large = True
            return None
        request = act_request(agent, prompt, thought, profile, self._services)
        request = replace(request, cache_key=self._key)
        return self._sending(thought, request, prompt, fitting.costs, fitting.basis)

    def _reply_request(
        self, thought: ThoughtInProgress, reply: Reply, agent: Body, profile: ModelProfile
    ) -> GenerationRequest | None:
        if not self._is_wanted(agent, thought):
            return None
        thought.stale = self._is_gathered_anew(agent, thought, reply)
        if thought.stale:
            return None
        request = self._replying.request(agent, reply, profile, thought.attempt, self._key)
        assert reply.rendered is not None
        costs = costs_of(reply.rendered, self._services.tokens, profile.reply_tokens)
        basis = self._replying.basis(reply)
        return self._sending(thought, request, reply.rendered, costs, basis)

    def _is_gathered_anew(self, agent: Body, thought: ThoughtInProgress, reply: Reply) -> bool:
        """Whether they went on speaking, so that what it is made from has to be found again."""
        fresh = thought.attempt == 1 and thought.restarts < MOST_RESTARTS
        stale = fresh and self._replying.is_stale(agent, thought.impulse, reply)
        thought.restarts += stale
        return stale

    def _choice_request(
        self, thought: ThoughtInProgress, choice: DeedChoice, agent: Body, profile: ModelProfile
    ) -> GenerationRequest:
        request = replace(self._deeds.request(agent, choice, profile), cache_key=self._key)
        return self._sending(thought, request)

    def _is_wanted(self, agent: Body, thought: ThoughtInProgress) -> bool:
        """Whether somebody needs it now that its turn has come; its impulse is of now then."""
        wanted = self._still_wanted(thought.impulse)
        if wanted is None or agent.db.paused or agent.db.asleep:
            return False
        thought.impulse = wanted
        return True

    def show_reply(
        self, agent: Body, partner: str, words: str, show: Callable[[str], None]
    ) -> None:
        """Hand over the prompt with which the agent would answer these words now."""
        profile = self._services.gateway.profile(PROFILE)
        asked = Impulse(EventKind.ADDRESSED, True, partner, priority="player")

        def gathered(reply: Reply) -> None:
            wished = bool(self._deeds.wished(agent, partner, words))
            said = self._replying.courtesy(agent, asked, reply, profile, wished=wished)
            if said:
                show(f"No model is asked for this. It would say: {said}")
                return
            reply.looked = True  # the answer's prompt is shown, not the question before it
            self._replying.request(agent, reply, profile, 1, self._key)
            assert reply.rendered is not None
            show(reply.rendered.text)

        Routine(self._replying.gather(agent, asked, words=words), gathered).run()

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
        *,
        answer: Outcome = None,
        act: Act | None = None,
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
            answer=came,
            act=act,
            problem=problem,
            costs=costs,
        )
        self._services.events.emit(event)
        if thought.choice is None and outcome != "looked":  # both are part of a reply
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
