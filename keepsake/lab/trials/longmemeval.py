"""Reads LongMemEval: each question with the chats of a user and an assistant that come before it.

Wu et al., ICLR 2025, arXiv:2410.10813. The three published files have the same form.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

from keepsake.archive.records import Memory, MemoryKind
from keepsake.lab.trials.items import Item, when
from keepsake.lab.trials.trial import Trial, TrialQuestion

ABSTENTION = "_abs"
"""How the id of a question ends that the chats do not answer."""
_ANY = datetime(2000, 1, 1, tzinfo=UTC)

type Turn = tuple[datetime, Item]


def read_longmemeval(instance: Item, _name: str) -> Trial:
    """One instance; its sessions in the order of their dates, and its question after them all.

    Raises:
        UnreadableBenchmark: A field is missing or has another shape.
    """
    turns = list(_turns(instance))
    memories = tuple(_memory(turn, n, time) for n, (time, turn) in enumerate(turns, 1))
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


def _turns(instance: Item) -> Iterator[Turn]:
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


def _memory(turn: Item, number: int, time: datetime) -> Memory:
    said, who = turn.text("content"), turn.text("role")
    return Memory(number, time, MemoryKind.PERCEPTION, said, source=who, event="say")


def _date(item: Item, written: object) -> datetime:
    found = when(written, _ANY) if isinstance(written, str) else None
    if found is None:
        raise item.wrong(f"has a date that cannot be read: {written!r:.60}")
    return found
