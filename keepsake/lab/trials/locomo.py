"""Reads LoCoMo and REALTALK: sessions of talk between two people, and questions about all of it.

LoCoMo: Maharana et al., ACL 2024, arXiv:2402.17753. REALTALK: Lee et al. 2025, arXiv:2502.13270,
which writes the same fields one level higher.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime

from keepsake.archive.records import Memory, MemoryKind
from keepsake.lab.trials.items import Item, when
from keepsake.lab.trials.trial import Trial, TrialQuestion

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


def read_locomo(sample: Item, _name: str) -> Trial:
    """One conversation with its questions, named by its id.

    Raises:
        UnreadableBenchmark: A field is missing or has another shape.
    """
    talk = Item(sample.get("conversation"), f"{sample.where}, conversation")
    name = sample.get("sample_id")
    return _trial(str(name or sample.where), talk, sample, LOCOMO)


def read_realtalk(chat: Item, name: str) -> Trial:
    """One chat with its questions.

    Raises:
        UnreadableBenchmark: A field is missing or has another shape.
    """
    return _trial(name, chat, chat, REALTALK)


def _trial(name: str, talk: Item, asked: Item, kinds: Mapping[int, str]) -> Trial:
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
    time = when(began, before) if isinstance(began, str) else None
    for turn in talk.items(f"session_{session}", f"session {session}, turn"):
        written = turn.get("date_time")
        time = (when(written, time or before) if isinstance(written, str) else None) or time
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
