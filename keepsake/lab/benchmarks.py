"""Reads benchmark files as they are published. The format is recognised by the content.

LoCoMo: Maharana et al., ACL 2024, arXiv:2402.17753. REALTALK: Lee et al., 2025, arXiv:2502.13270,
in LoCoMo's format. LongMemEval: Wu et al., ICLR 2025, arXiv:2410.10813, three files of one format.
BEAM: :mod:`keepsake.lab.beam`. PersonaMem, GroupMemBench and SocialMemBench:
:mod:`keepsake.lab.personamem`, :mod:`keepsake.lab.groupmem`, :mod:`keepsake.lab.socialmem`.
``docs/evaluation.md`` describes our own format. An agent's archive can be read as a trial, too.
Other formats are converted to our own, which is then validated.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from fnmatch import fnmatch
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError, model_validator

from keepsake.archive.log import Archive
from keepsake.archive.message_types import MessageType
from keepsake.archive.privacy import NO_PRIVATE_WORDS, Audience
from keepsake.archive.records import Memory
from keepsake.errors import KeepsakeError, refusing
from keepsake.happening import ME, KnownVerb, Manner, Person, Speech
from keepsake.lab import beam, groupmem, personamem, socialmem
from keepsake.lab.conversation import NO_TIME, ConversationTurn, first_error, parse_time, times_of
from keepsake.paths import places

VAULT = "vault:"
"""The prefix of a source that is an agent's archive in the vault."""
ABSTENTION = "_abs"
"""The suffix of LongMemEval's question ids whose answer is not in the chats."""
OPEN = "open-domain"
ADVERSARIAL = "adversarial"
LOCOMO = {1: "multi-hop", 2: "temporal", 3: OPEN, 4: "single-hop", 5: ADVERSARIAL}
"""LoCoMo's question categories. An adversarial question has no answer in the conversation."""
SESSION = re.compile(r"session_(\d+)")
_IDS = re.compile(r"D\s*:?\s*(\d+)\s*[:;]\s*0*(\d+)(?:\s*-\s*(?:D\1:)?0*(\d+))?")
"""An id of evidence, or a range of ids. Some ids have a superfluous zero, blank, colon or full
stop, or a semicolon in place of the colon."""
_CORRECT = "Correct it; docs/evaluation.md has the formats"


@dataclass(frozen=True, slots=True)
class TrialQuestion:
    """One question, its asker and its time."""

    id: str
    text: str
    time: datetime  # when it is asked: later memories are not known yet
    kind: str = "all"  # the category in its benchmark
    answers: tuple[str, ...] = ()  # right answers, any of them, in these or other words
    # wrong answers that occur in the transcript: outdated values, or other people's
    stale: tuple[str, ...] = ()
    evidence: frozenset[int] = frozenset()  # numbers of the memories that together answer it
    asker: str = ""
    audience: Audience = NO_PRIVATE_WORDS  # who hears the answer, as in :attr:`Memory.source_id`
    # for a whisper: people who must not be shown the answer if they join the audience
    kept_from: Audience = frozenset()
    delay: timedelta | None = None  # time since the last evidence; None if it was not planned
    # the question's template; empty for its conversation. Figures of one cluster are dependent
    about: str = ""
    answerable: bool = True  # whether the transcript has the answer; else "unknown" is right
    lost: tuple[str, ...] = ()  # evidence that the file names and the transcript does not have


@dataclass(frozen=True, slots=True)
class Trial:
    """A transcript (an agent's memories) and the questions about it, from any source."""

    name: str  # its name in tables
    agent: str  # the agent that has the memories; empty for a listener who takes no part
    memories: tuple[Memory, ...]  # all that the agent heard, in order, numbered from 1
    questions: tuple[TrialQuestion, ...] = ()
    load: int = 0  # memories a day beside the facts; 0 if it was not planned
    sessions: tuple[str, ...] = ()  # the session of each memory; empty for one session per day
    # who talks, by identities that hold in all trials of a source; empty if they are its own.
    # Trials that share a person depend on each other
    people: frozenset[str] = frozenset()


_KNOWN = (
    'Known formats: LoCoMo and REALTALK ("session_1" …, and "qa"), LongMemEval '
    '("haystack_sessions"), BEAM (folders with "chat.json"), PersonaMem ("questions_32k.csv"), '
    'GroupMemBench ("data/final"), SocialMemBench ("conversations.parquet") and '
    '{"turns": …, "questions": …}; '
    "docs/evaluation.md has the formats"
)


def read_trials(path: Path) -> list[Trial]:
    """Return the trials of a file, of a folder of ``.json`` files, or of ``vault:NAME``.

    Raises:
        KeepsakeError: It cannot be read. The message names the file, the item and the cure.
    """
    return grouped(_ungrouped(path))


