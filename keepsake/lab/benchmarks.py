"""Reads the files of benchmarks as they are published; the content says which format it is.

LoCoMo: Maharana et al., ACL 2024, arXiv:2402.17753. REALTALK: Lee et al., 2025, arXiv:2502.13270,
in the form of LoCoMo. LongMemEval: Wu et al., ICLR 2025, arXiv:2410.10813, three files of one form.
Our own format is what ``recall serve`` takes, with questions. An agent's archive is a life, too.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from keepsake.archive.log import Archive
from keepsake.archive.privacy import NOBODY, WHISPER, Audience
from keepsake.archive.records import Memory, MemoryKind
from keepsake.errors import KeepsakeError
from keepsake.lab.conversation import ConversationTurn, fault_of, moment, times_of
from keepsake.language.heard import heard, key_of
from keepsake.paths import places

VAULT = "vault:"
"""How the name of an agent's own archive begins."""
FORMATS_PAGE = "docs/evaluation.md has the formats"
ABSTENTION = "_abs"
"""How the id of a question of LongMemEval ends that the chats do not answer."""
OPEN, ADVERSARIAL = "open-domain", "adversarial"
LOCOMO = {1: "multi-hop", 2: "temporal", 3: OPEN, 4: "single-hop", 5: ADVERSARIAL}
"""What LoCoMo's numbers of categories mean; an adversarial question has no answer in the talk."""
SESSION = re.compile(r"session_(\d+)")
_IDS = re.compile(r"D(\d+):0*(\d+)(?:\s*-\s*(?:D\1:)?0*(\d+))?")
"""An id of evidence, or a range of them; some have a zero, a blank or a stop too many."""
_BEGIN = datetime(2000, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class TrialQuestion:
    """One question, its asker and its time."""

    id: str
    text: str
    time: datetime  # what was lived up to then may be known
    kind: str = "all"  # the category of its benchmark
    answers: tuple[str, ...] = ()  # any of them is right, in these or other words
    # answers that are wrong, and that the life holds: what was right once, what is another's
    stale: tuple[str, ...] = ()
    evidence: frozenset[int] = frozenset()  # numbers of the memories that answer it together
    asker: str = ""
    audience: Audience = NOBODY  # who hears the answer, as in :attr:`Memory.source_id`
    # before whom nothing of the answer may be shown, beside the audience: the kept whisper
    kept_from: Audience = NOBODY
    delay: timedelta | None = None  # since the last of its evidence; None where it was not planned
    # the talk or the template that it belongs to: figures of one depend on each other
    about: str = ""
    answerable: bool = True  # whether the life holds the answer; else not knowing is right


@dataclass(frozen=True, slots=True)
class Trial:
    """One life and what is asked about it, wherever it comes from."""

    name: str  # what tables call it
    agent: str  # whose life it is; empty for a talk that is only listened to
    memories: tuple[Memory, ...]  # in the order lived, numbered from 1; all that the agent heard
    questions: tuple[TrialQuestion, ...] = ()
    load: int = 0  # memories a day beside what is asked about; 0 where it was not planned
    sessions: tuple[str, ...] = ()  # the talk that each memory belongs to; none for one a day


_KNOWN = (
    'Known are LoCoMo and REALTALK ("session_1" …, and "qa"), LongMemEval '
    f'("haystack_sessions") and {{"turns": …, "questions": …}}; {FORMATS_PAGE}'
)


def read_trials(path: Path) -> list[Trial]:
    """The lives of a file, of a folder of ``.json`` files, or of ``vault:NAME``, with questions.

    Raises:
        KeepsakeError: It cannot be read; names the file, the item and the cure.
    """
    if path.is_dir() and not (path / "archive").is_dir():
        return [trial for file in sorted(path.glob("*.json")) for trial in read_trials(file)]
    try:
        lived = path.is_dir() or str(path).startswith(VAULT)
        data = {"life": str(path)} if lived else json.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        told = f"{path} cannot be read ({error.strerror or error})"
        raise KeepsakeError(told, "Name a file that is there") from error
    except (ValueError, RecursionError) as error:
        raise KeepsakeError(f"{path} is no JSON ({error})", _KNOWN) from error
    if isinstance(data, list):  # one sample an entry
        numbered = enumerate(data)
        found = [_trial(e, f"{path.name}[{n}]", f"{path.stem} {n + 1}") for n, e in numbered]
    else:
        found = [_trial(data, path.name, path.stem)]
    if not any(trial.questions for trial in found):
        raise KeepsakeError(f"{path} has no questions", _KNOWN)
    return found


def _trial(data: Any, where: str, name: str) -> Trial:
    has = data if isinstance(data, dict) else {}
    form = next((form for key, form in _FORMATS.items() if key in has), None)
    if form is None:
        told = ", ".join(has) or repr(data)
        raise KeepsakeError(f"{where} is in no format that is known (it has {told:.80})", _KNOWN)
    try:
        return form.model_validate(data).trial(name)
    except ValidationError as error:
        raise KeepsakeError(f"{where}: {fault_of(error)}", f"Correct it; {FORMATS_PAGE}") from error


def _when(written: object) -> datetime | None:
    """A date with its clock time as one of the benchmarks writes it; None if it is none."""
    if not isinstance(written, str):
        return None
    day, _, rest = written.partition("(")  # 2023/05/20 (Sat) 02:21
    return moment(f"{day.rstrip()}{rest.partition(')')[2]}", _BEGIN)


type _Date = Annotated[datetime, BeforeValidator(_when)]
type _List[T] = Annotated[list[T], BeforeValidator(lambda found: found or [])]


class _Format(BaseModel):
    """What a format has of each life; numbers are written out, as answers may be some."""

    model_config = ConfigDict(coerce_numbers_to_str=True)

    def trial(self, name: str) -> Trial:
        """The life with its questions; ``name`` is what its file calls it."""
        raise NotImplementedError


def _said(number: int, time: datetime, text: str, speaker: str, place: str = "") -> Memory:
    return Memory(number, time, MemoryKind.PERCEPTION, text, place, speaker, event="say")


# -- our own format


def _listed(found: Any) -> Any:
    return found if isinstance(found, list) else [found] if found else []


class _MarkedQuestion(_Format):
    text: str
    kind: str = "all"
    answer: Annotated[list[str], BeforeValidator(_listed)] = []
    stale: Annotated[list[str], BeforeValidator(_listed)] = []
    evidence: _List[str] = []
    answerable: bool = True
    asker: str = ""
    kept_from: Annotated[list[str], BeforeValidator(_listed)] = []
    delay: float | None = None  # hours since the last of its evidence; else asked at the end

    def asked(self, n: int, ids: Mapping[str, int], memories: Sequence[Memory]) -> TrialQuestion:
        """The question about these memories; ``ids`` has the numbers of those that were heard."""
        evidence = frozenset(ids[turn] for turn in self.evidence if turn in ids)
        end = max(memory.time for memory in memories)
        last = max((memories[number - 1].time for number in evidence), default=end)
        delay = None if self.delay is None else timedelta(hours=self.delay)
        return TrialQuestion(
            id=str(n),
            text=self.text,
            time=end if delay is None else last + delay,
            kind=self.kind,
            answers=tuple(self.answer),
            stale=tuple(self.stale),
            evidence=evidence,
            asker=self.asker,
            audience=frozenset({self.asker} - {""}),
            kept_from=frozenset(self.kept_from),
            delay=delay,
            # What the agent did not hear, it cannot know.
            answerable=self.answerable and bool(evidence),
        )


class _MarkedTurns(_Format):
    """One conversation with its questions; with an agent, what that hears of it."""

    turns: list[ConversationTurn] = Field(min_length=1)
    questions: list[_MarkedQuestion]
    agent: str = ""

    @model_validator(mode="after")
    def _is_marked(self) -> Self:
        ids = {turn.id for turn in self.turns}
        for number, each in enumerate(self.questions):
            if (each.answerable and not each.evidence) or not ids >= set(each.evidence):
                raise ValueError(f"questions[{number}] has no evidence or names unknown turns")
        return self

    def trial(self, name: str) -> Trial:
        timed = zip(self.turns, times_of(self.turns), strict=True)
        hearing = [(turn, time) for turn, time in timed if self._hears(turn)]
        ids = {turn.id: number for number, (turn, _) in enumerate(hearing, 1)}
        memories = tuple(self._memory(n, *each) for n, each in enumerate(hearing, 1))
        questions = [each.asked(n, ids, memories) for n, each in enumerate(self.questions, 1)]
        return Trial(name, self.agent, memories, tuple(questions))

    def _hears(self, turn: ConversationTurn) -> bool:
        return not (self.agent and turn.hears) or self.agent in (turn.speaker, *turn.hears)

    def _memory(self, number: int, turn: ConversationTurn, time: datetime) -> Memory:
        """A turn as the agent lives it: its own as an act, for its ears alone as a whisper."""
        alone, own = len(turn.hears) == 1, turn.speaker == self.agent
        if not self.agent or not (alone or own):
            return _said(number, time, turn.text, turn.speaker, turn.place)
        if not own:
            whispered = _said(number, time, turn.text, turn.speaker, turn.place)
            return replace(whispered, event=WHISPER, source_id=turn.speaker)
        to, kind = turn.hears[0] if alone else "", MemoryKind.ACT
        said = f"{WHISPER} {to} = {turn.text}" if alone else f"say {turn.text}"
        return Memory(number, time, kind, said, turn.place, to=to, to_id=to)


# -- an agent's own archive


class _ArchivedLife(_Format):
    """The life of an agent of a world; without marked questions, what it was asked there."""

    life: str  # ``vault:NAME``, or the agent's folder
    questions: list[_MarkedQuestion] = []  # evidence: numbers of memories

    def trial(self, name: str) -> Trial:
        own = self.life.startswith(VAULT)
        folder = places().agents / self.life.removeprefix(VAULT) if own else Path(self.life)
        read = list[Memory]()
        if (folder / "archive").is_dir():
            with closing(Archive(folder / "archive", read_only=True)) as archive:
                read = archive.read(1, archive.last_number)
        if not read:
            raise KeepsakeError(f"{folder} has no archive", "Name an agent's folder, or vault:mira")
        ids = {str(memory.number): n for n, memory in enumerate(read, 1)}  # some may be erased
        memories = tuple(replace(memory, number=n) for n, memory in enumerate(read, 1))
        questions = [each.asked(n, ids, memories) for n, each in enumerate(self.questions, 1)]
        for memory in () if self.questions else memories:
            said = heard(memory)
            if said and said.to == "you" and said.words.endswith("?"):
                number, before = str(memory.number), memory.time - timedelta.resolution
                asked = TrialQuestion(number, said.words, before, asker=said.who)
                questions.append(replace(asked, audience=frozenset({key_of(memory)})))
        return Trial(f"{VAULT}{folder.name}", folder.name, memories, tuple(questions))


# -- LongMemEval


class _ChatTurn(_Format):
    role: str
    content: str
    has_answer: Any = None


class _LongMemEval(_Format):
    """One instance; its sessions in the order of their dates, and its question after them all."""

    question_id: str
    question: str
    question_type: str = ""
    question_date: _Date
    answer: str = ""
    haystack_dates: list[_Date]
    haystack_sessions: list[list[_ChatTurn]]

    @model_validator(mode="after")
    def _is_dated(self) -> Self:
        sessions, dates = len(self.haystack_sessions), len(self.haystack_dates)
        if sessions != dates or not any(self.haystack_sessions):
            raise ValueError(f"it has {sessions} sessions and {dates} dates, or no turns")
        return self

    def trial(self, name: str) -> Trial:
        dated = zip(self.haystack_dates, self.haystack_sessions, strict=True)
        sessions = sorted(dated, key=lambda each: each[0])
        turns = [(time, turn) for time, session in sessions for turn in session]
        talks = tuple(str(n) for n, (_, session) in enumerate(sessions, 1) for _ in session)
        lived = enumerate(turns, 1)
        memories = tuple(_said(n, time, turn.content, turn.role) for n, (time, turn) in lived)
        marked = frozenset(n for n, (_, turn) in enumerate(turns, 1) if turn.has_answer is True)
        known = not self.question_id.endswith(ABSTENTION)
        question = TrialQuestion(
            id=self.question_id,
            text=self.question,
            time=max(self.question_date, memories[-1].time),
            kind=self.question_type if known else "abstention",
            answers=(self.answer,),  # of what is not known, why
            evidence=marked if known else frozenset(),
            answerable=known,
        )
        return Trial(self.question_id, "", memories, (question,), sessions=talks)


# -- LoCoMo


class _TalkTurn(_Format):
    speaker: str
    dia_id: str = ""
    text: str  # with the picture that is shown

    @model_validator(mode="before")
    @classmethod
    def _with_picture(cls, turn: dict[str, Any]) -> Any:
        said, caption = turn.get("text", turn.get("clean_text")), turn.get("blip_caption")
        if caption or turn.get("img_url"):
            said = f"{said or ''} [shares {caption or 'a picture'}]"
        return {**turn, "text": said.strip() if isinstance(said, str) else said}


class _Session(_Format):
    began: _Date
    turns: list[_TalkTurn]


class _Asked(_Format):
    question: str
    answer: str | None = None
    category: int = 0
    evidence: _List[Any] = []

    @model_validator(mode="after")
    def _has_answer(self) -> Self:
        if self.answer is None and LOCOMO.get(self.category) != ADVERSARIAL:
            raise ValueError("it has no answer")
        return self


class _Locomo(_Format):
    """One conversation with its questions, named by its id."""

    sample_id: str = ""
    conversation: dict[str, _Session] = Field(min_length=1)
    qa: list[_Asked]

    @model_validator(mode="before")
    @classmethod
    def _in_sessions(cls, data: dict[str, Any]) -> Any:
        """The sessions that have turns, in order; LoCoMo has dates of some more."""
        talk = data.get("conversation", data)  # REALTALK has them beside the questions
        names = [name for name, turns in talk.items() if SESSION.fullmatch(name) and turns]
        sessions = {
            name: {"turns": talk[name], "began": talk.get(f"{name}_date_time")}
            for name in sorted(names, key=lambda name: int(name.partition("_")[2]))
        }
        return {**data, "conversation": sessions}

    def trial(self, name: str) -> Trial:
        memories: list[Memory] = []
        ids: dict[tuple[int, int], int] = {}  # by session and turn: ``D3:12`` is (3, 12)
        for session in self.conversation.values():
            for turn in session.turns:
                number = len(memories) + 1
                memories.append(_said(number, session.began, turn.text, turn.speaker))
                ids.update(dict.fromkeys(_ids(turn.dia_id), number))
        questions, end = [], max(memory.time for memory in memories)
        for number, asked in enumerate(self.qa, 1):
            kind, answer = LOCOMO.get(asked.category, "other"), asked.answer or ""
            if kind == OPEN:  # LoCoMo's own score drops the reason behind it
                answer = answer.partition(";")[0].strip()
            evidence = {ids[i] for each in asked.evidence for i in _ids(str(each)) if i in ids}
            question = TrialQuestion(
                id=str(number),
                text=asked.question,
                time=end,
                kind=kind,
                answers=(answer,) if kind != ADVERSARIAL else (),
                evidence=frozenset(evidence),
                answerable=kind != ADVERSARIAL,
            )
            questions.append(question)
        talks = tuple(name for name, talk in self.conversation.items() for _ in talk.turns)
        return Trial(self.sample_id or name, "", tuple(memories), tuple(questions), sessions=talks)


def _ids(written: str) -> Iterator[tuple[int, int]]:
    for match in _IDS.finditer(written):
        first = int(match[2])
        for turn in range(first, max(first, int(match[3] or first)) + 1):
            yield int(match[1]), turn


_FORMATS: Mapping[str, type[_Format]] = {
    "turns": _MarkedTurns,
    "life": _ArchivedLife,
    "haystack_sessions": _LongMemEval,
    "conversation": _Locomo,
    "session_1": _Locomo,
}
"""The key by which each format is known, and what reads an item of it."""
