"""A turn of an agent: words and deeds together, each done as soon as it is written."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from twisted.internet.defer import DeferredQueue

from keepsake.agent.body import Body
from keepsake.agent.memory.remembering import Remembering
from keepsake.agent.runtime import Runtime
from keepsake.agent.surroundings import people_near, place_of
from keepsake.agent.thinking.actor import Act, Actor
from keepsake.agent.thinking.asking import TURN, ThoughtAsker, show_absent
from keepsake.agent.thinking.following import Following
from keepsake.agent.thinking.scene import SceneMaker, TurnContext
from keepsake.agent.thinking.stopgap import words_by_rule
from keepsake.agent.thinking.thought import ThoughtInProgress
from keepsake.archive.records import COURTESY, MemoryKind
from keepsake.errors import ModelError
from keepsake.models.profiles import ModelProfile
from keepsake.models.queue import Outcome
from keepsake.ports import Generation, GenerationRequest
from keepsake.prompt.budget import costs_of
from keepsake.prompt.verbs import Command
from keepsake.tasks.answer import AnswerPart, AnswerReader, PartKind
from keepsake.tasks.deed import deed_of, read_deed
from keepsake.tasks.guards import fault_of
from keepsake.tasks.talk import Talk
from keepsake.tasks.task import TRIES

MOST_LOOKUPS = 3
"""How often what a look-up brought may come back in the same turn."""


@dataclass
class AnswerProgress:
    """What has come of one answer so far."""

    turn: TurnContext
    refused: str = ""  # why the answer before it was not used
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

    @property
    def shown(self) -> Act | None:
        """The act that tells most of it: one that others heard, else the last."""
        return next((act for act in self.acts if act.spoke), self.acts[-1] if self.acts else None)


class TurnThinking:
    """Takes the turns of one agent; on the reactor thread.

    Args:
        heard: Called when the first part of an answer has come.
    """

    def __init__(
        self,
        asker: ThoughtAsker,
        scenes: SceneMaker,
        actor: Actor,
        mind: Remembering,
        services: Runtime,
        *,
        heard: Callable[[], None],
    ) -> None:
        self.following = Following()
        self._asker, self._scenes, self._actor = asker, scenes, actor
        self._mind, self._services, self._heard = mind, services, heard

    async def take(self, thought: ThoughtInProgress) -> Act | None:
        """Answer somebody, or act of one's own accord; what a look-up brings comes back here."""
        asker, last = self._asker, None
        turn = self._scenes.context_of(asker.body(), thought.impulse)
        if turn.answered:  # with what was said before it, in one answer
            self._asker.reports.ended(thought, "dropped")
            return None
        for _ in range(1 + MOST_LOOKUPS):
            await self._asker.make_room(thought)
            agent = self._asker.body()
            thought.found = await self._scenes.relate(agent, turn)
            asker.check(thought)
            answered = await self._answer(thought, turn)
            last = answered.shown or last
            if not any(act.looked_up for act in answered.acts):
                break
            asker.check(thought)
        return last

    async def by_rules(self, thought: ThoughtInProgress) -> Act | None:
        """Say something fitting without a model."""
        asker, memory = self._asker, self._mind.memory
        turn = self._scenes.context_of(asker.body(), thought.impulse)
        thought.found = await self._scenes.relate(asker.body(), turn)
        asker.check(thought)
        agent = asker.able_body(thought)
        if not asker.is_wanted(agent, thought):
            asker.reports.ended(thought, "dropped")
            return None
        words = words_by_rule(agent, turn, thought.found, memory, self._services.random)
        whispered = self._scenes.is_whispered(agent, turn, thought.found)
        act = self._actor.speak(agent, words, turn.partner, whispered=whispered, event=COURTESY)
        if act.result is not None:
            await act.result
        asker.reports.done(thought, act)
        return act

    async def _answer(self, thought: ThoughtInProgress, turn: TurnContext) -> AnswerProgress:
        """Ask the model; a first part that is refused is asked for once more, with the reason."""
        answered = AnswerProgress(turn)
        for attempt in range(1, TRIES + 1):
            thought.attempt, thought.answer = attempt, None
            answered = AnswerProgress(turn, answered.fault)
            agent, outcome = await self._hear(thought, answered)
            if isinstance(outcome, Generation):
                self._asker.reports.answered(outcome)
                self._asker.fitting.answered(outcome.prompt_tokens)
            if not (answered.acts or answered.fault or isinstance(outcome, Generation)):
                if thought.too_large and attempt < TRIES and self._mind.memory.no_room is None:
                    await self._asker.make_room(thought)  # now that its weight is known
                    continue
                if thought.too_large:
                    self._asker.too_large(agent, thought)
                elif not thought.rerouted:
                    self._asker.unanswered(agent, thought, outcome)
                return answered
            acts = answered.acts or [Act(None, answered.fault)]
            problem = answered.fault or (str(outcome) if isinstance(outcome, ModelError) else "")
            self._asker.reports.done(thought, *acts, problem=problem)
            if not answered.fault or answered.did:
                break
            self._asker.check(thought)
        self._asker.missed.pop(thought.impulse.key, None)
        if answered.fault and not answered.did:
            show_absent(self._asker.body(), thought.impulse)
        return answered

    async def _hear(
        self, thought: ThoughtInProgress, answered: AnswerProgress
    ) -> tuple[Body, Outcome]:
        """Have the model asked, and each part done as soon as it is whole."""
        inbox: DeferredQueue[str | tuple[Outcome]] = DeferredQueue()

        def hear(piece: str) -> None:
            self._services.post(lambda: inbox.put(piece))

        def build(agent: Body, profile: ModelProfile) -> GenerationRequest | None:
            request = self._turn_request(thought, answered, agent, profile)
            return replace(request, on_text=hear) if request is not None else None

        with self._asker.asked(thought, build, lambda outcome: inbox.put((outcome,))) as problem:
            if problem is not None:
                inbox.put((problem,))
            while True:
                item = await inbox.get()
                self._asker.check(thought)
                agent = self._asker.able_body(thought)
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
        if answered.acts and not answered.did:
            answered.fault = answered.fault or answered.acts[-1].refusal
        if not answered.parts:
            answered.fault = answered.fault or fault_of("", instructions="", own_lines=())
            self._asker.reports.guarded(thought.impulse, "refused", outcome.text, answered.fault)
        elif reader.altered:
            before = "\n".join(reader.altered)
            why = "labels and marks are not spoken"
            self._asker.reports.guarded(thought.impulse, "altered", before, why)

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
        assert answered.talk is not None
        answered.parts += 1
        self._heard()
        spoken = part.text if part.kind is PartKind.SPEECH else ""
        if spoken and (fault := answered.talk.fault(spoken, answered.instructions)):
            op = "dropped" if answered.acts else "refused"
            self._asker.reports.guarded(thought.impulse, op, part.text, fault)
            answered.fault = fault
            return
        turn = answered.turn
        whispered = self._scenes.is_whispered(agent, turn, thought.found)
        act = self._perform(agent, part, turn, whispered)
        if act.result is not None:
            await act.result
        self._asker.check(thought)  # its own act may have broken it off
        answered.acts.append(act)
        if act.command is None:
            self._asker.reports.guarded(thought.impulse, "dropped", part.text, act.refusal)

    def _perform(self, agent: Body, part: AnswerPart, turn: TurnContext, whispered: bool) -> Act:
        """Say it, play it or do it, by the rules that bind a player."""
        if part.kind is PartKind.DEED:
            return self._do(agent, part.text, turn)
        near = people_near(agent)
        if part.kind is PartKind.EMOTE:
            if whispered and len(near) > 1:
                return Act(None, "A gesture would show others what was whispered")
            return self._actor.do(agent, Command("emote", part.text, part.reason), seen=turn.seen)
        if (leader := next((p for p in near if p.key == turn.partner), None)) is not None:
            self.following.spoke(leader, self._services.seconds())
        return self._actor.speak(
            agent,
            part.text,
            turn.partner,
            whispered=whispered,
            reason=part.reason,
            seen=turn.seen,
        )

    def _do(self, agent: Body, line: str, turn: TurnContext) -> Act:
        """A deed; to go with somebody from now on, or with nobody, others see as a gesture."""
        command = read_deed(line, self._scenes.verbs(turn), self._scenes.options(agent, turn))
        if isinstance(command, str):
            self._mind.memory.remember(command, MemoryKind.RESULT, place=place_of(agent))
            return Act(None, command)
        if command.verb not in ("follow", "stay"):
            return self._actor.do(agent, command, seen=turn.seen)
        gesture = "stays here."
        self.following.end()
        if command.verb == "follow":
            leader = next(p for p in people_near(agent) if p.key == command.argument)
            self.following.begin(leader, self._services.seconds())
            gesture = f"goes with {leader.key} from now on."
        return self._actor.do(agent, Command("emote", gesture, command.reason))

    def _turn_request(
        self,
        thought: ThoughtInProgress,
        answered: AnswerProgress,
        agent: Body,
        profile: ModelProfile,
    ) -> GenerationRequest | None:
        if self._asker.way(profile, thought.impulse) != TURN:
            thought.rerouted = True
            return None
        talk, basis = self._scenes.talk(agent, answered.turn, thought.found)
        answered.turn = replace(answered.turn, seen=self._mind.memory.newest)
        budget, room = self._asker.fitting.sizes(profile)
        answered.talk, answered.reader = talk, talk.reader(profile)
        prompt = talk.prompt(replace(profile, prompt_tokens=room), answered.refused)
        answered.instructions = prompt.instructions
        costs = costs_of(prompt.rendered, self._services.tokens, budget)
        if not self._asker.fitting.takes(costs, room):
            thought.too_large = True
            return None
        self._mind.keeper.thought_over()
        request = profile.request_for(prompt.question, cache_key=self._asker.key)
        self._asker.reports.sending(thought, request, prompt.rendered, costs, basis)
        return request