def _ungrouped(path: Path) -> list[Trial]:
    """Return the trials of a file or a folder; people of several files may be the same."""
    if rows := _tables(path):
        return [_trial(data, str(path), path.stem) for data in rows]
    if path.is_dir() and not (path / "archive").is_dir():
        files = sorted(path.glob("*.json"))
        chats = sorted({*path.glob(beam.CHAT), *path.glob(f"*/{beam.CHAT}")}, key=_by_number)
        if not (files or chats):
            what = f"{path} has no .json file and no folder with a {beam.CHAT}"
            raise KeepsakeError(what, _KNOWN)
        found = [_beam(file.parent) for file in chats]
        if (path / beam.CHAT) not in chats:  # else the files are those of one chat
            found += [trial for file in files for trial in _ungrouped(file)]
        return found
    with refusing(f"{path} cannot be read", _KNOWN, ValueError, RecursionError):
        is_archive = path.is_dir() or str(path).startswith(VAULT)
        data = {"life": str(path)} if is_archive else json.loads(path.read_text("utf-8-sig"))
    if isinstance(data, list):  # one sample per entry
        numbered = enumerate(data)
        found = [_trial(e, f"{path.name}[{n}]", f"{path.stem} {n + 1}") for n, e in numbered]
    else:
        found = [_trial(data, path.name, path.stem)]
    if not any(trial.questions for trial in found):
        raise KeepsakeError(f"{path} has no questions", _KNOWN)
    return found


def _tables(path: Path) -> list[Mapping[str, Any]]:
    """Return the transcripts of a benchmark that consists of tables; none if it is another one."""
    if fnmatch(path.name, personamem.QUESTIONS):
        return list(personamem.personamem(path))
    if (path / socialmem.TALKS).exists():
        return list(socialmem.socialmem(path))
    if (path / groupmem.DOMAINS).is_dir():
        return list(groupmem.groupmem(path))
    return [data for file in sorted(path.glob(personamem.QUESTIONS)) for data in _tables(file)]


def _by_number(path: Path) -> tuple[int, str]:
    """Return a key that sorts the folder 2 before the folder 10."""
    name = path.parent.name
    return int(name) if name.isdecimal() else 0, name


def _beam(folder: Path) -> Trial:
    """Return a chat of BEAM."""
    with refusing(f"{folder} cannot be read", _KNOWN, ValueError, KeyError, TypeError):
        data = beam.beam(folder)
    return _trial(data, f"{folder.name}/{beam.CHAT}", folder.name)


def grouped(trials: Sequence[Trial]) -> list[Trial]:
    """Return the trials with one cluster for each group of people that talk with each other.

    Two trials are of one group if they share a person, or if a chain of such trials joins them. In
    REALTALK ten chats are three groups.
    """
    groups = list[set[str]]()
    for trial in trials:
        group = {*trial.people}
        joined = [each for each in groups if not each.isdisjoint(group)]
        groups = [each for each in groups if each.isdisjoint(group)]
        if group:
            groups.append(group.union(*joined))
    names = {person: ", ".join(sorted(group)) for group in groups for person in group}
    return [
        replace(
            trial,
            questions=tuple(
                replace(each, about=each.about or names[min(trial.people)])
                for each in trial.questions
            ),
        )
        if trial.people
        else trial
        for trial in trials
    ]


def _trial(data: Any, where: str, name: str) -> Trial:
    has = data if isinstance(data, dict) else {}
    form = next((form for key, form in _FORMATS.items() if key in has), None)
    if form is None:
        found = ", ".join(has) or repr(data)
        raise KeepsakeError(f"{where} is not in a known format (it has {found:.80})", _KNOWN)
    try:
        transcript = _AnnotatedTranscript.model_validate(form(data))
    except ValidationError as error:
        raise KeepsakeError(f"{where}: {first_error(error)}", _CORRECT) from error
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        what = f"it lacks {error}" if isinstance(error, KeyError) else f"{error}"
        raise KeepsakeError(f"{where}: {what}", _CORRECT) from error
    return transcript.trial(name)


# -- our own format


def _as_list(found: Any) -> Any:
    if isinstance(found, list):
        return found
    return [] if found in (None, "") else [found]


type _TextList = Annotated[list[str], BeforeValidator(_as_list)]


class _AnnotatedModel(BaseModel):
    model_config = ConfigDict(coerce_numbers_to_str=True)  # answers may be numbers


