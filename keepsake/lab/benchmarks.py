"""Reads the files of benchmarks as they are published; the content says which format it is.

LoCoMo: Maharana et al., ACL 2024, arXiv:2402.17753. REALTALK: Lee et al. 2025, arXiv:2502.13270,
which writes the same fields one level higher. LongMemEval: Wu et al., ICLR 2025, arXiv:2410.10813,
three files of one form. Our own format is what ``recall serve`` takes, with questions.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from keepsake.archive.records import Memory, MemoryKind
from keepsake.errors import KeepsakeError
from keepsake.lab.conversation import moment, read_turns, times_of
from keepsake.lab.trial import Trial, TrialQuestion

FORMATS_PAGE = "docs/evaluation.md has the formats"
ENDINGS = (".json", ".jsonl")
ABSTENTION = "_abs"
"""How the id of a question of LongMemEval ends that the chats do not answer."""
OPEN, ADVERSARIAL = "open-domain", "adversarial"
LOCOMO = {1: "multi-hop", 2: "temporal", 3: OPEN, 4: "single-hop", 5: ADVERSARIAL}
"""What LoCoMo's numbers of categories mean; an adversarial question has no answer in the talk."""
REALTALK = {1: "multi-hop", 2: "temporal", 3: "commonsense"}
SESSION = re.compile(r"session_(\d+)")
_IDS = re.compile(r"D(\d+):0*(\d+)(?:\s*-\s*(?:D\1:)?0*(\d+))?")
"""An id of evidence, or a range of them; some have a zero, a blank or a stop too many."""
_BEGIN = datetime(2000, 1, 1, tzinfo=UTC)

type TurnId = tuple[int, int]
"""Session and turn: ``D3:12`` is (3, 12)."""


class UnreadableBenchmark(KeepsakeError):
    """A file that is in none of the formats that are known, or an item of one that is wrong."""


@dataclass(frozen=True, slots=True)
class Item:
    """One value of a file."""

    value: Any
    where: str  # for errors: ``locomo10.json, sample 3, question 12``

    def get(self, name: str) -> Any:
        """A field; None where it is missing or the value is no object."""
        return self.value.get(name) if isinstance(self.value, dict) else None

    def text(self, name: str) -> str:
        """A field that must be a text; numbers are written out, as answers may be some.

        Raises:
            UnreadableBenchmark: It is missing or something else.
        """
        found = self.get(name)
        if isinstance(found, bool) or not isinstance(found, str | int | float):
            raise self.wrong(f"has no text in its {name!r}")
        return str(found)

    def items(self, name: str, called: str) -> Iterator[Item]:
        """The values of a field that must be a list.

        Raises:
            UnreadableBenchmark: It is missing or something else.
        """
        found = self.get(name)
        if not isinstance(found, list):
            raise self.wrong(f"has no list in its {name!r}")
        for number, each in enumerate(found, 1):
            yield Item(each, f"{self.where}, {called} {number}")

    def wrong(self, what: str) -> UnreadableBenchmark:
        """An error about this value."""
        return UnreadableBenchmark(f"{self.where}: it {what}", f"Correct it; {FORMATS_PAGE}")


def _when(text: object, before: datetime = _BEGIN) -> datetime | None:
    """A date with its clock time as one of the benchmarks writes it; None if it is none."""
    if not isinstance(text, str):
        return None
    day, _, rest = text.partition("(")  # 2023/05/20 (Sat) 02:21
    return moment(f"{day.rstrip()}{rest.partition(')')[2]}", before)


# -- files


_KNOWN = (
    'Known are LoCoMo ("conversation" with "session_1" …, and "qa"), LongMemEval '
    '("haystack_sessions"), REALTALK ("session_1" … and "qa") and {"turns": …, "questions": …}; '
    f"{FORMATS_PAGE}"
)


def read_trials(path: Path) -> list[Trial]:
    """The lives of a file, or of all files of a folder, with their questions.

    Raises:
        UnreadableBenchmark: It cannot be read; names the file, the item and the cure.
    """
    files = [path]
    if path.is_dir():
        files = sorted(each for each in path.iterdir() if each.suffix in ENDINGS)
        if not files:
            raise UnreadableBenchmark(f"{path} has no .json files", "Name the folder of the data")
    found = [trial for file in files for trial in _trials(file, _loaded(file))]
    if not any(trial.questions for trial in found):
        raise UnreadableBenchmark(f"{path} has no questions", _KNOWN)
    return list(_distinct(found))


def _distinct(found: Iterable[Trial]) -> Iterator[Trial]:
    """Each with a name of its own, by which its figures are told from those of others."""
    times: Counter[str] = Counter()
    for trial in found:
        times[trial.name] += 1
        count = times[trial.name]
        yield trial if count == 1 else replace(trial, name=f"{trial.name} ({count})")


