"""A turn of an agent: words and deeds together, each done as soon as it is written.

A thought waits in the model queue. Its prompt is built when its turn comes, and its answer is
applied to the agent as it is then, if it still is. Runs on the reactor thread throughout.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

from twisted.internet.defer import DeferredQueue

from keepsake.agent.acting import LOOKUPS, SPEECH, Act, Actor
from keepsake.agent.agent_log import DROPPED, TOO_LARGE, Sent, ThoughtLog, log, of_game
from keepsake.agent.attention import Impulse
from keepsake.agent.memory.keeper import MemoryTools
from keepsake.agent.memory.related import SearchResult
from keepsake.agent.runtime import PROFILE, Alarm, Runtime
from keepsake.agent.scene import (
    UNASKED,
    WRITES,
    TurnContext,
    choices,
    context_of,
    relate,
    scene_of,
    secrecy,
    words_by_rule,
)
from keepsake.agent.surroundings import Body, Life, people_near, place_of, players_near, show_absent
from keepsake.archive.records import COURTESY, Memory, MemoryKind
from keepsake.books.persona import open_lines
from keepsake.errors import KeepsakeError, ModelError, ModelUnavailable
from keepsake.events.types import Thought
from keepsake.models.profiles import CHAT, DIALOGUE, SCRIPT, ModelProfile
from keepsake.models.queue import Outcome, Priority, Ticket
from keepsake.ports import Generation, GenerationRequest
from keepsake.prompt.sections import Costs, Rendered, costs_of
from keepsake.prompt.verbs import Command
from keepsake.tasks.answer import EMPTY, AnswerPart, PartKind
from keepsake.tasks.deed import deed_of, read_deed
from keepsake.tasks.talk import Talk, TalkPrompt
from keepsake.tasks.task import TRIES

MOST_LOOKUPS = 3
"""How often what a look-up brought may come back in the same turn."""


class TurnDropped(Exception):
    """Nothing comes of the turn: whose it was is gone, asleep, paused, or thinks otherwise."""


@dataclass(kw_only=True)
class Turn:
    """One thought of an agent, and what comes of it: words and deeds together."""

    impulse: Impulse  # why it thinks
    agent: Body  # who thinks, as it is now
    life: Life
    keeper: MemoryTools  # what it remembers
    actor: Actor  # its hands and its voice
    thoughts: ThoughtLog
    services: Runtime
    # the impulse as it is when its turn has come; None if its cause is gone
    still_wanted: Callable[[], Impulse | None]
    pause: Alarm  # tells people that it thinks, until a part of the answer has come

    context: TurnContext = UNASKED  # whom it answers, and who hears it
    dropped: bool = False  # whether it was broken off
    spoke: bool = False  # whether others heard words of it
    unanswered: bool = False  # whether no model has answered a player
    found: SearchResult | None = None  # what recall brought for it
    ticket: Ticket | None = None  # its place in the queue
    queued: float = 0.0  # since when it has it, in seconds of the timer
    talk: Talk | None = None  # what was asked; None before that
    # pieces of the answer as they come, then how it ended
    inbox: DeferredQueue[str | tuple[Outcome]] = field(default_factory=DeferredQueue)

    # what has come of the newest answer
    attempt: int = 1
    too_large: Costs | None = None  # what its prompt needs, where that is more than it may have
    sent: Sent | None = None  # what was sent, once its turn had come
    acts: list[Act] = field(default_factory=list)  # what was done, or refused, of the answer
    did: bool = False  # whether anything was
    parts: int = 0  # parts of the answer that were read, refused ones included
    refused: str = ""  # why the last answer was
    fault: str = ""  # why words were refused, or all that was tried; empty if none was

    async def run(self) -> None:
        """Answer somebody, or act of one's own accord; what a look-up brings comes back.

        Whatever breaks is logged: the agent must be able to think again.
        """
        by_rules = False
        with suppress(KeepsakeError):  # a profile that cannot be used: the call itself reports that
            by_rules = self.services.chat_profile() is None
        try:
            self.context = context_of(self.agent, self.impulse, self.keeper.memory)
            if by_rules:
                await self._speak_by_rules()
                return
            for _ in range(1 + MOST_LOOKUPS):
                if self.context.answered:  # with what was said before it, in one answer
                    raise TurnDropped
                self.found = await self._wait(relate(self.agent, self.context, self.keeper))
                await self._ask()
                if not any(act.command and act.command.verb in LOOKUPS for act in self.acts):
                    break
        except TurnDropped:
            if not self.dropped:
                self.end(DROPPED)
        except Exception as error:
            log(f"[Error] {self.agent.key}: The thought broke off: {error!r}")
            self.end("broke off", repr(error))

    def drop(self) -> None:
        """Break it off: an answer that still comes is dropped."""
        self.dropped = True
        if self.ticket is not None:
            self.ticket.cancelled = True
        self.end(DROPPED)

    async def _wait[T](self, result: Awaitable[T]) -> T:
        """Wait for it and go on, unless the turn was broken off or the agent may no more act."""
        found = await result
        agent = self.life.body()
        if self.dropped or agent is None or agent.db.paused or agent.db.asleep or agent.has_account:
            raise TurnDropped
        self.agent = agent
        return found

    # -- without a model

    async def _speak_by_rules(self) -> None:
        """Say something fitting without a model; of its own accord it does nothing."""
        context, memory = self.context, self.keeper.memory
        if not context.partner:
            raise TurnDropped
        self.found = await self._wait(relate(self.agent, context, self.keeper))
        if (wanted := self.still_wanted()) is None:
            raise TurnDropped
        self.impulse = wanted
        words = words_by_rule(self.agent, context, self.found, memory)
        await self._do(AnswerPart(PartKind.SPEECH, words), None)
        self.end("acted" if self.did else "refused")

    # -- with a model

    async def _ask(self) -> None:
        """Ask the model; a first part that is refused is asked for once more, with the reason."""
        self.fault = ""
        for self.attempt in range(1, TRIES + 1):
            self.refused, self.fault = self.fault, ""
            self.sent, self.too_large, self.acts = None, None, []
            self.did, self.parts = False, 0
            await self._wait(self.keeper.compactions.make_room())
            outcome = await self._hear()
            if self.too_large and self.attempt < TRIES and self.keeper.compactions.no_room is None:
                continue  # now that its weight is known there may be room to make
            if not (isinstance(outcome, Generation) or self.acts or self.fault):
                self._tell_unanswered(outcome)
                return
            problem = self.fault or (str(outcome) if isinstance(outcome, ModelError) else "")
            self.end("acted" if self.did else "refused", problem)
            if self.did or not self.fault:
                return
        show_absent(self.agent, self.impulse)

    async def _hear(self) -> Outcome:
        """Have the model asked, and each part done as soon as it is whole."""
        self.queued, self.inbox = self.services.seconds(), DeferredQueue()
        priority, inbox = Priority[self.impulse.priority.upper()], self.inbox
        if priority is Priority.EVENT and not players_near(self.agent):
            priority = Priority.IDLE  # what no player sees can wait
        key = f"agent-{self.life.number}"
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
                    return None  # the rest is not wanted: it is asked for anew
            (outcome,) = item
            if isinstance(outcome, Generation) and self.talk is not None:
                await self._end_answer(outcome, self.talk)
            return outcome
        finally:
            self.ticket.cancelled = True  # where it was broken off; too late does no harm

    def _request(self, profile: ModelProfile) -> GenerationRequest | None:
        """The request of a turn whose moment has come; None if it is not to be sent."""
        agent, memory, now = self.life.body(), self.keeper.memory, self.services.clock.now()
        if agent is None or agent.location is None or agent.has_account:  # which a builder plays
            return None
        wanted = None if agent.db.paused or agent.db.asleep else self.still_wanted()
        if wanted is None:
            return None
        self.agent, self.impulse = agent, wanted
        if profile.form == DIALOGUE and not self.context.partner:
            return None  # it answers others, and does nothing of its own accord
        self.context = replace(self.context, seen=memory.newest)
        prompt, basis, budget = self._prompt(profile, self.found)
        costs = costs_of(prompt.rendered, self.services.tokens, budget)
        memory.memory.weigh(costs.used)
        if costs.used > budget:  # a server would cut it where nobody chose
            self.too_large = costs
            return None
        post, inbox = self.services.post, self.inbox
        request = replace(
            profile.request(prompt.question),
            cache_key=f"agent-{self.life.number}",
            on_text=lambda piece: post(lambda: inbox.put(piece)),
        )
        wait = self.services.seconds() - self.queued
        self.sent = self.thoughts.sent = Sent(
            *(now, wanted, prompt.rendered, request, costs, wait, basis)
        )
        return request

    def _prompt(
        self, profile: ModelProfile, found: SearchResult | None, extra: Memory | None = None
    ) -> tuple[TalkPrompt, Mapping[str, Any], int]:
        """Its prompt for a model, what that is made from, and the tokens that it may have."""
        services, budget = self.services, profile.prompt_tokens
        now, prompts, tokens = services.clock.now(), services.prompts, services.tokens
        scene, basis = scene_of(self.agent, self.context, self.keeper, found, now, extra=extra)
        if profile.form != CHAT:  # it is not told to keep a secret
            scene = replace(scene, persona=" ".join(open_lines(scene.persona)))
        if profile.form == SCRIPT:
            budget = min(services.compaction.current.budget, budget)
            profile = replace(profile, prompt_tokens=budget)
        self.talk = Talk(
            *(scene, prompts["talk"].current, prompts["act"].current),
            count=lambda texts: sum(tokens.each(texts)),
        )
        return self.talk.prompt(profile, self.refused), basis, budget

    async def _end_answer(self, answer: Generation, talk: Talk) -> None:
        """What was still missing its end, an answer that came in one piece, and tool calls."""
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
        """The part as the game lets it be said or done; None where it vetoes it."""
        hook = "at_agent_answer"
        found: AnswerPart | None = of_game(self.agent, hook, AnswerPart | None, part, part)
        by = f"{type(self.agent).__name__}.{hook}"
        if found is None:
            self.thoughts.guard(self.impulse, "refused", part.text, f"{by} vetoed it")
            self.acts.append(Act(None, "That may not be said or done here"))
        elif found != part:
            self.thoughts.guard(self.impulse, "altered", part.text, f"{by} changed it")
        return found

    async def _do(self, part: AnswerPart, talk: Talk | None) -> None:
        """Say it, play it or do it, as a player may; without ``talk`` rules have chosen it."""
        if self.fault and not self.acts:
            return
        self.parts += 1
        self.pause.cancel()
        if (allowed := self._allowed(part)) is None:
            return
        part = allowed
        agent, context = self.agent, self.context
        whispered, _ = secrecy(agent, context, self.keeper.memory.private)
        if part.kind is PartKind.DEED:
            act = self._deed(part)
        elif part.kind is PartKind.EMOTE:
            act = Act(None, "A gesture would show others what was whispered")
            if not whispered or len(people_near(agent)) <= 1:
                gesture = Command("emote", part.text, part.reason)
                act = self.actor.do(agent, gesture, seen=context.seen)
        elif fault := talk.fault(part.text) if talk else "":
            op = "dropped" if self.acts else "refused"
            self.thoughts.guard(self.impulse, op, part.text, fault)
            self.fault = fault
            return
        else:
            act = self.actor.speak(
                *(agent, part.text, context.partner),
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
            await self._wait(act.result)  # its own act may have broken it off

    def _deed(self, part: AnswerPart) -> Act:
        """Do what a line with ``>`` says."""
        agent, context, memory = self.agent, self.context, self.keeper.memory
        _, confided = secrecy(agent, context, memory.private)
        offered = choices(agent, context, memory.private)
        command = read_deed(part.text, *offered)
        if isinstance(command, Command):
            return self.actor.do(agent, command, seen=context.seen, confided=confided)
        verb, why = part.text.partition(" ")[0], "that cannot be done now"
        if verb in WRITES:
            why = "notes may not contain whispered words"
        told = f"You tried to {verb}: {why}" if confided else command
        memory.remember(told, MemoryKind.RESULT, place=place_of(agent))
        return Act(None, told)

    # -- without an answer

    def _tell_unanswered(self, error: Outcome) -> None:
        """No model has answered, or nobody needed it any more."""
        if costs := self.too_large:
            needs = f"Its prompt needs {costs.used:,} tokens and may have {costs.budget:,}"
            largest = max(costs.sections, key=lambda name: costs.sections[name])
            self.end(
                TOO_LARGE,
                f"{self.keeper.compactions.no_room or needs}. Its largest part is {largest!r}. "
                "Shorten that, or raise context_tokens in memory_compaction.md",
            )
        elif isinstance(error, ModelError):
            self.unanswered = self.impulse.priority == "player"
            self.end("no answer", str(error))
        else:
            raise TurnDropped
        show_absent(self.agent, self.impulse)

    # -- for builders and for the log

    def warm(self) -> None:
        """Have a small model read ahead what its next prompt begins with: that takes it seconds."""
        key = f"agent-{self.life.number}"

        def request(profile: ModelProfile) -> GenerationRequest | None:
            agent = self.life.body()
            gone = agent is None or agent.location is None or agent.db.paused or agent.db.asleep
            if gone or profile.form != DIALOGUE:
                return None
            self.context = context_of(self.agent, self.impulse, self.keeper.memory)
            prompt, *_ = self._prompt(profile, None, self._as_if("…"))
            return replace(profile.request(prompt.question), cache_key=key, max_tokens=1)

        with suppress(KeepsakeError):  # no model; who is answered next is told so
            self.services.gateway.submit(PROFILE, Priority.EVENT, key, request, lambda _: None)

    async def preview(self, words: str) -> tuple[Rendered, int]:
        """The prompt of the turn, had whom it answers just said ``words``, and its most tokens."""
        self.context = context_of(self.agent, self.impulse, self.keeper.memory)
        if said := self._as_if(words):
            self.context = replace(self.context, words=words)
        found = await relate(self.agent, self.context, self.keeper, by="builder")
        profile = self.services.gateway.model(PROFILE)[0].suited()
        prompt, _, budget = self._prompt(profile, found, said)
        return prompt.rendered, budget

    def _as_if(self, words: str) -> Memory | None:
        """The memory that there would be had whom it answers just said that."""
        if not (partner := self.context.partner):
            return None
        return Memory(
            *(self.keeper.memory.newest + 1, self.services.clock.now(), MemoryKind.PERCEPTION),
            f'{partner} says to you, "{words}"',
            place=place_of(self.agent),
            source=self.impulse.source,
            source_id=self.impulse.source_id,
        )

    def end(self, outcome: str, problem: str = "") -> None:
        """Tell the logs of the turn, which has ended, or of one of its answers."""
        impulse, sent, now = self.impulse, self.sent, self.services.clock.now()
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
            # On a simulated clock no time passes while a model answers: then what it says itself.
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
