"""When an agent thinks, and what becomes of the thought.

Runs on the reactor thread throughout. A thought waits in the model queue; its prompt is
built when its turn comes; its answer is applied to the agent as it is then, if it still is.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from evennia.objects.models import ObjectDB

from game.llm.profiles import EMBEDDED, Profile
from game.llm.queue import Priority, Ticket
from game.mind.attention import Attention, Event, Impulse
from game.mind.constrain import from_json, verbs_grammar, verbs_schema
from game.mind.errors import KeepsakeError, ModelError, ModelUnavailable
from game.mind.ports import Generation, GenerationRequest
from game.mind.recall.related import Found
from game.mind.thinking_config import FREE, SCHEMA, ThinkingConfig
from typeclasses.components.actor import Act
from typeclasses.components.keeper import LOOKUPS
from typeclasses.components.prompting import kept_by, question_of, verbs_of
from typeclasses.components.surroundings import exits_of, people_near, players_near
from typeclasses.services import Services, log

if TYPE_CHECKING:
    from typeclasses.agents import Agent
    from typeclasses.components.actor import Actor
    from typeclasses.components.fitting import Fitting
    from typeclasses.components.keeper import Keeper
    from typeclasses.components.memory import MemoryComponent

PROFILE = "agent"
MOST_LOOKUPS = 2
"""How often an agent may look into its memory before it has to do something."""
HOTTER, HOTTEST = 0.25, 1.5
"""What each new try adds to the temperature, and where that ends."""
JSON_TOKENS = 40
"""What the marks and names of a JSON answer may cost besides its words."""
SHORTEST_INTERVAL = 5
"""Seconds between two idle thoughts that a builder may set."""
_PRIORITIES = {"player": Priority.PLAYER, "event": Priority.EVENT, "idle": Priority.IDLE}


class State(StrEnum):
    """What an agent is about."""

    IDLE = "idle"
    WAITING = "waiting for the model"
    PAUSED = "paused"
    TROUBLED = "memory cannot be written"
    GONE = "gone"


@dataclass
class _Thought:
    """A thought under way."""

    impulse: Impulse
    attempt: int = 1
    nudge: str = ""
    lead: str = ""
    """The verb that its answer begins with; empty when it is free."""
    lookups: int = 0
    """How often the agent has looked into its memory on the way here."""
    found: Found | None = None
    """What recall brought for it."""
    asked: bool = False
    """Whether recall was asked already."""
    squeezed: bool = False
    """Whether room was made for it after its prompt had been too large."""
    ticket: Ticket | None = None
    notice: Any = None


class Thinker:
    """Decides when one agent thinks and sees each thought through.

    Args:
        agent_id: The agent's database number.
        memory: What the prompt is built from.
        keeper: Brings notes and past experiences into the prompt.
        actor: What turns the answer into an act.
        fitting: Keeps its prompts within the budget.
        services: What all agents share.
    """

    def __init__(
        self,
        agent_id: int,
        memory: MemoryComponent,
        keeper: Keeper,
        actor: Actor,
        *,
        fitting: Fitting,
        services: Services,
    ) -> None:
        self._agent_id = agent_id
        self._key = f"agent-{agent_id}"
        self._memory = memory
        self._keeper = keeper
        self._actor = actor
        self._fitting = fitting
        self._services = services
        self._attention = Attention(services.thinking.current, services.random)
        self._wake_up: Any = None
        self._thought: _Thought | None = None
        self._closed = False
        self.thoughts = 0
        """Thoughts that were answered, since the server started."""

    # -- from the world

    def notice(self, event: Event) -> None:
        """Something happened that may be worth a thought."""
        self._attention.notice(event, self._now())
        self.schedule()

    def start(self) -> None:
        """Begin to have idle thoughts."""
        if self._attention.due(self._now()) is None:
            self.schedule()

    def close(self) -> None:
        """Stop thinking; an answer that still comes is dropped."""
        self._closed = True
        self._cancel_wake_up()
        if self._thought is not None and self._thought.ticket is not None:
            self._thought.ticket.cancel()
        self._end_thought()

    @property
    def agent(self) -> Agent | None:
        """The agent as it is now; None if it has been deleted."""
        try:
            # Evennia keeps what it has loaded: this asks the database only the first time.
            return ObjectDB.objects.get(id=self._agent_id)
        except ObjectDB.DoesNotExist:
            return None

    @property
    def state(self) -> State:
        """What the agent is about."""
        agent = self.agent
        if agent is None:
            return State.GONE
        if agent.db.paused:
            return State.PAUSED
        if self._memory.problem is not None:
            return State.TROUBLED
        return State.WAITING if self._thought else State.IDLE

    @property
    def asleep(self) -> bool:
        """Whether the agent sleeps; a builder can set it until agents sleep by themselves."""
        agent = self.agent
        return agent is not None and bool(agent.db.asleep)

    # -- scheduling

    def schedule(self) -> None:
        """Set the clock for the next time that a thought may be due."""
        self._cancel_wake_up()
        if self._closed or self._thought is not None:
            return
        at = self._attention.next_at()
        if at is not None:
            delay = max(at - self._now(), 0.0)
            self._wake_up = self._services.timer.callLater(delay, self._wake)

    def _cancel_wake_up(self) -> None:
        if self._wake_up is not None and self._wake_up.active():
            self._wake_up.cancel()
        self._wake_up = None

    def _wake(self) -> None:
        agent = self.agent
        if agent is None:
            return
        now = self._now()
        self._attention.config = _config_for(agent, self._services.thinking.current)
        self._attention.set_player_near(bool(players_near(agent)), now)
        impulse = self._attention.due(now)
        if impulse is None:
            self.schedule()
            return
        self._attention.thought_started(now)
        if self.state is State.IDLE and agent.location is not None:
            self._think(_Thought(impulse))
            return
        # Paused, nowhere, or its memory cannot be written: the moment passes.
        if self.state is State.TROUBLED:
            self._show_absent(agent, impulse)
        self._finish(None)

    # -- thinking

    def _think(self, thought: _Thought) -> None:
        self._thought = thought
        if thought.impulse.priority == "player" and thought.notice is None:
            pause = self._services.thinking.current.pause_notice
            if pause:
                thought.notice = self._services.timer.callLater(pause, self._show_thinking)
        with self._freed_by_faults(thought):
            self._memory.make_room(lambda: self._go_ahead(thought))

    def _go_ahead(self, thought: _Thought) -> None:
        """There is room in the prompt, as far as there can be."""
        if self._thought is not thought or self._closed:
            return
        with self._freed_by_faults(thought):
            if thought.asked:
                self._submit(thought)
            else:
                self._recall(thought)

    @contextmanager
    def _freed_by_faults(self, thought: _Thought) -> Iterator[None]:
        """Whatever breaks within it ends the thought: the agent must be able to think again."""
        try:
            yield
        except Exception as error:
            if self._thought is thought:
                name = self.agent.key if self.agent else self._key
                log(f"[Thinker] {name}: The thought broke off: {error!r}")
                self._finish(None)
            raise

    def _recall(self, thought: _Thought) -> None:
        """Look for what may matter now, then think; without it if that takes too long."""
        agent = self.agent
        if agent is None:
            self._done(None)
            return

        def found(result: Found | None) -> None:
            if self._thought is thought and not self._closed:
                thought.found, thought.asked = result, True
                with self._freed_by_faults(thought):
                    self._submit(thought)

        asking = question_of(agent, self._memory.context())
        self._keeper.relate(asking, found, scene=thought.impulse.trigger == "idle")

    def _submit(self, thought: _Thought) -> None:
        priority = _PRIORITIES[thought.impulse.priority]
        try:
            thought.ticket = self._services.gateway.submit(
                PROFILE, priority, self._key, self._build, self._done
            )
        except KeepsakeError as error:
            self._done(error if isinstance(error, ModelError) else ModelUnavailable(str(error)))

    def _build(self, profile: Profile) -> GenerationRequest | None:
        """The request, made when its turn has come; None if nobody needs it any more."""
        agent, thought = self.agent, self._thought
        if agent is None or thought is None or agent.location is None or agent.db.paused:
            return None
        kept = kept_by(self._memory, self._keeper, thought.found)
        prompt = self._fitting.prompt(agent, kept, thought.nudge)
        if prompt is None:
            return None
        request = profile.request(f"{prompt} {thought.lead}".rstrip(), cache_key=self._key)
        request = replace(request, temperature=_temperature(profile, thought))
        if thought.lead:
            return request
        return _held(request, agent, profile, self._services)

    def _done(self, outcome: Generation | ModelError | None) -> None:
        agent, thought = self.agent, self._thought
        if agent is None or thought is None or self._closed:
            self._end_thought()
        elif agent.db.paused:
            self._finish(None)  # paused while the model wrote: nothing comes of it
        elif isinstance(outcome, Generation):
            self._apply(agent, thought, outcome)
        elif outcome is None and self._fitting.too_large is not None:
            self._too_large(agent, thought)
        else:
            self._unanswered(agent, thought, outcome)

    def _apply(self, agent: Agent, thought: _Thought, answer: Generation) -> None:
        try:
            self._answered(agent, thought, answer)
        except Exception as error:
            # Whatever an act in the world sets off: the agent must be able to think again.
            log(f"[Thinker] {agent.key}: The answer could not be acted out: {error!r}")
            self._finish(None)
            raise

    def _answered(self, agent: Agent, thought: _Thought, answer: Generation) -> None:
        self.thoughts += 1
        self._fitting.answered(answer.prompt_tokens)
        self._keeper.thought_over()
        text = _led(thought.lead, from_json(answer.text))
        act = self._actor.act(agent, text, addressee=_addressee(thought.impulse))
        log(_line(agent.key, thought, answer, act))
        if act.result is None:
            self._go_on(thought, act)
        else:
            # A tool call: what it brings is for the next thought, so that has to wait.
            thought.ticket = None
            act.result.addCallback(lambda _: self._go_on(thought, act))

    def _go_on(self, thought: _Thought, act: Act) -> None:
        if self._thought is not thought or self._closed:
            return
        again = _second_thought(thought, act, self._services.thinking.current)
        if again is not None:
            # Whoever waits, waits for the same answer, and the question is still the same.
            again.notice, again.found, again.asked = thought.notice, thought.found, True
            self._think(again)
        else:
            self._finish(act)

    def _finish(self, act: Act | None) -> None:
        spoke, silent = (act.spoke, act.command is None or act.waited) if act else (False, True)
        self._end_thought()
        self._attention.thought_done(self._now(), spoke=spoke, silent=silent)
        self.schedule()

    def _unanswered(self, agent: Agent, thought: _Thought, error: ModelError | None) -> None:
        if error is not None:
            log(f"[Thinker] {agent.key}: No answer: {error}")
            self._show_absent(agent, thought.impulse)
        self._finish(None)

    def _too_large(self, agent: Agent, thought: _Thought) -> None:
        """The prompt does not fit: make room once more, now that its weight is known."""
        if not thought.squeezed and self._memory.no_room is None:
            thought.squeezed, thought.ticket = True, None
            self._think(thought)
            return
        self._fitting.tell()
        self._show_absent(agent, thought.impulse)
        self._finish(None)

    def _end_thought(self) -> None:
        if self._thought is not None:
            self._cancel_notice(self._thought)
        self._thought = None

    # -- what people see of it

    def _show_thinking(self) -> None:
        if agent := self.agent:
            self._show(agent, f"{agent.key} pauses, thinking.")

    def _show_absent(self, agent: Agent, impulse: Impulse) -> None:
        """Whoever waits for an answer is told that none will come."""
        if impulse.priority == "player":
            self._show(agent, f"{agent.key} seems far away, and does not answer.")

    def _show(self, agent: Agent, text: str) -> None:
        """Tell the people in the room; agents would only remember it for nothing."""
        if agent.location is not None:
            agents = [person for person in people_near(agent) if person.is_agent]
            agent.location.msg_contents(
                (text, {"type": "thinking"}), exclude=[agent, *agents], from_obj=agent
            )

    @staticmethod
    def _cancel_notice(thought: _Thought) -> None:
        if thought.notice is not None and thought.notice.active():
            thought.notice.cancel()

    def _now(self) -> float:
        return float(self._services.timer.seconds())


def _temperature(profile: Profile, thought: _Thought) -> float:
    """The profile's; hotter with each new try, which else would come to the same answer."""
    if thought.attempt == 1 or profile.temperature == 0:
        return profile.temperature
    return min(profile.temperature + HOTTER * (thought.attempt - 1), HOTTEST)