class _AnnotatedQuestion(_AnnotatedModel):
    text: str
    kind: str = "all"
    answer: _TextList = []
    stale: _TextList = []
    evidence: _TextList = []
    lost: _TextList = []
    answerable: bool = True
    asker: str = ""
    kept_from: _TextList = []
    time: str = ""  # when it is asked; empty for the time of the last line
    delay: float | None = None  # instead of the time: hours since the last evidence

    def question(self, n: int, ids: Mapping[str, int], memories: Sequence[Memory]) -> TrialQuestion:
        """Return the question; ``ids`` maps the turns that the agent heard to memory numbers."""
        evidence = frozenset(ids[turn] for turn in self.evidence if turn in ids)
        end = max(memory.time for memory in memories)
        last = max((memories[number - 1].time for number in evidence), default=end)
        delay = None if self.delay is None else timedelta(hours=self.delay)
        return TrialQuestion(
            id=str(n),
            text=self.text,
            time=max(end, parse_time(self.time, end) or end) if delay is None else last + delay,
            kind=self.kind,
            answers=tuple(self.answer),
            stale=tuple(self.stale),
            evidence=evidence,
            asker=self.asker,
            audience=frozenset({self.asker} - {""}),
            kept_from=frozenset(self.kept_from),
            delay=delay,
            # The agent cannot know what it did not hear.
            answerable=self.answerable and bool(evidence or not self.evidence),
            lost=tuple(self.lost),
        )


class _AnnotatedTranscript(_AnnotatedModel):
    """A conversation with its questions, or an agent's own archive."""

    name: str = ""
    turns: list[ConversationTurn] = []
    life: str = ""  # instead of turns: ``vault:NAME``, or the agent's folder
    agent: str = ""  # whose memories they are; it gets only the turns that it hears
    questions: list[_AnnotatedQuestion] = []  # empty for an archive: the questions asked in it
    people: _TextList = []  # see :attr:`Trial.people`

    @model_validator(mode="after")
    def _check_turns(self) -> Self:
        ids = {turn.id for turn in self.turns}
        for number, each in enumerate(self.questions):
            if not self.life and not ids >= set(each.evidence):
                raise ValueError(f"questions[{number}] names unknown turns")
        if not (self.turns or self.life):
            raise ValueError("it has no turns")
        return self

    def trial(self, name: str) -> Trial:
        """Return the trial from the agent's point of view; ``name`` is used if it has no name.

        Raises:
            KeepsakeError: There is no such archive.
        """
        name = self.name or name
        agent = self.agent
        talks = list[str]()
        if self.life:
            folder, found = _read_archive(self.life)
            name = f"{VAULT}{folder.name}"
            agent = folder.name
            ids = {str(memory.number): n for n, memory in enumerate(found, 1)}  # some are erased
        else:
            timed = zip(self.turns, times_of(self.turns), strict=True)
            heard_turns = [(turn, time) for turn, time in timed if self._is_heard(turn)]
            found = [self._memory(*each) for each in heard_turns]
            ids = {turn.id: n for n, (turn, _) in enumerate(heard_turns, 1)}
            talks = [turn.session for turn, _ in heard_turns if turn.session]
        memories = tuple(replace(memory, number=n) for n, memory in enumerate(found, 1))
        questions = [each.question(n, ids, memories) for n, each in enumerate(self.questions, 1)]
        if self.life and not questions:
            questions = list(_archived_questions(memories))
        sessions = tuple(talks) if len(talks) == len(memories) else ()
        people = frozenset(self.people)
        return Trial(name, agent, memories, tuple(questions), sessions=sessions, people=people)

    def _is_heard(self, turn: ConversationTurn) -> bool:
        return not (self.agent and turn.hears) or self.agent in (turn.speaker, *turn.hears)

    def _memory(self, turn: ConversationTurn, time: datetime) -> Memory:
        """Return a turn as a memory: an act if the agent speaks; a whisper if one person hears."""
        alone = len(turn.hears) == 1
        own = turn.speaker == self.agent
        if self.agent and own:
            to = turn.hears[0] if alone else ""
            speech = Speech(
                speaker=ME,
                words=turn.text,
                to=(Person(to, to),) if alone else (),
                manner=Manner.WHISPER if alone else Manner.SAY,
                shown=f"{KnownVerb.WHISPER} {to} = {turn.text}" if alone else f"say {turn.text}",
            )
            return Memory(0, time, speech, turn.place)
        confided = bool(self.agent) and alone
        speaker = Person(turn.speaker, turn.speaker if confided else "")
        manner = Manner.WHISPER if confided else Manner.SAY
        speech = Speech(
            speaker=speaker,
            words=turn.text,
            to=(ME,) if confided else (),
            manner=manner,
            shown=turn.text,
        )
        return Memory(
            0, time, speech, turn.place, event=MessageType.WHISPER if confided else MessageType.SAY
        )


# -- an agent's own archive


def _read_archive(source: str) -> tuple[Path, list[Memory]]:
    """Return an agent's folder and all memories in its archive."""
    own = source.startswith(VAULT)
    read = list[Memory]()
    folder = places().agents / source.removeprefix(VAULT) if own else Path(source)
    if (folder / "archive").is_dir():
        with closing(Archive(folder / "archive", read_only=True)) as archive:
            read = archive.read(1, archive.last_number)
    if not read:
        raise KeepsakeError(f"{folder} has no archive", "Name an agent's folder, or vault:mira")
    return folder, read


