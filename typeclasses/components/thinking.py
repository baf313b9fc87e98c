"""One thought of an agent, from its prompt to what comes of the answer.

Runs on the reactor thread throughout. A thought waits in the model queue; its prompt is
built when its turn comes; its answer is applied to the agent as it is then, if it still is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from game.agent.attention import Impulse
from game.llm.profiles import ModelProfile
from game.llm.queue import Priority
from game.mind.errors import KeepsakeError, ModelError, ModelUnavailable
from game.mind.ports import Generation, GenerationRequest
from game.mind.prompt.budget import Costs
from game.mind.prompt.grammars import from_json
from game.mind.prompt.template import Rendered
from game.mind.recall.related import SearchResult
from typeclasses.components.acquaintances import keys_with
from typeclasses.components.actor import Act
from typeclasses.components.deeds import Deeds
from typeclasses.components.following import Following
from typeclasses.components.happenings import Basis, Sent, thought_event
from typeclasses.components.prompting import costs_of, kept_by, question_of
from typeclasses.components.replying import Reply, Replying, is_answered
from typeclasses.components.surroundings import people_near
from typeclasses.components.tally import LastSent, ThoughtTally
from typeclasses.components.thought import (
    DEED,
    PROFILE,
    ThoughtInProgress,
    act_request,
    addressee,
    led,
    log_line,
    second_thought,
)
from typeclasses.services import Services, log

if TYPE_CHECKING:
    from typeclasses.agents import Agent
    from typeclasses.components.acquaintances import Acquaintances
    from typeclasses.components.actor import Actor
    from typeclasses.components.diary import Diary
    from typeclasses.components.fitting import Fitting
    from typeclasses.components.keeper import MemoryTools
    from typeclasses.components.memory import MemoryComponent

MOST_RESTARTS = 2
"""How often a reply waits for somebody who goes on speaking; then it answers what there is."""
_PRIORITIES = {"player": Priority.PLAYER, "event": Priority.EVENT, "idle": Priority.IDLE}


@dataclass(frozen=True, slots=True)
class Parts:
    """What a thought needs of its agent.

    Attributes:
        memory: What the prompt is built from.
        keeper: Brings notes and past experiences into the prompt.
        actor: What turns the answer into an act.
        fitting: Keeps its prompts within the budget.
        diary: What it wrote down.
        acquaintances: Whom it knows.
        following: Whom it goes after.
    """

    memory: MemoryComponent
    keeper: MemoryTools
    actor: Actor
    fitting: Fitting
    diary: Diary
    acquaintances: Acquaintances
    following: Following = field(default_factory=Following)


class Thinking:
    """Sees the thoughts of one agent through, one at a time.

    Args:
        key: Who asks, for the model queue.
        agent: Gives the agent as it is now; None if it has been deleted.
        parts: Its other components.
        over: Is told that a thought has ended, and what was done; None for nothing.
        services: What all agents share.

    Attributes:
        current: The thought under way; None if there is none.
        answered: Thoughts that were answered, since the server started.
        spent: Told how many tokens each answer has cost, prompt and all.
        wanted: Gives the impulse as it is when its turn has come; None if its cause is gone.
        tally: What came of its thoughts, since the server started.
    """

    def __init__(
        self,
        key: str,
        agent: Callable[[], Agent | None],
        parts: Parts,
        over: Callable[[Act | None], None],
        services: Services,
    ) -> None:
        self.current: ThoughtInProgress | None = None
        self.answered = 0
        self.tally = ThoughtTally()
        self.spent: Callable[[int], None] = lambda _: None
        self.wanted: Callable[[Impulse], Impulse | None] = lambda impulse: impulse
        self._key, self._agent, self._over, self._services = key, agent, over, services
        self._memory, self._keeper = parts.memory, parts.keeper
        self._actor, self._fitting = parts.actor, parts.fitting
        self._parts = parts
        self._replying = Replying(parts, services)
        self._deeds = Deeds(parts.actor, parts.following, services)
        self._closed = False

    def begin(self, impulse: Impulse) -> None:
        """Think, now that the moment has come."""
        self.tally.waits_since = self._now()
        self._think(ThoughtInProgress(impulse))

    def break_off(self) -> None:
        """Let go of the thought under way; an answer that still comes is dropped."""
        if self.current is not None:
            self._cancel_ticket(self.current)
            self._told(self.current, "dropped")
            self._finish(None)

    def close(self) -> None:
        """Stop thinking; an answer that still comes is dropped."""
        self._closed = True
        if self.current is not None:
            self._cancel_ticket(self.current)
            self._told(self.current, "dropped")
        self._end_thought()

    def _think(self, thought: ThoughtInProgress) -> None:
        self.current = thought
        waited_for = thought.impulse.priority == "player" and thought.choice is None
        if waited_for and thought.notice is None:
            pause = self._services.thinking.current.pause_notice
            if pause:
                thought.notice = self._services.timer.callLater(pause, self._show_thinking)
        with self._freed_by_faults(thought):
            if self._is_reply(thought):  # its prompt is as large as its profile says
                self._go_ahead(thought)
            else:
                self._memory.make_room(lambda: self._go_ahead(thought))

    def _is_reply(self, thought: ThoughtInProgress) -> bool:
        if thought.reply is not None:
            return True
        try:
            return is_answered(thought.impulse, self._services.gateway.profile(PROFILE))
        except KeepsakeError:  # there is no model to ask, which is told when it is asked
            return False

    def _go_ahead(self, thought: ThoughtInProgress) -> None:
        """There is room in the prompt, as far as there can be."""
        if self.current is not thought or self._closed:
            return
        with self._freed_by_faults(thought):
            if thought.asked:
                self._submit(thought)
            elif self._is_reply(thought):
                self._gather(thought)
            else:
                self._recall(thought)

    @contextmanager
    def _freed_by_faults(self, thought: ThoughtInProgress) -> Iterator[None]:
        """Whatever breaks within it ends the thought: the agent must be able to think again."""
        try:
            yield
        except Exception as error:
            if self.current is thought:
                agent = self._agent()
                name = agent.key if agent else self._key
                log(f"[Thinker] {name}: The thought broke off: {error!r}")
                self._told(thought, "broke off", problem=repr(error))
                self._finish(None)
            raise

    def _gather(self, thought: ThoughtInProgress) -> None:
        """Bring together what the reply is made from."""
        agent = self._agent()
        if agent is None:
            self._done(None)
            return

        def gathered(reply: Reply) -> None:
            if self.current is thought and not self._closed:
                thought.reply, thought.asked = reply, True
                with self._freed_by_faults(thought):
                    self._submit(thought)

        def look() -> None:
            if self.current is thought and not self._closed:
                with self._freed_by_faults(thought):
                    self._replying.gather(agent, thought.impulse, gathered)

        self._parts.acquaintances.prepare(keys_with(agent), look)

    def show_reply(
        self, agent: Agent, partner: str, words: str, show: Callable[[str], None]
    ) -> None:
        """Hand over the prompt with which the agent would answer these words now."""
        profile = self._services.gateway.profile(PROFILE)

        def gathered(reply: Reply) -> None:
            reply.looked = True  # the answer's prompt is shown, not the question before it
            self._replying.request(agent, reply, profile, 1, self._key)
            assert reply.rendered is not None
            show(reply.rendered.text)

        asked = Impulse("addressed", "player", partner)
        self._replying.gather(agent, asked, gathered, words=words)

    def _recall(self, thought: ThoughtInProgress) -> None:
        """Look for what may matter now, then think; without it if that takes too long."""
        agent = self._agent()
        if agent is None:
            self._done(None)
            return

        def found(result: SearchResult | None) -> None:
            if self.current is thought and not self._closed:
                thought.found, thought.asked = result, True
                with self._freed_by_faults(thought):
                    self._submit(thought)

        def look() -> None:
            if self.current is thought and not self._closed:
                with self._freed_by_faults(thought):
                    self._keeper.relate(asking, found, scene=thought.impulse.trigger == "idle")

        asking = question_of(agent, self._memory.context())
        self._parts.acquaintances.prepare(keys_with(agent), look)

    def _submit(self, thought: ThoughtInProgress) -> None:
        priority = _PRIORITIES[thought.impulse.priority]
        thought.queued = self._now()
        try:
            thought.ticket = self._services.gateway.submit(
                PROFILE, priority, self._key, self._build, self._done
            )
        except KeepsakeError as error:
            self._done(error if isinstance(error, ModelError) else ModelUnavailable(str(error)))

    def _build(self, profile: ModelProfile) -> GenerationRequest | None:
        """The request, made when its turn has come; None if nobody needs it any more."""
        agent, thought = self._agent(), self.current
        if agent is None or thought is None or agent.location is None:
            return None
        if thought.choice is not None:
            request = self._deeds.request(agent, thought.choice, profile)
            request = replace(request, cache_key=self._key)
            self._sending(thought, request, None, None, None)
            return request
        wanted = self.wanted(thought.impulse)
        if wanted is None or agent.db.paused or agent.db.asleep:
            thought.unwanted = True
            return None
        thought.impulse = wanted
        if thought.reply is not None:
            return self._build_reply(agent, thought, thought.reply, profile)
        kept = kept_by(agent, self._parts, thought.found)
        fitting = self._fitting
        fitting.prompt(agent, kept, thought.nudge)
        prompt = fitting.rendered
        if prompt is None:  # it is too large
            return None
        request = act_request(agent, prompt, thought, profile, self._services)
        request = replace(request, cache_key=self._key)
        self._sending(thought, request, prompt, fitting.costs, fitting.basis)
        return request

    def _build_reply(
        self, agent: Agent, thought: ThoughtInProgress, reply: Reply, profile: ModelProfile
    ) -> GenerationRequest | None:
        fresh = thought.attempt == 1 and thought.restarts < MOST_RESTARTS
        if fresh and self._replying.is_stale(agent, thought.impulse, reply):
            thought.asked = False  # they went on speaking: it is gathered anew, see _done
            thought.restarts += 1
            return None
        request = self._replying.request(agent, reply, profile, thought.attempt, self._key)
        assert reply.prompt is not None
        costs = costs_of(reply.prompt.rendered, self._services.tokens, profile.reply_tokens)
        basis = self._replying.basis(reply)
        self._sending(thought, request, reply.prompt.rendered, costs, basis)
        return request

    def _sending(
        self,
        thought: ThoughtInProgress,
        request: GenerationRequest,
        rendered: Rendered | None,
        costs: Costs | None,
        basis: Basis | None,
    ) -> None:
        """Keep what is sent, for the event log and for whoever looks at it."""
        now = self._now()
        thought.sent = Sent(request, costs, now - thought.queued, now, basis)
        if rendered is not None and costs is not None:
            impulse, at = thought.impulse, self._services.clock.now()
            self.tally.sent = LastSent(at, str(impulse.trigger), impulse.source, rendered, costs)

    def _done(self, outcome: Generation | ModelError | None) -> None:
        agent, thought = self._agent(), self.current
        if agent is None or thought is None or self._closed:
            self._end_thought()
        elif agent.db.paused or agent.db.asleep:
            self._told(thought, "dropped", answer=outcome)
            self._finish(None)  # since when the model wrote: nothing comes of it
        elif isinstance(outcome, Generation):
            self._apply(agent, thought, outcome)
        elif thought.choice is not None:  # the words were said, and that is all
            self._told(thought, "no answer" if outcome else "dropped", problem=str(outcome or ""))
            self._finish(None)
        elif outcome is None and thought.reply is not None and not thought.asked:
            thought.reply, thought.ticket = None, None
            self._gather(thought)
        elif outcome is None and thought.reply is None and self._cannot_fit(thought):
            self._too_large(agent, thought)
        else:
            self._unanswered(agent, thought, outcome)

    def _cannot_fit(self, thought: ThoughtInProgress) -> bool:
        return self._fitting.too_large is not None and not thought.unwanted

    def _apply(self, agent: Agent, thought: ThoughtInProgress, answer: Generation) -> None:
        try:
            self._answered(agent, thought, answer)
        except Exception as error:
            # Whatever an act in the world sets off: the agent must be able to think again.
            log(f"[Thinker] {agent.key}: The answer could not be acted out: {error!r}")
            self._told(thought, "broke off", answer=answer, problem=repr(error))
            self._finish(None)
            raise

    def _answered(self, agent: Agent, thought: ThoughtInProgress, answer: Generation) -> None:
        self.answered += 1
        if thought.reply is not None:
            self.spent(answer.prompt_tokens + answer.completion_tokens)
            self._replied(agent, thought, thought.reply, answer)
            return
        if thought.choice is not None:
            self.spent(answer.prompt_tokens + answer.completion_tokens)
            act = self._deeds.do(agent, thought.choice, answer.text)
            log(log_line(agent.key, thought, answer, act))
            self._told(thought, "acted", answer=answer, act=act)
            self._finish(act)
            return
        self._fitting.answered(answer.prompt_tokens)
        self.spent(answer.prompt_tokens + answer.completion_tokens)
        self._keeper.thought_over()
        text = led(thought.lead, from_json(answer.text))
        act = self._actor.act(agent, text, addressee=addressee(thought.impulse))
        log(log_line(agent.key, thought, answer, act))
        self._told(thought, "acted" if act.command else "refused", answer=answer, act=act)
        if act.result is None:
            self._go_on(thought, act)
        else:
            # A tool call: what it brings is for the next thought, so that has to wait.
            thought.ticket = None
            act.result.addCallback(lambda _: self._go_on(thought, act))

    def _replied(
        self, agent: Agent, thought: ThoughtInProgress, reply: Reply, answer: Generation
    ) -> None:
        """Say the answer, or think of another; a shrug when there is none that can be said."""
        if reply.looking:
            self._looked(agent, thought, reply, answer)
            return
        last = thought.attempt > self._services.thinking.current.retries
        judged = self._replying.judged(reply, answer.text, last=last)
        if judged.fault and not last:
            refused = Act(None, judged.fault)
            log(log_line(agent.key, thought, answer, refused))
            self._told(thought, "refused", answer=answer, act=refused)
            again = ThoughtInProgress(thought.impulse, thought.attempt + 1, reply=reply, asked=True)
            again.notice = thought.notice
            self._think(again)
            return
        self._say(agent, thought, reply, answer, judged.fault)

    def _looked(
        self, agent: Agent, thought: ThoughtInProgress, reply: Reply, answer: Generation
    ) -> None:
        """After the second look: say that the agent does not know, or ask for the answer."""
        reply.looking = False
        unknown = self._replying.unknown(reply, answer.text)
        if unknown:
            self._speak(agent, thought, reply, answer, unknown)
            return
        self._told(thought, "looked", answer=answer)
        again = ThoughtInProgress(thought.impulse, thought.attempt, reply=reply, asked=True)
        again.notice, again.restarts = thought.notice, thought.restarts
        self._think(again)

    def _say(
        self,
        agent: Agent,
        thought: ThoughtInProgress,
        reply: Reply,
        answer: Generation | None,
        fault: str,
    ) -> None:
        """Say the best there is, and see whether a deed was asked for."""
        words = self._replying.chosen(reply)
        if not words and not reply.scene.said:  # nobody said anything that wants an answer
            refused = Act(None, fault)
            self._told(thought, "refused", answer=answer, act=refused)
            self._finish(None)
            return
        self._speak(agent, thought, reply, answer, words, fault=fault)

    def _speak(
        self,
        agent: Agent,
        thought: ThoughtInProgress,
        reply: Reply,
        answer: Generation | None,
        words: str,
        *,
        fault: str = "",
    ) -> None:
        act = self._actor.speak(
            agent,
            words or self._replying.shrug(agent),
            reply.partner,
            whispered=reply.whispered,
            shrug=not words,
        )
        if answer is not None:
            log(log_line(agent.key, thought, answer, act))
        problem = "" if words else fault
        self._told(thought, "acted", answer=answer, act=act, problem=problem)
        said = " ".join(reply.scene.said)
        choice = self._deeds.choice(agent, reply.partner, said, words, act) if words else None
        if choice is None:
            self._finish(act)
        else:
            self._cancel_notice(thought)
            self._think(ThoughtInProgress(thought.impulse, lead=DEED, choice=choice, asked=True))

    def _go_on(self, thought: ThoughtInProgress, act: Act) -> None:
        if self.current is not thought or self._closed:
            return
        again = second_thought(thought, act, self._services.thinking.current)
        if again is not None:
            # Whoever waits, waits for the same answer, and the question is still the same.
            again.notice, again.found, again.asked = thought.notice, thought.found, True
            self._think(again)
        else:
            self._finish(act)

    def _unanswered(
        self, agent: Agent, thought: ThoughtInProgress, error: ModelError | None
    ) -> None:
        if error is not None and thought.reply is not None and thought.attempt > 1:
            log(f"[Thinker] {agent.key}: No answer to another try: {error}")
            self._say(agent, thought, thought.reply, None, str(error))
            return
        if error is not None:
            log(f"[Thinker] {agent.key}: No answer: {error}")
            self.show_absent(agent, thought.impulse)
        self._told(thought, "no answer" if error else "dropped", problem=str(error or ""))
        self._finish(None)

    def _too_large(self, agent: Agent, thought: ThoughtInProgress) -> None:
        """The prompt does not fit: make room once more, now that its weight is known."""
        if not thought.squeezed and self._memory.no_room is None:
            thought.squeezed, thought.ticket = True, None
            self._think(thought)
            return
        self._fitting.tell()
        self._told(thought, "too large", costs=self._fitting.too_large)
        self.show_absent(agent, thought.impulse)
        self._finish(None)

    def _told(
        self,
        thought: ThoughtInProgress,
        outcome: str,
        *,
        answer: Generation | ModelError | None = None,
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
            self._now(),
            answer=came,
            act=act,
            problem=problem,
            costs=costs,
        )
        self._services.events.emit(event)
        if thought.choice is None and outcome != "looked":  # both are part of a reply
            self.tally.ended(event, came, self._services.clock.now())

    def _now(self) -> float:
        return float(self._services.timer.seconds())

    def _finish(self, act: Act | None) -> None:
        if self.current is not None and self.current.choice is not None:
            act = self.current.choice.reply  # to the others it is all one
        self._end_thought()
        self._over(act)

    def _end_thought(self) -> None:
        if self.current is not None:
            self._cancel_notice(self.current)
        self.current = None
        self.tally.waits_since = None

    # -- what people see of it

    def _show_thinking(self) -> None:
        if agent := self._agent():
            self._show(agent, f"{agent.key} pauses, thinking.")

    def show_absent(self, agent: Agent, impulse: Impulse) -> None:
        """Whoever waits for an answer is told that none will come, if they are still here."""
        here = [person.key for person in people_near(agent)]
        if impulse.priority == "player" and impulse.source in here:
            self._show(agent, f"{agent.key} seems far away, and does not answer.")

    def _show(self, agent: Agent, text: str) -> None:
        """Tell the people in the room; agents would only remember it for nothing."""
        if agent.location is not None:
            agents = [person for person in people_near(agent) if person.is_agent]
            agent.location.msg_contents(
                (text, {"type": "thinking"}), exclude=[agent, *agents], from_obj=agent
            )

    @staticmethod
    def _cancel_ticket(thought: ThoughtInProgress) -> None:
        if thought.ticket is not None:
            thought.ticket.cancel()

    @staticmethod
    def _cancel_notice(thought: ThoughtInProgress) -> None:
        if thought.notice is not None and thought.notice.active():
            thought.notice.cancel()
