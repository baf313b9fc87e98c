"""Reads our own format: turns of one conversation, and questions with the turns that answer them.

It is what ``recall serve`` takes, so a program that has one has the other.
"""

from __future__ import annotations

from keepsake.archive.records import Memory, MemoryKind
from keepsake.errors import KeepsakeError
from keepsake.lab.conversation import MarkedQuestion, read_questions, read_turns, times_of
from keepsake.lab.trials.items import Item, UnreadableBenchmark
from keepsake.lab.trials.trial import Trial, TrialQuestion


def read_marked_turns(data: Item, name: str) -> Trial:
    """One conversation with its questions, all asked at its end.

    Raises:
        UnreadableBenchmark: A field is missing or has another shape.
    """
    try:
        turns = read_turns(data.value)
        ids = {turn.id: number for number, turn in enumerate(turns, 1)}
        marked = read_questions(data.get("questions"), ids)
    except KeepsakeError as error:
        raise UnreadableBenchmark(f"{data.where}: {error.what}", error.cure) from error
    memories = tuple(
        Memory(n, t, MemoryKind.PERCEPTION, turn.text, turn.place, turn.speaker, event="say")
        for n, (turn, t) in enumerate(zip(turns, times_of(turns), strict=True), 1)
    )
    if not memories:
        raise data.wrong("has no turns")
    end = max(memory.time for memory in memories)

    def question(number: int, each: MarkedQuestion) -> TrialQuestion:
        return TrialQuestion(
            id=str(number),
            text=each.text,
            time=end,
            kind=each.kind,
            answers=each.answers,
            evidence=frozenset(ids[e] for e in each.evidence),
            answerable=each.answerable,
        )

    return Trial(name, "", memories, tuple(question(n, m) for n, m in enumerate(marked, 1)))
