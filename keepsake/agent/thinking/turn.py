"""A turn of an agent: words and deeds together, each done as soon as it is written.

A thought waits in the model queue. Its prompt is built when its turn comes, and its answer is
applied to the agent as it is then, if it still is. Runs on the reactor thread throughout.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import replace
from typing import Any

from twisted.internet.defer import Deferred, DeferredQueue

from keepsake.agent.agent_log import warn
from keepsake.agent.attention import Impulse
from keepsake.agent.memory.remembering import Remembering
from keepsake.agent.runtime import Runtime
from keepsake.agent.surroundings import (
    Body,
    Life,
    is_agent,
    people_near,
    place_of,
    players_near,
    show,
)
from keepsake.agent.thinking.acting import LOOKUPS, SPEECH, Act, Actor
from keepsake.agent.thinking.scene import PROFILE, WRITES, SceneMaker, words_by_rule
from keepsake.agent.thinking.thought_log import DROPPED, Sent, ThoughtLog, Turn
from keepsake.archive.records import COURTESY, MemoryKind
from keepsake.errors import KeepsakeError, ModelError, ModelUnavailable
from keepsake.models.profiles import DIALOGUE, ModelProfile
from keepsake.models.queue import Outcome, Priority
from keepsake.ports import Generation, GenerationRequest
from keepsake.prompt.sections import Costs, costs_of
from keepsake.prompt.verbs import Command
from keepsake.tasks.answer import EMPTY, AnswerPart, PartKind
from keepsake.tasks.deed import deed_of, read_deed
from keepsake.tasks.talk import Talk
from keepsake.tasks.task import TRIES

MOST_LOOKUPS = 3
"""How often what a look-up brought may come back in the same turn."""
_PRIORITIES = {"player": Priority.PLAYER, "event": Priority.EVENT, "idle": Priority.IDLE}
_CURES = {
    "who it is": "Shorten its profile: @agent/profile {name}",
    "pinned": "Unpin something: @pin/remove {name} = <number>",
    "noticed": "Take lines out of noticed.md in its folder",
    "situation": "Shorten the description of the room",
    "window": "Look at @compaction {name} and agents.log for why nothing was summarised",
}
_ANY_CURE = "Raise context_tokens in memory_compaction.md, if the model can look at more"


class TurnDropped(Exception):
    """Nothing comes of the turn: whose it was is gone, asleep, paused, or thinks otherwise."""


class Turns:
    """Takes the turns of one agent, one at a time.

    Args:
        life: Whose turns they are.
        mind: What it remembers.
        actor: Its hands and its voice.
        thoughts: Where its thoughts are reported.
        runtime: The models, and what else all agents run on.
        still_wanted: The impulse as it is when its turn has come; None if its cause is gone.
        heard: Called when a part of an answer has come.

    Attributes:
        scenes: What its prompts are made from.
        missed: Impulses of players who got no answer, as no model gave one, by who they are.
    """

    def __init__(
        self,
        life: Life,
        mind: Remembering,
        actor: Actor,
        thoughts: ThoughtLog,
        runtime: Runtime,
        *,
        still_wanted: Callable[[], Impulse | None],
        heard: Callable[[], None],
    ) -> None:
        self.scenes = SceneMaker(mind, runtime)
        self.missed: dict[str, Impulse] = {}
        self._life, self._memory, self._keeper = life, mind.memory, mind.keeper
        self._actor, self._log, self._runtime = actor, thoughts, runtime
        self._still_wanted, self._heard = still_wanted, heard
        self._key, self._heaviest = f"agent-{life.number}", ""

    async def take(self, turn: Turn) -> Act | None:
        """Answer somebody, or act of one's own accord; what came of it, None for nothing."""
        with suppress(KeepsakeError):  # there is no model to ask, which is told when it is asked
            profile = self.scenes.profile()
            turn.rerouted = profile.form == DIALOGUE and profile.is_stopgap
        try:
            act = None if turn.rerouted else await self._by_model(turn)
            return await self._by_rules(turn) if turn.rerouted else act
        except TurnDropped:
            if not turn.dropped:
                self._log.ended(turn, DROPPED)
            return None

    async def _wait[T](self, turn: Turn, result: Awaitable[T]) -> T:
        """Wait for it, and go on with the turn.

        Raises:
            TurnDropped: It was broken off meanwhile, or the agent may not act any more.
        """
        found = await result
        agent = self._life.body()
        if turn.dropped or agent is None or agent.db.paused or agent.db.asleep:
            raise TurnDropped
        turn.agent = agent
        return found

    # -- without a model

    async def _by_rules(self, turn: Turn) -> Act:
        """Say something fitting without a model; of its own accord it does nothing."""
        turn.context = context = self.scenes.context_of(turn.agent, turn.impulse)
        if not context.partner:
            raise TurnDropped
        turn.found = await self._wait(turn, self.scenes.relate(turn.agent, context))
        if (wanted := self._still_wanted()) is None:
            raise TurnDropped
        turn.impulse, random = wanted, self._runtime.random
        words = words_by_rule(turn.agent, context, turn.found, self._memory, random)
        whispered = self.scenes.is_whispered(turn.agent, context)
        act = self._actor.speak(
            turn.agent, words, context.partner, whispered=whispered, event=COURTESY
        )
        if act.result is not None:
            await act.result
        turn.acts = [act]
        self._log.ended(turn, "acted" if turn.did else "refused")
        return act

    # -- with a model

    async def _by_model(self, turn: Turn) -> Act | None:
        """Have a model answer; what a look-up brings comes back in the same turn."""
        last: Act | None = None
        turn.context = self.scenes.context_of(turn.agent, turn.impulse)
        if turn.context.answered:  # with what was said before it, in one answer
            raise TurnDropped
        for _ in range(1 + MOST_LOOKUPS):
            await self._make_room(turn)
            turn.found = await self._wait(turn, self.scenes.relate(turn.agent, turn.context))
            await self._ask(turn)
            last = next(
                (act for act in turn.acts if act.verb in SPEECH),
                turn.acts[-1] if turn.acts else last,
            )
            if not any(act.verb in LOOKUPS for act in turn.acts):
                break
        return last

    async def _make_room(self, turn: Turn) -> None:
        """Have the memory compacted first if it is over its emergency mark."""
        made: Deferred[None] = Deferred()
        self._memory.make_room(lambda: made.callback(None))
        await self._wait(turn, made)

    async def _ask(self, turn: Turn) -> None:
        """Ask the model; a first part that is refused is asked for once more, with the reason."""
        for turn.attempt in range(1, TRIES + 1):
            refused, turn.fault = turn.fault if turn.attempt > 1 else "", ""
            turn.sent, turn.too_large, turn.acts, turn.parts = None, None, [], 0
            outcome = await self._hear(turn, refused)
            if turn.too_large and turn.attempt < TRIES and self._memory.no_room is None:
                await self._make_room(turn)  # now that its weight is known
                continue
            if not (isinstance(outcome, Generation) or turn.acts or turn.fault):
                self._unanswered(turn, outcome)
                return
            problem = turn.fault or (str(outcome) if isinstance(outcome, ModelError) else "")
            self._log.ended(turn, "acted" if turn.did else "refused", problem)
            if turn.did or not turn.fault:
                break
        self.missed.pop(turn.impulse.key, None)
        if turn.fault and not turn.did:
            show_absent(turn.agent, turn.impulse)

    async def _hear(self, turn: Turn, refused: str) -> Outcome:
        """Have the model asked, and each part done as soon as it is whole."""
        inbox: DeferredQueue[str | tuple[Outcome]] = DeferredQueue()

        def hear(piece: str) -> None:
            self._runtime.post(lambda: inbox.put(piece))

        def build(profile: ModelProfile) -> GenerationRequest | None:
            request = self._request(turn, profile, refused)
            return request and replace(request, on_text=hear)

        turn.queued, priority = self._runtime.seconds(), _PRIORITIES[turn.impulse.priority]
        if priority is Priority.EVENT and not players_near(turn.agent):
            priority = Priority.IDLE  # what no player sees can wait
        try:
            turn.ticket = self._runtime.gateway.submit(
                PROFILE, priority, self._key, build, lambda outcome: inbox.put((outcome,))
            )
        except KeepsakeError as error:
            return error if isinstance(error, ModelError) else ModelUnavailable(str(error))
        try:
            while isinstance(item := await self._wait(turn, inbox.get()), str):
                assert turn.talk is not None
                for part in turn.talk.answer.feed(item):
                    await self._part(turn, turn.talk, part)
                if turn.fault and not turn.acts:
                    return None  # the rest is not wanted: it is asked for anew
            (outcome,) = item
            if isinstance(outcome, Generation) and turn.talk is not None:
                await self._end_answer(turn, turn.talk, outcome)
            return outcome
        finally:
            turn.ticket.cancel()  # where it was broken off; too late does no harm

    def _request(self, turn: Turn, profile: ModelProfile, refused: str) -> GenerationRequest | None:
        """The request of a turn whose moment has come; None if it is not to be sent."""
        agent, runtime = self._life.body(), self._runtime
        gone = agent is None or agent.location is None or agent.db.paused or agent.db.asleep
        wanted = None if gone else self._still_wanted()
        if agent is None or wanted is None:
            return None
        turn.agent, turn.impulse = agent, wanted
        if profile.form == DIALOGUE and (profile.is_stopgap or not turn.context.partner):
            turn.rerouted = True
            return None
        turn.context = replace(turn.context, seen=self._memory.newest)
        turn.talk, basis = self.scenes.talk(agent, turn.context, turn.found)
        profile = self.scenes.sized(profile)
        prompt, budget = turn.talk.prompt(profile, refused), profile.prompt_tokens
        costs = costs_of(prompt.rendered, runtime.tokens, budget)
        load = self._memory.memory.load()
        self._memory.memory.weigh(max(costs.used - load.summaries - load.window, 0))
        if costs.used > budget:  # a server would cut it where nobody chose
            turn.too_large = costs
            return None
        self._heaviest = ""
        self._keeper.thought_over()
        request, now = profile.request_for(prompt.question, cache_key=self._key), runtime.seconds()
        turn.sent = self._log.sent = Sent(
            *(runtime.clock.now(), turn.impulse, prompt.rendered, request, costs),
            *(now - turn.queued, now, basis),
        )
        return request

    async def _end_answer(self, turn: Turn, talk: Talk, answer: Generation) -> None:
        """What was still missing its end, an answer that came in one piece, and tool calls."""
        self._log.heard(turn, answer)
        reader = talk.answer
        rest = [] if reader.heard else reader.feed(f"{answer.text}\n")
        deeds = [AnswerPart(PartKind.DEED, deed_of(call)) for call in answer.tool_calls]
        for part in [*rest, *reader.end(), *deeds]:
            await self._part(turn, talk, part)
        if turn.acts and not turn.did:
            turn.fault = turn.fault or turn.acts[-1].refusal
        if not turn.parts:
            turn.fault = turn.fault or EMPTY
            self._log.guard(turn, "refused", answer.text, turn.fault)
        elif reader.altered:
            why = "labels and marks are not spoken"
            self._log.guard(turn, "altered", "\n".join(reader.altered), why)

    async def _part(self, turn: Turn, talk: Talk, part: AnswerPart) -> None:
        """Do one part, unless a guard refuses it."""
        if turn.fault and not turn.acts:
            return
        turn.parts += 1
        self._heard()
        if part.kind is PartKind.SPEECH and (fault := talk.fault(part.text)):
            self._log.guard(turn, "dropped" if turn.acts else "refused", part.text, fault)
            turn.fault = fault
            return
        act = self._perform(turn, part)
        turn.acts.append(act)
        if act.result is not None:
            await self._wait(turn, act.result)  # its own act may have broken it off
        if act.command is None:
            self._log.guard(turn, "dropped", part.text, act.refusal)

    def _perform(self, turn: Turn, part: AnswerPart) -> Act:
        """Say it, play it or do it, by the rules that bind a player."""
        agent, context, seen = turn.agent, turn.context, turn.context.seen
        whispered = self.scenes.is_whispered(agent, context)
        if part.kind is PartKind.SPEECH:
            to, why = context.partner, part.reason
            return self._actor.speak(
                agent, part.text, to, whispered=whispered, reason=why, seen=seen
            )
        if part.kind is PartKind.EMOTE:
            if whispered and len(people_near(agent)) > 1:
                return Act(None, "A gesture would show others what was whispered")
            return self._actor.do(agent, Command("emote", part.text, part.reason), seen=seen)
        command = read_deed(part.text, *self.scenes.choices(agent, context))
        confided = self.scenes.is_confided(context)
        if isinstance(command, Command):
            return self._actor.do(agent, command, seen=seen, confided=confided)
        verb, why = part.text.partition(" ")[0], "that cannot be done now"
        if verb in WRITES:
            why = "nothing of what was whispered is written down"
        told = f"You tried to {verb}: {why}" if confided else command
        self._memory.remember(told, MemoryKind.RESULT, place=place_of(agent))
        return Act(None, told)

    # -- without an answer

    def _unanswered(self, turn: Turn, error: Outcome) -> None:
        """No model has answered, or nobody needed it any more."""
        agent, impulse = turn.agent, turn.impulse
        if turn.rerouted:
            return
        if turn.too_large:
            self._tell_too_large(agent, turn.too_large)
            self._log.ended(turn, "too large")
        elif isinstance(error, ModelError):
            if impulse.priority == "player":
                self.missed[impulse.key] = impulse
            self._log.ended(turn, "no answer", str(error))
        else:
            raise TurnDropped
        show_absent(agent, impulse)

    def _tell_too_large(self, agent: Body, costs: Costs) -> None:
        """Tell builders and the log that nothing helps; once, until a prompt fits again."""
        heaviest = max(costs.sections, key=lambda section: section.tokens)
        if heaviest.name == self._heaviest:
            return
        self._heaviest = heaviest.name
        cure = _CURES.get(heaviest.name, _ANY_CURE).format(name=agent.key)
        needs = f"Its prompt needs {costs.used:,} tokens and may have {costs.budget:,}"
        line = (
            f"{agent.key} cannot think. {self._memory.no_room or needs}. The largest "
            f"part of it is {heaviest.name!r} with {heaviest.tokens:,} tokens. {cure}"
        )
        warn(f"[Thinker] {line}")
        agent.tell_builders(f"|r[{agent.key}]|n {line.replace('|', '||')}")


def show_absent(agent: Body, impulse: Impulse) -> None:
    """Anyone who waits for an answer is told that none will come, if they are still here."""
    here = [person.key for person in people_near(agent)]
    if impulse.priority == "player" and impulse.source in here:
        show_people(agent, f"{agent.key} seems far away, and does not answer.")


def show_people(agent: Any, text: str) -> None:
    """Tell the people in the room; agents would only remember it for nothing."""
    agents = tuple(person for person in people_near(agent) if is_agent(person))
    show(agent, text, "thinking", hidden_from=agents)
