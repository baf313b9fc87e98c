"""One answer of an agent: asked for, read while it comes, checked, and remembered."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from keepsake.archive.privacy import Audience
from keepsake.archive.records import Memory
from keepsake.books.persona import secret_lines
from keepsake.books.plan import Plan, PlanState
from keepsake.books.plan_lines import read_plan
from keepsake.errors import BadAnswer, KeepsakeError, NoteRefused
from keepsake.happening import ME, KnownVerb, Manner, Pose
from keepsake.language.perception import one_line
from keepsake.library.happenings import own_speech
from keepsake.library.opened import OpenMemory
from keepsake.library.prompting import Prompting, Talk, TalkPrompt, deeds
from keepsake.library.results import Answer
from keepsake.logs import Subsystem, get_logger
from keepsake.ports import Generation
from keepsake.prompt.verbs import Command, Options
from keepsake.tasks.answer import AnswerPart, PartKind
from keepsake.tasks.answer_reader import AnswerReader
from keepsake.tasks.deed import deed_of, read_deed
from keepsake.tasks.guard import SpeechFault, SpeechGuard
from keepsake.tasks.task import TRIES

log = get_logger(Subsystem.THOUGHTS)


@dataclass(slots=True)
class _Said:
    """What an answer has brought so far."""

    lines: list[str] = field(default_factory=list)
    gestures: list[str] = field(default_factory=list)
    deeds: list[Command] = field(default_factory=list)
    fault: str = ""

    @property
    def is_nothing(self) -> bool:
        """Whether nothing of the answer can be used."""
        return not (self.lines or self.gestures or self.deeds)


class AnswerStream:
    """Reads an answer while it comes, and passes on each line that the guard accepts."""

    def __init__(
        self,
        reader: AnswerReader,
        guard: SpeechGuard,
        on_line: Callable[[str], object] | None,
        *,
        aloud: bool,
    ) -> None:
        self.said = _Said()
        self._aloud = aloud
        self._reader = reader
        self._guard = guard
        self._on_line = on_line

    def feed(self, piece: str) -> None:
        """Take a piece of the answer."""
        for part in self._reader.feed(piece):
            self._take(part)

    def end(self, answer: Generation) -> None:
        """Take the rest: an unfinished line, a text that did not come in pieces, tool calls."""
        unread = [] if self._reader.heard else self._reader.feed(answer.text)
        calls = [AnswerPart(PartKind.DEED, deed_of(call)) for call in answer.tool_calls]
        for part in [*unread, *self._reader.end(), *calls]:
            self._take(part)
        if self.said.is_nothing and not self.said.fault:
            self.said.fault = SpeechFault.NOT_OWN if self._reader.is_over else SpeechFault.EMPTY

    def _take(self, part: AnswerPart) -> None:
        match part.kind:
            case PartKind.DEED:
                read = read_deed(part.text, deeds(), Options())
                if isinstance(read, Command):
                    self.said.deeds.append(read)
                else:
                    self.said.fault = read.reason
            case PartKind.EMOTE if not self._guard.gives_away(part.text):
                self.said.gestures.append(part.text)
            case PartKind.SPEECH:
                fault = self._guard.fault(part.text, aloud=self._aloud)
                if fault:
                    self.said.fault = fault
                    return
                self.said.lines.append(part.text)
                if self._on_line is not None:
                    self._on_line(part.text)


class TalkAnswering:
    """Answers for one agent; blocks, and only one thread may call it at a time."""

    def __init__(self, opened: OpenMemory) -> None:
        self._opened = opened
        self._prompting = Prompting(opened)

    def answer(
        self,
        talk: Talk,
        on_line: Callable[[str], object] | None = None,
        is_cancelled: Callable[[], bool] | None = None,
    ) -> Answer:
        """Ask the model, and remember what it says.

        Args:
            on_line: Takes each line as soon as it is complete.
            is_cancelled: Returns whether nobody needs the answer any more.

        Raises:
            ModelError: There was no usable answer. Nothing of it is remembered.
            ArchiveUnwritable: The answer could not be remembered.
        """
        answerer = self._opened.parts.answerer
        form = self._prompting.form(answerer.learn())
        self._opened.make_room()
        recalled = self._prompting.recall(talk, form)
        fault = ""
        for number in range(1, TRIES + 1):
            built = self._prompting.build(talk, form, recalled, refused=fault)
            self._opened.memory.report_prompt(max(built.tokens, built.prompt.needed))
            stream = self._stream(talk, built, on_line, last=number == TRIES)
            request = replace(
                built.prompt.request,
                cache_key=self._opened.agent.name,
                on_text=stream.feed if on_line is not None else None,
                is_cancelled=is_cancelled,
            )
            answer = answerer.generate(request)
            self._opened.tokens.heard(built.tokens, answer.prompt_tokens)
            stream.end(answer)
            if not stream.said.is_nothing:
                return self._remember(talk, built, answer, stream.said)
            fault = stream.said.fault
            log.info(f"An answer was not used: {fault}", agent=self._opened.agent.name)
        raise BadAnswer(
            f"{answerer.name} gave no answer that can be used ({fault})",
            "Ask again, or use a larger model",
        )

    def _stream(
        self,
        talk: Talk,
        built: TalkPrompt,
        on_line: Callable[[str], object] | None,
        *,
        last: bool,
    ) -> AnswerStream:
        prompt = built.prompt
        agent = self._opened.agent
        guard = prompt.guard(secret_lines(agent.persona), last_try=last)
        reader = built.form.answer_reader(agent.name, prompt.others)
        return AnswerStream(reader, guard, on_line, aloud=not talk.whispered)

    def _remember(self, talk: Talk, built: TalkPrompt, answer: Generation, said: _Said) -> Answer:
        """Archive what was said and done; the words are one memory, so none of them is lost."""
        manner = Manner.WHISPER if talk.whispered else Manner.SAY
        confidants = built.confidants
        witnesses = None if confidants is None else tuple(sorted(confidants))
        opened = self._opened
        newest = opened.archive.last_number

        def keep(memory: Memory) -> int:
            kept = replace(
                memory,
                place=talk.place,
                rests_on=tuple(n for n in built.prompt.rests_on if n <= newest),
                answers=built.seen if newest > built.seen else 0,
                witnesses=witnesses,
            )
            return opened.add(kept).number

        now = opened.parts.clock.now()
        for gesture in said.gestures:
            pose = Pose(actor=ME, gesture=gesture, by_agent=True, shown=f"emote {gesture}")
            keep(Memory(0, now, pose))
        number = 0
        if said.lines:
            words = one_line(" ".join(said.lines))
            number = keep(Memory(0, now, own_speech(words, (talk.partner,), manner)))
        plans = self._plans(said.deeds, number or newest, talk, confidants)
        return Answer(
            text="\n".join(said.lines),
            gestures=tuple(said.gestures),
            number=number,
            question=talk.question.number,
            rests_on=built.prompt.rests_on,
            plans=plans,
            model=answer.model,
            prompt_tokens=answer.prompt_tokens,
            completion_tokens=answer.completion_tokens,
        )

    def _plans(
        self,
        commands: list[Command],
        since: int,
        talk: Talk,
        private: Audience | None,
    ) -> tuple[Plan, ...]:
        """Do what concerns plans, and return those that were made; a refused one is logged."""
        book = self._opened.shelf.plans
        now = self._opened.parts.clock.now().astimezone()
        made = list[Plan]()

        def shown(plan: Plan) -> bool:
            """Whether the prompt showed a plan: no other can be named."""
            return plan.as_known_to(talk.audience) is not None

        for command in commands:
            try:
                match command.verb:
                    case KnownVerb.PLAN:
                        plan = read_plan(command.words, now, (), talk.here)
                        made.append(book.add_or_join(replace(plan, since=since, private=private)))
                    case KnownVerb.DONE:
                        book.set_state(book.find(command.words, shown), PlanState.DONE)
                    case KnownVerb.CANCEL:
                        which, _, why = command.words.partition(": ")
                        book.set_state(book.find(which, shown), PlanState.DROPPED, why)
            except NoteRefused as refused:
                log.info(str(refused), agent=self._opened.agent.name, subsystem=Subsystem.PLANS)
            except KeepsakeError as error:
                told = "A plan was not written down"
                name = self._opened.agent.name
                log.warning(told, agent=name, subsystem=Subsystem.PLANS, exc_info=error)
        return tuple(made)
