"""From graded answers to figures: shares with their confidence intervals, by kind of question."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median

from game.lab.talk.grading import AnswerVerdict, Grade
from game.lab.talk.talk_set import CHECKABLE, KINDS, GradedQuestion

CHECKED, EVERYTHING = "checkable", "all"
_Z = 1.959964
"""Standard deviations on either side of which 95 % lie."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A question with its answer and the grade."""

    question: GradedQuestion  # what was asked
    part: str  # ``tuning`` or ``held-out``
    agent: str  # who was asked
    text: str | None  # what was said; None for nothing
    grade: Grade  # how it was graded
    seconds: float = 0.0  # seconds of the model from the question to the answer, retries included
    wall: float = 0.0  # real seconds from the question to the answer, all work included
    thoughts: int = 0  # thoughts that it took
    prompt_tokens: int = 0  # tokens of the prompt that was answered, by the server's count
    completion_tokens: int = 0  # tokens that the model wrote, refused answers included
    outcomes: tuple[str, ...] = ()  # how each thought ended
    problem: str = ""  # why a thought came to nothing; empty if none did
    said: tuple[str, ...] = ()  # all that the agent said after the question
    raw: tuple[str, ...] = ()  # what the model wrote in each thought
    prompt: str = ""  # the prompt that was answered


@dataclass(frozen=True, slots=True)
class QuestionScore:
    """The figures of one kind of question."""

    kind: str  # the kind, or ``checkable`` (all but small talk), or ``all``
    n: int  # questions
    counts: dict[str, int]  # answers by verdict
    interval: tuple[float, float]  # Wilson's 95 % interval of the share that is right, 0 to 1
    whose_life: int  # answers that claim another's life as the agent's own
    whose_life_of: int  # questions where that would have been noticed
    own_words: int  # answers to the words of whoever asked, and to nobody's who asked just then
    median_seconds: float  # median of the model's seconds; 0 where nothing was asked of a model
    p95_seconds: float  # its 95th percentile
    median_wall: float  # median of all real seconds

    @property
    def right(self) -> float:
        """The share that is right, 0 to 1."""
        return self.counts[AnswerVerdict.RIGHT] / self.n if self.n else 0.0


def scores(answers: Sequence[Answer]) -> list[QuestionScore]:
    """The figures of each kind that was asked, then those of all checkable ones and of all."""
    by_kind = {kind: [a for a in answers if a.question.kind == kind] for kind in KINDS}
    return [
        *(score(kind, found) for kind, found in by_kind.items() if found),
        score(CHECKED, [each for each in answers if each.question.kind in CHECKABLE]),
        score(EVERYTHING, answers),
    ]


def score(kind: str, answers: Sequence[Answer]) -> QuestionScore:
    """The figures of these answers, under that name."""
    found = Counter(each.grade.verdict for each in answers)
    seconds = [each.seconds for each in answers if each.thoughts]
    return QuestionScore(
        kind=kind,
        n=len(answers),
        counts={verdict.value: found[verdict] for verdict in AnswerVerdict},
        interval=wilson(found[AnswerVerdict.RIGHT], len(answers)),
        whose_life=sum(each.grade.whose_life for each in answers),
        whose_life_of=sum(bool(each.question.not_own) for each in answers),
        own_words=sum(each.grade.own_words for each in answers),
        median_seconds=percentile(seconds, 0.5),
        p95_seconds=percentile(seconds, 0.95),
        median_wall=median([each.wall for each in answers]) if answers else 0.0,
    )


def wilson(right: int, n: int) -> tuple[float, float]:
    """Wilson's 95 % interval of a share; 0 to 1 where nothing was asked.

    Source: E. B. Wilson, Probable inference, the law of succession, and statistical inference
    (1927).
    """
    if not n:
        return 0.0, 1.0
    share, z2 = right / n, _Z * _Z
    middle = share + z2 / (2 * n)
    half = _Z * math.sqrt(share * (1 - share) / n + z2 / (4 * n * n))
    low, high = (middle - half) / (1 + z2 / n), (middle + half) / (1 + z2 / n)
    return max(low, 0.0), min(high, 1.0)


def percentile(values: Iterable[float], share: float) -> float:
    """The smallest value that so large a share of them does not exceed; 0 of none."""
    ordered = sorted(values)
    if not ordered:
        return 0.0
    return ordered[max(math.ceil(share * len(ordered)), 1) - 1]