def _loaded(path: Path) -> Any:
    try:
        text = path.read_text(encoding="utf-8-sig")
        if path.suffix == ".jsonl":
            return [json.loads(line) for line in text.splitlines() if line.strip()]
        return json.loads(text)
    except OSError as error:
        told = f"{path} cannot be read ({error.strerror or error})"
        raise UnreadableBenchmark(told, "Name a file that is there") from error
    except (ValueError, RecursionError) as error:
        raise UnreadableBenchmark(f"{path} is no JSON ({error})", _KNOWN) from error


def _trials(path: Path, data: Any) -> Iterator[Trial]:
    """A list holds one sample an entry; an object is one alone."""
    if not isinstance(data, list):
        yield _trial(Item(data, path.name), path.stem)
        return
    for number, each in enumerate(data, 1):
        yield _trial(Item(each, f"{path.name}, sample {number}"), f"{path.stem} {number}")


def _trial(item: Item, name: str) -> Trial:
    for is_of_it, read in _FORMATS:
        if isinstance(item.value, dict) and is_of_it(item.value):
            return read(item, name)
    has = ", ".join(map(str, item.value)) if isinstance(item.value, dict) else repr(item.value)
    raise UnreadableBenchmark(
        f"{item.where} is in no format that is known (it has {has:.80})", _KNOWN
    )


# -- our own format


def read_marked_turns(data: Item, name: str) -> Trial:
    """One conversation with its questions, all asked at its end.

    Raises:
        UnreadableBenchmark: A field is missing or has another shape.
    """
    try:
        turns = read_turns(data.value)
    except KeepsakeError as error:
        raise UnreadableBenchmark(f"{data.where}: {error.what}", error.cure) from error
    ids = {turn.id: number for number, turn in enumerate(turns, 1)}
    memories = tuple(
        Memory(n, t, MemoryKind.PERCEPTION, turn.text, turn.place, turn.speaker, event="say")
        for n, (turn, t) in enumerate(zip(turns, times_of(turns), strict=True), 1)
    )
    if not memories:
        raise data.wrong("has no turns")
    end = max(memory.time for memory in memories)
    asked = enumerate(data.items("questions", "question"), 1)
    return Trial(name, "", memories, tuple(_marked(each, n, ids, end) for n, each in asked))


def _marked(item: Item, number: int, ids: Mapping[str, int], end: datetime) -> TrialQuestion:
    answerable = item.get("answerable") is not False
    answers, evidence = item.get("answer") or [], item.get("evidence") or []
    answers = answers if isinstance(answers, list) else [answers]
    if not isinstance(evidence, list) or not all(isinstance(e, str) for e in (*evidence, *answers)):
        raise item.wrong("has no list of ids in its 'evidence', or no text in its 'answer'")
    if (answerable and not evidence) or not ids.keys() >= set(evidence):
        raise item.wrong("has no evidence or names unknown turns")
    return TrialQuestion(
        id=str(number),
        text=item.text("text"),
        time=end,
        kind=str(item.get("kind") or "all"),
        answers=tuple(answers),
        evidence=frozenset(ids[each] for each in evidence),
        answerable=answerable,
    )


# -- LongMemEval


def read_longmemeval(instance: Item, _name: str) -> Trial:
    """One instance; its sessions in the order of their dates, and its question after them all.

    Raises:
        UnreadableBenchmark: A field is missing or has another shape.
    """
    turns = list(_chat_turns(instance))
    memories = tuple(_chat_memory(turn, n, time) for n, (time, turn) in enumerate(turns, 1))
    if not memories:
        raise instance.wrong("has no turns in its 'haystack_sessions'")
    marked = (n for n, (_, turn) in enumerate(turns, 1) if turn.get("has_answer") is True)
    name = instance.text("question_id")
    unknown = name.endswith(ABSTENTION)
    asked = max(_date(instance, instance.get("question_date")), memories[-1].time)
    question = TrialQuestion(
        id=name,
        text=instance.text("question"),
        time=asked,
        kind="abstention" if unknown else instance.text("question_type"),
        answers=() if unknown else (instance.text("answer"),),
        evidence=frozenset() if unknown else frozenset(marked),
        answerable=not unknown,
    )
    return Trial(name, "", memories, (question,))


def _chat_turns(instance: Item) -> Iterator[tuple[datetime, Item]]:
    sessions = list(instance.items("haystack_sessions", "session"))
    dates = list(instance.items("haystack_dates", "date"))
    if len(dates) != len(sessions):
        raise instance.wrong(f"has {len(sessions)} sessions and {len(dates)} dates")
    dated = [(_date(d, d.value), s) for d, s in zip(dates, sessions, strict=True)]
    for time, session in sorted(dated, key=lambda each: each[0]):
        if not isinstance(session.value, list):
            raise session.wrong("is no list of turns")
        for number, turn in enumerate(session.value, 1):
            yield time, Item(turn, f"{session.where}, turn {number}")