def _archived_questions(memories: Sequence[Memory]) -> Iterator[TrialQuestion]:
    """Yield the questions the agent was asked, each dated just before the agent heard it."""
    for memory in memories:
        said = memory.heard
        if said and ME in said.to and said.words.endswith("?"):
            number = str(memory.number)
            before = memory.time - timedelta.resolution
            hears = frozenset({memory.key})
            yield TrialQuestion(number, said.words, before, asker=said.speaker.name, audience=hears)


# -- other formats, converted to our own


def _longmemeval(data: Mapping[str, Any]) -> Mapping[str, Any]:
    """Convert one instance: its sessions in order of date, then its question."""
    dates = data["haystack_dates"]
    sessions = data["haystack_sessions"]
    if len(sessions) != len(dates):
        raise ValueError(f"it has {len(sessions)} sessions and {len(dates)} dates")
    turns = list[dict[str, Any]]()
    marked = list[str]()
    pairs = zip(dates, sessions, strict=True)
    by_date = sorted(pairs, key=lambda each: parse_time(each[0], NO_TIME) or NO_TIME)
    for number, (date, session) in enumerate(by_date, 1):
        for place, turn in enumerate(session, 1):
            own = {"id": f"{number}:{place}", "session": str(number), "time": date}
            turns.append(own | {"speaker": turn["role"], "text": turn["content"]})
            marked += [own["id"]] * (turn.get("has_answer") is True)
    known = not data["question_id"].endswith(ABSTENTION)
    question = {
        "text": data["question"],
        "time": data["question_date"],
        "kind": data.get("question_type", "") if known else "abstention",
        "answer": data.get("answer"),  # for an abstention: why it cannot be answered
        "evidence": marked if known else [],
        "answerable": known,
    }
    return {"name": data["question_id"], "turns": turns, "questions": [question]}


def _locomo(data: Mapping[str, Any]) -> Mapping[str, Any]:
    """Convert one conversation with its questions; its name is its id."""
    talk = data.get("conversation", data)  # REALTALK has the sessions beside the questions
    # LoCoMo has dates for some sessions without turns.
    names = [name for name, turns in talk.items() if SESSION.fullmatch(name) and turns]
    turns = list[dict[str, Any]]()
    questions = list[dict[str, Any]]()
    for name in sorted(names, key=lambda name: int(name.partition("_")[2])):
        for place, turn in enumerate(talk[name], 1):
            said = turn.get("text", turn.get("clean_text"))
            caption = turn.get("blip_caption")
            if caption or turn.get("img_url"):
                said = f"{said or ''} [shares {caption or 'a picture'}]".strip()
            own = {"id": next(_ids(turn.get("dia_id", "")), f"{name}:{place}"), "session": name}
            own |= {"speaker": turn["speaker"], "time": talk[f"{name}_date_time"], "text": said}
            turns.append(own)
    known = {turn["id"] for turn in turns}
    # REALTALK's people are real, and talk with two others each; LoCoMo's are made up for one talk.
    people = [] if "conversation" in data else sorted({turn["speaker"] for turn in turns})
    for asked in data["qa"]:
        kind = LOCOMO.get(asked.get("category"), "other")
        answer = asked.get("answer")
        if kind == OPEN:  # LoCoMo's script also drops the reason after the semicolon
            answer = str(answer).partition(";")[0].strip()
        named = [str(each) for each in asked.get("evidence") or ()]
        evidence = [one for each in named for one in _ids(each)]
        unread = [each for each in named if each.strip() and not any(_ids(each))]
        question = {
            "text": asked["question"],
            "kind": kind,
            "answer": None if kind == ADVERSARIAL else answer,
            "evidence": [one for one in evidence if one in known],
            "lost": [*unread, *(one for one in evidence if one not in known)],
            "answerable": kind != ADVERSARIAL,
        }
        questions.append(question)
    name = data.get("sample_id") or ""
    return {"name": name, "turns": turns, "questions": questions, "people": people}


def _ids(written: str) -> Iterator[str]:
    """Yield the ids that a text names, as ``D3:12``."""
    for match in _IDS.finditer(written):
        first = int(match[2])
        for turn in range(first, max(first, int(match[3] or first)) + 1):
            yield f"D{int(match[1])}:{turn}"


_FORMATS: Mapping[str, Callable[[Mapping[str, Any]], Mapping[str, Any]]] = {
    "turns": dict,
    "life": dict,
    "haystack_sessions": _longmemeval,
    "conversation": _locomo,
    "session_1": _locomo,
}
"""The key that identifies each format, and the function that converts an item to our own."""
