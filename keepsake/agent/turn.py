"""A turn of an agent: speech and deeds together, each part done as soon as the model wrote it.

A thought waits in the model queue. Its prompt is built when the queue reaches it. Its answer is
applied to the agent as it is by then, if it still exists. Everything runs on the reactor thread.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

from twisted.internet.defer import DeferredQueue

from keepsake.agent.acting import LOOKUPS, SPEECH, Act, Actor
from keepsake.agent.agent_log import DROPPED, TOO_LARGE, Sent, ThoughtLog, call_hook
from keepsake.agent.attention import Impulse
from keepsake.agent.memory.related import SearchResult
from keepsake.agent.memory.tools import WRITES, MemoryTools
from keepsake.agent.runtime import PROFILE, Alarm, Runtime
from keepsake.agent.scene import (
    UNPROMPTED,
    TurnContext,
    available_verbs,
    context_of,
    recall_for_turn,
    reply_by_rule,
    scene_of,
    secrecy,
)
from keepsake.agent.surroundings import (
    AgentRef,
    Body,
    people_near,
    place_of,
    players_near,
    show_no_answer,
)
from keepsake.archive.records import COURTESY, Memory
from keepsake.books.persona import open_lines
from keepsake.errors import KeepsakeError, ModelError, ModelUnavailable
from keepsake.events.types import Thought
from keepsake.happening import ME, Person, Result, Speech
from keepsake.logs import Subsystem, get_logger
from keepsake.models.profiles import CHAT, DIALOGUE, SCRIPT, ModelProfile
from keepsake.models.queue import Outcome, Priority, Ticket
from keepsake.ports import Generation, GenerationRequest
from keepsake.prompt.sections import Costs, Rendered, costs_of
from keepsake.prompt.verbs import Command
from keepsake.tasks.answer import EMPTY, AnswerPart, PartKind
from keepsake.tasks.deed import deed_of, read_deed
from keepsake.tasks.talk import Talk, TalkPrompt
from keepsake.tasks.task import TRIES

log = get_logger(Subsystem.THOUGHTS)

MOST_LOOKUPS = 3
"""How many times a look-up may return its result to the model within one turn."""


class TurnDropped(Exception):
    """The turn ends without effect: the agent is gone, asleep or paused, or has no reason now."""


@dataclass(kw_only=True)
class Turn:
    """One thought of an agent, and its speech and deeds."""

    impulse: Impulse  # why it thinks
    agent: Body  # who thinks; looked up again after each wait
    ref: AgentRef
    tools: MemoryTools  # its memory
    actor: Actor  # executes its commands
    thoughts: ThoughtLog
    services: Runtime
    # called before sending: returns the current impulse; None if the reason has gone
    still_wanted: Callable[[], Impulse | None]
    pause: Alarm  # shows people that it thinks, until the first part of the answer

    context: TurnContext = UNPROMPTED  # the partner, and the audience
    dropped: bool = False  # whether it was cancelled
    spoke: bool = False  # whether it said something to others
    unanswered: bool = False  # whether a player gets no answer from a model
    found: SearchResult | None = None  # the search result of recall
    ticket: Ticket | None = None  # its place in the queue
    queued: float = 0.0  # when it entered the queue, in seconds of the timer
    talk: Talk | None = None  # the task for the model; None before the prompt is built
    # pieces of the answer as they come, then the outcome
    inbox: DeferredQueue[str | tuple[Outcome]] = field(default_factory=DeferredQueue)

    # the state of the current answer
    attempt: int = 1
    too_large: Costs | None = None  # the costs of a prompt over its budget
    sent: Sent | None = None  # the request; None until it is sent
    acts: list[Act] = field(default_factory=list)  # the parts that were done or refused
    did: bool = False  # whether any part was done
    parts: int = 0  # parts of the answer that were read, refused ones included
    refused: str = ""  # why the previous answer was refused
    fault: str = ""  # why words, or all deeds, were refused; else empty

    async def run(self) -> None:
        """Answer somebody, or act unprompted. The model sees the result of a look-up and goes on.

        Every exception is logged and suppressed, so that the agent can think again.
        """
        by_rules = False
        with suppress(KeepsakeError):  # the model call reports a profile that cannot be used
            by_rules = self.services.chat_profile() is None
        try:
            self.context = context_of(self.agent, self.impulse, self.tools.memory)
            if by_rules:
                await self._speak_by_rules()
                return
            for _ in range(1 + MOST_LOOKUPS):
                if self.context.answered:  # an earlier answer covered it already
                    raise TurnDropped
                self.found = await self._wait(recall_for_turn(self.agent, self.context, self.tools))
                await self._ask()
                if not any(act.command and act.command.verb in LOOKUPS for act in self.acts):
                    break
        except TurnDropped:
            if not self.dropped:
                self.end(DROPPED)
        except Exception as error:
            # A bug must not keep the agent from thinking again.
            log.error("The thought failed", agent=self.agent.key, exc_info=error)
            self.end("broke off", repr(error))

    def drop(self) -> None:
        """Cancel the turn. If an answer still arrives, it is dropped."""
        self.dropped = True
        if self.ticket is not None:
            self.ticket.cancelled = True
        self.end(DROPPED)

    async def _wait[T](self, result: Awaitable[T]) -> T:
        """Return a result. Raise TurnDropped if the turn is cancelled or the agent cannot act."""
        found = await result
        agent = self.ref.body()
        if self.dropped or agent is None or agent.db.paused or agent.db.asleep or agent.has_account:
            raise TurnDropped
        self.agent = agent
        return found

    # -- without a model

    async def _speak_by_rules(self) -> None:
        """Answer a person by rule. Without a model, an agent does nothing unprompted."""
        context = self.context
        memory = self.tools.memory
        if not context.partner:
            raise TurnDropped
        self.found = await self._wait(recall_for_turn(self.agent, context, self.tools))
        if (wanted := self.still_wanted()) is None:
            raise TurnDropped
        self.impulse = wanted
        words = reply_by_rule(self.agent, context, self.found, memory)
        await self._do(AnswerPart(PartKind.SPEECH, words), None)
        self.end("acted" if self.did else "refused")

    # -- with a model

    async def _ask(self) -> None:
        """Ask the model. If the first part is refused, ask once more and give the reason."""
        self.fault = ""
        for self.attempt in range(1, TRIES + 1):
            self.refused = self.fault
            self.fault = ""
            self.sent = None
            self.too_large = None
            self.acts = []
            self.did = False
            self.parts = 0
            await self._wait(self.tools.compactions.make_room())
            outcome = await self._read_answer()
            if self.too_large and self.attempt < TRIES and self.tools.compactions.no_room is None:
                continue  # its size is known now, so a compaction may make room
            if not (isinstance(outcome, Generation) or self.acts or self.fault):
                self._end_unanswered(outcome)
                return
            problem = self.fault or (str(outcome) if isinstance(outcome, ModelError) else "")
            self.end("acted" if self.did else "refused", problem)
            if self.did or not self.fault:
                return
        show_no_answer(self.agent, self.impulse)

    async def _read_answer(self) -> Outcome:
        """Ask the model, and do each part of the answer as soon as it is complete."""
        self.queued = self.services.seconds()
        self.inbox = DeferredQueue()
        priority = Priority[self.impulse.priority.upper()]
        inbox = self.inbox
        if priority is Priority.EVENT and not players_near(self.agent):
            priority = Priority.IDLE  # no player sees it, so it can wait
        key = f"agent-{self.ref.number}"
        try:
            self.ticket = self.services.gateway.submit(
                PROFILE, priority, key, self._request, lambda outcome: inbox.put((outcome,))
            )
        except KeepsakeError as error:
            return error if isinstance(error, ModelError) else ModelUnavailable(str(error))
        try:
            while isinstance(item := await self._wait(inbox.get()), str):
                assert self.talk is not None
                for part in self.talk.answer.feed(item):
                    await self._do(part, self.talk)
                if self.fault and not self.acts:
                    return None  # skip the rest: the model is asked again
            (outcome,) = item
            if isinstance(outcome, Generation) and self.talk is not None:
                await self._end_answer(outcome, self.talk)
            return outcome
        finally:
            self.ticket.cancelled = True  # for a turn that ended early; harmless after the end

    def _request(self, profile: ModelProfile) -> GenerationRequest | None:
        """Build the request when the queue reaches the turn; None cancels it."""
        agent = self.ref.body()
        memory = self.tools.memory
        now = self.services.clock.now()
        if agent is None or agent.location is None or agent.has_account:  # a builder plays it
            return None
        wanted = None if agent.db.paused or agent.db.asleep else self.still_wanted()
        if wanted is None:
            return None
        self.agent = agent
        self.impulse = wanted
        if profile.form == DIALOGUE and not self.context.partner:
            return None  # a dialogue model only answers people
        self.context = replace(self.context, seen=memory.newest)
        prompt, basis, budget = self._prompt(profile, self.found)
        costs = costs_of(prompt.rendered, self.services.tokens, budget)
        memory.memory.report_prompt(costs.used)
        if costs.used > budget:  # the server would cut it at an arbitrary place
            self.too_large = costs
            return None
        post = self.services.post
        inbox = self.inbox
        request = replace(
            profile.request(prompt.question),
            cache_key=f"agent-{self.ref.number}",
            on_text=lambda piece: post(lambda: inbox.put(piece)),
        )
        wait = self.services.seconds() - self.queued
        self.sent = self.thoughts.sent = Sent(
            now, wanted, prompt.rendered, request, costs, wait, basis
        )
        return request

    def _prompt(
        self, profile: ModelProfile, found: SearchResult | None, extra: Memory | None = None
    ) -> tuple[TalkPrompt, Mapping[str, Any], int]:
        """Return the prompt for a model, the event fields it is made from, and its token budget."""
        services = self.services
        budget = profile.prompt_tokens
        now = services.clock.now()
        prompts = services.prompts
        tokens = services.tokens
        scene, basis = scene_of(self.agent, self.context, self.tools, found, now, extra=extra)
        if profile.form != CHAT:  # the other forms of prompt have no rule about secrets
            scene = replace(scene, persona=" ".join(open_lines(scene.persona)))
        if profile.form == SCRIPT:
            budget = min(services.compaction.current.budget, budget)
            profile = replace(profile, prompt_tokens=budget)
        self.talk = Talk(
            scene,
            prompts["talk"].current,
            prompts["act"].current,
            count=lambda texts: sum(tokens.each(texts)),
        )
        return self.talk.prompt(profile, self.refused), basis, budget

    async def _end_answer(self, answer: Generation, talk: Talk) -> None:
        """Process the rest of the answer: an unfinished line, an unstreamed text, tool calls."""
        if self.sent is not None:
            self.sent.answer = answer
            self.services.tokens.heard(self.sent.costs.used, answer.prompt_tokens)
        reader = talk.answer
        rest = reader.feed("\n" if reader.heard else f"{answer.text}\n")
        deeds = [AnswerPart(PartKind.DEED, deed_of(call)) for call in answer.tool_calls]
        for part in [*rest, *deeds]:
            await self._do(part, talk)
        if self.acts and not self.did:
            self.fault = self.fault or self.acts[-1].refusal
        if not self.parts:
            self.fault = self.fault or EMPTY
            self.thoughts.guard(self.impulse, "refused", answer.text, self.fault)
        elif reader.altered:
            why = "labels and marks are not spoken"
            self.thoughts.guard(self.impulse, "altered", "\n".join(reader.altered), why)

    def _allowed(self, part: AnswerPart) -> AnswerPart | None:
        """Return the part as the game's hook allows or changes it; None if the hook vetoes it."""
        hook = "at_agent_answer"
        found: AnswerPart | None = call_hook(self.agent, hook, AnswerPart | None, part, part)
        by = f"{type(self.agent).__name__}.{hook}"
        if found is None:
            self.thoughts.guard(self.impulse, "refused", part.text, f"{by} vetoed it")
            self.acts.append(Act(None, "That may not be said or done here"))
        elif found != part:
            self.thoughts.guard(self.impulse, "altered", part.text, f"{by} changed it")
        return found

    async def _do(self, part: AnswerPart, talk: Talk | None) -> None:
        """Say, emote or execute a part, as a player could; ``talk`` is None for a reply by rule."""
        if self.fault and not self.acts:
            return
        self.parts += 1
        self.pause.cancel()
        if (allowed := self._allowed(part)) is None:
            return
        part = allowed
        agent = self.agent
        context = self.context
        whispered, _ = secrecy(agent, context, self.tools.memory.private)
        if part.kind is PartKind.DEED:
            act = self._execute_deed(part, talk)
        elif part.kind is PartKind.EMOTE:
            act = Act(None, "A gesture would show others what was whispered")
            if not whispered or len(people_near(agent)) <= 1:
                gesture = Command("emote", part.text, part.reason, words=part.text)
                act = self.actor.do(agent, gesture, seen=context.seen)
        elif fault := talk.fault(part.text) if talk else "":
            op = "dropped" if self.acts else "refused"
            self.thoughts.guard(self.impulse, op, part.text, fault)
            self.fault = fault
            return
        else:
            act = self.actor.speak(
                agent,
                part.text,
                context.partner,
                whispered=whispered,
                event="" if talk else COURTESY,
                reason=part.reason,
                seen=context.seen,
            )
        self.acts.append(act)
        if act.command is None:
            self.thoughts.guard(self.impulse, "dropped", part.text, act.refusal)
            return
        self.did = True
        self.spoke = self.spoke or act.command.verb in SPEECH
        if act.result is not None:
            await self._wait(act.result)  # the act itself may have cancelled the turn

    def _execute_deed(self, part: AnswerPart, talk: Talk | None) -> Act:
        """Execute a line of the answer that begins with ``>``."""
        agent = self.agent
        context = self.context
        memory = self.tools.memory
        _, confided = secrecy(agent, context, memory.private)
        offered = available_verbs(agent, context, memory.private)
        command = read_deed(part.text, *offered)
        if isinstance(command, Command) and command.verb == "talk":
            if talk and (fault := talk.fault(command.words)):
                return Act(None, fault)
            why = command.reason
            return self.actor.speak(agent, command.words, command.to, reason=why, seen=context.seen)
        if isinstance(command, Command):
            return self.actor.do(agent, command, seen=context.seen, confided=confided)
        verb = part.text.partition(" ")[0]
        why = "notes may not contain whispered words"
        why = why if verb in WRITES else "that cannot be done now"
        told = f"You tried to {verb}: {why}" if confided else command
        memory.remember(Result(verb=verb, done=False, shown=told), place=place_of(agent))
        return Act(None, told)

    # -- without an answer

    def _end_unanswered(self, error: Outcome) -> None:
        """End a turn without an answer: its prompt is too large, or no model answered."""
        if costs := self.too_large:
            needs = f"Its prompt needs {costs.used:,} tokens and may have {costs.budget:,}"
            largest = max(costs.sections, key=lambda name: costs.sections[name])
            self.end(
                TOO_LARGE,
                f"{self.tools.compactions.no_room or needs}. Its largest part is {largest!r}. "
                "Shorten that, or raise context_tokens in memory_compaction.md",
            )
        elif isinstance(error, ModelError):
            self.unanswered = self.impulse.priority == "player"
            self.end("no answer", str(error))
        else:
            raise TurnDropped
        show_no_answer(self.agent, self.impulse)

    # -- for builders and for the log

    def warm(self) -> None:
        """Send a small model the start of the next prompt ahead, as reading it takes seconds."""
        key = f"agent-{self.ref.number}"

        def request(profile: ModelProfile) -> GenerationRequest | None:
            agent = self.ref.body()
            gone = agent is None or agent.location is None or agent.db.paused or agent.db.asleep
            if gone or profile.form != DIALOGUE:
                return None
            self.context = context_of(self.agent, self.impulse, self.tools.memory)
            prompt, *_ = self._prompt(profile, None, self._supposed_memory("…"))
            return replace(profile.request(prompt.question), cache_key=key, max_tokens=1)

        def ended(outcome: Outcome) -> None:
            if isinstance(outcome, KeepsakeError):
                failed(outcome)

        def failed(error: KeepsakeError) -> None:
            told = "The warm-up failed"
            name = self.thoughts.name
            log.warning(told, agent=name, subsystem=Subsystem.WARM_UP, exc_info=error)

        try:
            self.services.gateway.submit(PROFILE, Priority.EVENT, key, request, ended)
        except KeepsakeError as error:
            failed(error)

    async def preview(self, words: str) -> tuple[Rendered, int]:
        """Return the prompt as if the partner had just said ``words``, and its token budget."""
        self.context = context_of(self.agent, self.impulse, self.tools.memory)
        if said := self._supposed_memory(words):
            self.context = replace(self.context, words=words)
        found = await recall_for_turn(self.agent, self.context, self.tools, by="builder")
        profile = self.services.gateway.model(PROFILE)[0].resolved()
        prompt, _, budget = self._prompt(profile, found, said)
        return prompt.rendered, budget

    def _supposed_memory(self, words: str) -> Memory | None:
        """Return the memory of the partner saying ``words``; None if there is no partner."""
        if not (partner := self.context.partner):
            return None
        speech = Speech(
            speaker=Person(self.impulse.source, self.impulse.source_id),
            words=words,
            to=(ME,),
            shown=f'{partner} says to you, "{words}"',
        )
        number = self.tools.memory.newest + 1
        return Memory(number, self.services.clock.now(), speech, place=place_of(self.agent))

    def end(self, outcome: str, problem: str = "") -> None:
        """Log the end of the turn, or of one of its answers."""
        impulse = self.impulse
        sent = self.sent
        now = self.services.clock.now()
        answer, costs = (sent.answer, sent.costs) if sent else (None, self.too_large)
        done = [(act.command, act.memory) for act in self.acts if act.command is not None]
        refusals = [act.refusal for act in self.acts if act.refusal]
        memories = [memory for _, memory in done if memory]
        spent = (now - sent.time).total_seconds() if sent else 0.0
        event = Thought(
            agent=self.thoughts.name,
            trigger=impulse.kind,
            priority=impulse.priority,
            outcome=outcome,
            source=impulse.source,
            cause=impulse.memory,
            attempt=self.attempt,
            prompt=sent.request.prompt if sent else "",
            sections=costs.sections if costs else {},
            budget=costs.budget if costs else 0,
            prompt_tokens=answer.prompt_tokens if answer else 0,
            cached_tokens=answer.cached_tokens if answer else 0,
            completion_tokens=answer.completion_tokens if answer else 0,
            wait=round(sent.wait, 6) if sent else 0.0,
            # A simulated clock stands still while a model answers: use the model's own time.
            latency=round(max(spent, answer.seconds if answer else 0.0), 6),
            model=answer.model if answer else "",
            seed=sent.request.seed if sent else None,
            temperature=(sent.request.temperature or 0.0) if sent else 0.0,
            answer=answer.text if answer else "",
            command="; ".join(command.line for command, _ in done) or None,
            reason=next((command.reason for command, _ in done if command.reason), ""),
            problem=problem or next(iter(refusals), ""),
            memory=done[0][1] if done else 0,
            memories=memories,
            **(sent.basis if sent else {}),
        )
        self.thoughts.ended(event, refusals)