def _chat_memory(turn: Item, number: int, time: datetime) -> Memory:
    said, who = turn.text("content"), turn.text("role")
    return Memory(number, time, MemoryKind.PERCEPTION, said, source=who, event="say")


def _date(item: Item, written: object) -> datetime:
    if (found := _when(written)) is None:
        raise item.wrong(f"has a date that cannot be read: {written!r:.60}")
    return found


# -- LoCoMo and REALTALK


def read_locomo(sample: Item, _name: str) -> Trial:
    """One conversation with its questions, named by its id.

    Raises:
        UnreadableBenchmark: A field is missing or has another shape.
    """
    talk = Item(sample.get("conversation"), f"{sample.where}, conversation")
    name = sample.get("sample_id")
    return _talk_trial(str(name or sample.where), talk, sample, LOCOMO)


def read_realtalk(chat: Item, name: str) -> Trial:
    """One chat with its questions.

    Raises:
        UnreadableBenchmark: A field is missing or has another shape.
    """
    return _talk_trial(name, chat, chat, REALTALK)


def _talk_trial(name: str, talk: Item, asked: Item, kinds: Mapping[int, str]) -> Trial:
    memories: list[Memory] = []
    ids: dict[TurnId, int] = {}
    for session in _sessions(talk):
        for turn, time in _turns(talk, session, memories[-1].time if memories else _BEGIN):
            memories.append(_memory(turn, len(memories) + 1, time))
            ids.update(dict.fromkeys(_ids(turn.get("dia_id")), len(memories)))
    if not memories:
        raise talk.wrong("has no session with turns")
    end = max(memory.time for memory in memories)
    questions = (_question(each, kinds, ids, end) for each in asked.items("qa", "question"))
    return Trial(name, "", tuple(memories), tuple(questions))


def _sessions(talk: Item) -> list[int]:
    """Numbers of the sessions that have turns, in order; LoCoMo has dates of some more."""
    found = (SESSION.fullmatch(key) for key in talk.value)
    return sorted(int(match[1]) for match in found if match and talk.value[match[0]])


def _turns(talk: Item, session: int, before: datetime) -> Iterator[tuple[Item, datetime]]:
    began = talk.get(f"session_{session}_date_time")
    time = _when(began, before)
    for turn in talk.items(f"session_{session}", f"session {session}, turn"):
        time = _when(turn.get("date_time"), time or before) or time
        if time is None:
            raise turn.wrong(f"has no 'date_time', and there is no session_{session}_date_time")
        yield turn, time


def _memory(turn: Item, number: int, time: datetime) -> Memory:
    said = turn.get("clean_text") if turn.get("clean_text") is not None else turn.get("text")
    caption, picture = turn.get("blip_caption"), turn.get("img_url") or turn.get("img_file")
    shares = f"[shares {caption or 'a picture'}]" if caption or picture else ""
    text = " ".join(filter(None, (str(said or "").strip(), shares)))
    if said is None and not shares:
        raise turn.wrong("has neither 'text' nor 'clean_text'")
    return Memory(
        number, time, MemoryKind.PERCEPTION, text, source=turn.text("speaker"), event="say"
    )


def _ids(written: object) -> Iterator[TurnId]:
    for match in _IDS.finditer(str(written)):
        first = int(match[2])
        for turn in range(first, max(first, int(match[3] or first)) + 1):
            yield int(match[1]), turn


def _question(
    item: Item, kinds: Mapping[int, str], ids: Mapping[TurnId, int], end: datetime
) -> TrialQuestion:
    kind = kinds.get(category) if isinstance(category := item.get("category"), int) else None
    marked = item.get("evidence") or []
    evidence = {n for e in marked for i in _ids(e) if (n := ids.get(i))}
    answerable = kind != ADVERSARIAL
    return TrialQuestion(
        id=item.where.rpartition(" ")[2],
        text=item.text("question"),
        time=end,
        kind=kind or "other",
        answers=(_answer(item, kind),) if answerable else (),
        evidence=frozenset(evidence),
        answerable=answerable,
    )


def _answer(item: Item, kind: str | None) -> str:
    """LoCoMo's own score drops the reason behind an open answer."""
    answer = item.text("answer")
    return answer.partition(";")[0].strip() if kind == OPEN else answer


_FORMATS: tuple[tuple[Callable[[dict[str, Any]], bool], Callable[[Item, str], Trial]], ...] = (
    (lambda value: "turns" in value, read_marked_turns),
    (lambda value: "haystack_sessions" in value, read_longmemeval),
    (lambda value: isinstance(value.get("conversation"), dict), read_locomo),
    (lambda value: any(map(SESSION.fullmatch, value)), read_realtalk),
)
"""How each format is known, and what reads an item of it under a name from its file."""
