"""A turn of an agent: words and deeds together, each done as soon as it is written."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from keepsake.agent.body import Body
from keepsake.agent.memory.remembering import Remembering
from keepsake.agent.services import Services
from keepsake.agent.tasks import Inbox
from keepsake.agent.thinking.actor import Act
from keepsake.agent.thinking.asking import TURN, ThoughtAsker, ThoughtDropped, show_absent
from keepsake.agent.thinking.performer import Performance, Performer
from keepsake.agent.thinking.scene import SceneMaker, TurnContext
from keepsake.agent.thinking.thought import ThoughtInProgress
from keepsake.models.profiles import ModelProfile
from keepsake.models.queue import Outcome
from keepsake.ports import Generation, GenerationRequest
from keepsake.prompt.budget import costs_of
from keepsake.tasks.answer import AnswerPart, AnswerReader, PartKind
from keepsake.tasks.deed import deed_of
from keepsake.tasks.guards import fault_of
from keepsake.tasks.talk import Talk
from keepsake.tasks.talk_scene import TalkPrompt
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
        performer: Performer,
        mind: Remembering,
        services: Services,
        *,
        heard: Callable[[], None],
    ) -> None:
        self._asker, self._scenes, self._performer = asker, scenes, performer
        self._mind, self._services, self._heard = mind, services, heard

    async def take(self, thought: ThoughtInProgress) -> Act | None:
        """Answer somebody, or act of one's own accord; what a look-up brings comes back here."""
        last: Act | None = None
        turn = self._scenes.context_of(self._asker.body(), thought.impulse)
        if turn.answered:  # with what was said before it, in one answer
            self._asker.reports.ended(thought, "dropped")
            return None
        for _ in range(1 + MOST_LOOKUPS):
            await self._asker.make_room()
            agent = self._asker.body()
            thought.found = await self._scenes.relate(agent, turn)
            answered = await self._answer(thought, turn)
            last = answered.shown or last
            if not answered.looked_up:
                break
            self._asker.next(thought)
        return last

    async def _answer(self, thought: ThoughtInProgress, turn: TurnContext) -> AnswerProgress:
        """Ask the model; a first part that is refused is asked for once more, with the reason."""
        answered = AnswerProgress(turn)
        for attempt in range(1, TRIES + 1):
            thought.attempt = attempt
            answered = AnswerProgress(turn, answered.fault)
            agent, outcome = await self._hear(thought, answered)
            if isinstance(outcome, Generation):
                self._asker.reports.answered(outcome)
                self._asker.fitting.answered(outcome.prompt_tokens)
            if not (answered.acts or answered.fault or isinstance(outcome, Generation)):
                if thought.too_large and attempt < TRIES and self._mind.memory.no_room is None:
                    await self._asker.make_room()  # now that its weight is known
                    continue
                if thought.too_large:
                    self._asker.too_large(agent, thought)
                elif not thought.rerouted:
                    self._asker.unanswered(agent, thought, outcome)
                return answered
            self._record(thought, outcome, answered)
            if not answered.fault or answered.did:
                break
            self._asker.next(thought)
        self._asker.missed.pop(thought.impulse.key, None)
        if answered.fault and not answered.did:
            show_absent(self._asker.body(), thought.impulse)
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

        with self._asker.asked(thought, build, lambda outcome: inbox.put((outcome,))) as problem:
            if problem is not None:
                inbox.put((problem,))
            while True:
                item = await inbox.next()
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
        answered.parts += 1
        self._heard()
        if part.kind is PartKind.SPEECH and (fault := answered.fault_of(part.text)):
            op = "dropped" if answered.acts else "refused"
            self._asker.reports.guarded(thought.impulse, op, part.text, fault)
            answered.fault = fault
            return
        turn = answered.turn
        whispered = self._scenes.is_whispered(agent, turn, thought.found)
        done = await self._performer.perform(agent, part, turn, whispered=whispered)
        if self._asker.current is None:  # its own act has broken it off
            raise ThoughtDropped
        answered.add(done)
        if done.act.command is None:
            self._asker.reports.guarded(thought.impulse, "dropped", part.text, done.act.refusal)

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
        answered.prompt = prompt = talk.prompt(
            replace(profile, prompt_tokens=room), answered.refused
        )
        costs = costs_of(prompt.rendered, self._services.tokens, budget)
        if not self._asker.fitting.takes(costs, room):
            thought.too_large = True
            return None
        self._mind.keeper.thought_over()
        request = profile.request_for(prompt.question, cache_key=self._asker.key)
        return self._asker.reports.sending(thought, request, prompt.rendered, costs, basis)

    def _record(
        self, thought: ThoughtInProgress, outcome: Outcome, answered: AnswerProgress
    ) -> None:
        """Log what came of an answer."""
        acts = answered.acts or [Act(None, answered.fault)]
        self._asker.reports.done(thought, outcome, *acts, problem=answered.fault)