def _led(lead: str, text: str) -> str:
    """``text`` behind the verb it was to begin with, unless it brings that verb itself."""
    return text if text.lstrip().casefold().startswith(f"{lead} ") else f"{lead}{text}"


def _held(
    request: GenerationRequest, agent: Agent, profile: Profile, services: Services
) -> GenerationRequest:
    """The request, held to the commands that make sense here as far as its server can."""
    constraint, verbs = services.thinking.current.constrain, verbs_of(services)
    if constraint != FREE and profile.provider == EMBEDDED:
        present = [person.key for person in people_near(agent)]
        return replace(request, grammar=verbs_grammar(verbs, exits_of(agent), present))
    if constraint == SCHEMA:
        # JSON may be written over several lines, and its marks and names cost tokens.
        longer = request.max_tokens + JSON_TOKENS
        schema = verbs_schema(verbs)
        return replace(request, json_schema=schema, stop=(), max_tokens=longer)
    return request


def _second_thought(thought: _Thought, act: Act, config: ThinkingConfig) -> _Thought | None:
    """The thought that follows one whose answer was no use; None when it is enough."""
    impulse, attempt = thought.impulse, thought.attempt + 1
    waited_for = impulse.priority == "player" and config.insist
    if act.command is None and thought.attempt <= config.retries:
        # The last try for somebody who waits is made easy.
        last = waited_for and thought.attempt == config.retries
        lead = "say" if last else thought.lead
        return _Thought(impulse, attempt, act.refusal, lead, thought.lookups)
    if act.command is not None and act.command.verb in LOOKUPS and thought.lookups < MOST_LOOKUPS:
        # It looked something up in order to use it.
        return _Thought(impulse, thought.attempt, lookups=thought.lookups + 1)
    if act.command is not None and waited_for and not act.answers and not thought.lead:
        return _Thought(impulse, attempt, lead="say", lookups=thought.lookups)
    return None


def _addressee(impulse: Impulse) -> str:
    """Whom speech is for: whoever spoke, came or gave; empty for an idle thought."""
    return impulse.source if impulse.trigger in ("addressed", "named", "arrival", "given") else ""


def _config_for(agent: Agent, config: ThinkingConfig) -> ThinkingConfig:
    """The configured times, with the agent's own interval or talkativeness."""
    own = agent.db.idle_interval
    talkative = _number(agent.attributes.get("talkativeness"), 0.5)
    usual = config.idle_interval * 2.0 ** (1.0 - 2.0 * min(max(talkative, 0.0), 1.0))
    interval = max(_number(own, usual), SHORTEST_INTERVAL) if own else usual
    return replace(config, idle_interval=interval)


def _number(value: Any, default: float) -> float:
    """``value`` as a number; builders can set an attribute to anything."""
    try:
        return float(value)
    except (TypeError, ValueError):
        return default


def _line(name: str, thought: _Thought, answer: Generation, act: Act) -> str:
    did = act.command.line if act.command else f"(refused: {act.refusal})"
    if act.command and act.command.reason:
        did += f" | {act.command.reason}"
    return (
        f"[Thinker] {name}: {thought.impulse.trigger} -> {did} "
        f"({answer.prompt_tokens}+{answer.completion_tokens} tokens, "
        f"{answer.cached_tokens} cached, {answer.seconds:.2f} s)"
    )
