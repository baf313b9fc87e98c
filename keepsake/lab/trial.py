"""A life with questions about it, and what an answer in words is worth.

Measures: token F1, exact match, ROUGE-L, and not claiming to know. Texts are normalised as LoCoMo's
own script does, which is SQuAD's way with "and" among the articles: lower case, no punctuation, no
articles. Unlike it, words are not stemmed.
"""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from keepsake.archive.records import Memory

NOT_KNOWN = "No information available"
"""What a model is told to say where the lines do not tell; LoCoMo's own words for it."""
F1, EXACT, ROUGE_L, RIGHT = "f1", "exact", "rouge_l", "right"
_ABSTAINS = re.compile(
    r"no information|not (?:mentioned|stated|specified|provided|known|available|enough)|unknown|"
    r"unanswerable|(?:do|does|did)(?: not|n['’]t) (?:know|say|tell|mention|specify|provide|recall|"
    r"remember|have (?:any |enough )?information)|"
    r"(?:can ?not|can['’]t|could(?: not|n['’]t)|unable to) "
    r"(?:know|say|tell|answer|be (?:answered|determined)|determine)",
    re.I,
)
_PUNCTUATION = str.maketrans("", "", string.punctuation + "’“”…")
_ARTICLES = frozenset({"a", "an", "the", "and"})


@dataclass(frozen=True, slots=True)
class TrialQuestion:
    """One question, its asker and its time."""

    id: str
    text: str
    time: datetime  # what was lived up to then may be known
    kind: str = "all"  # the category of its benchmark
    answers: tuple[str, ...] = ()  # any of them is right, in these or other words
    evidence: frozenset[int] = frozenset()  # numbers of the memories that answer it
    # patterns, whatever the case: an answer with one of ``wrong`` is none, else one of ``right``
    # makes it right; none where words are compared with ``answers``
    right: tuple[str, ...] = ()
    wrong: tuple[str, ...] = ()
    asker: str = ""
    # who hears the answer, as in :attr:`Memory.source_id`: what was whispered is for its two alone
    audience: frozenset[str] = frozenset()
    delay: timedelta | None = None  # since the last of its evidence; None where it was not planned
    # what it asks for, where others ask for the same: their answers depend on each other
    about: str = ""
    answerable: bool = True  # whether the life holds the answer; else not knowing is right


@dataclass(frozen=True, slots=True)
class Trial:
    """One life and what is asked about it."""

    name: str  # what tables call it
    agent: str  # whose life it is; empty for a talk that is only listened to
    memories: tuple[Memory, ...]  # in the order lived, numbered from 1
    questions: tuple[TrialQuestion, ...] = field(default=())
    load: int = 0  # memories a day beside what is asked about; 0 where it was not planned


# -- scores


def words_of(text: str) -> list[str]:
    """The words of a text that count, in order."""
    bare = text.casefold().replace(",", "").translate(_PUNCTUATION)
    return [word for word in bare.split() if word not in _ARTICLES]


def token_f1(answer: str, right: str) -> float:
    """Harmonic mean of precision and recall over words, however they are ordered, 0 to 1."""
    said, wanted = Counter(words_of(answer)), Counter(words_of(right))
    return _harmonic(sum((said & wanted).values()), sum(said.values()), sum(wanted.values()))


def exact_match(answer: str, right: str) -> float:
    """1 where both have the same words, as LoCoMo counts it; else 0."""
    return float(set(words_of(answer)) == set(words_of(right)))


def rouge_l(answer: str, right: str) -> float:
    """F1 over the longest common subsequence of words (Lin 2004), 0 to 1."""
    said, wanted = words_of(answer), words_of(right)
    row = [0] * (len(wanted) + 1)  # the longest so far, for each beginning of ``wanted``
    for word in said:
        before = 0
        for place, other in enumerate(wanted, 1):
            now = row[place]
            row[place] = before + 1 if word == other else max(now, row[place - 1])
            before = now
    return _harmonic(row[-1], len(said), len(wanted))


def _harmonic(same: int, said: int, wanted: int) -> float:
    return 2 * same / (said + wanted) if same else float(said == wanted == 0)


def abstains(answer: str) -> bool:
    """Whether an answer says that it cannot be known; wider than LoCoMo's two phrases."""
    return _ABSTAINS.search(answer) is not None


def matches(patterns: Iterable[str], text: str) -> bool:
    """Whether one of the patterns stands in a text, whatever the case."""
    return any(re.search(pattern, text, re.I) for pattern in patterns)


def scores(question: TrialQuestion, answer: str) -> Mapping[str, float]:
    """What an answer is worth by each measure that fits its question, 0 to 1.

    A question that the life does not answer is worth 1 by all of them where the answer says so,
    else 0, as LoCoMo and LongMemEval have it.
    """
    if not question.answerable:
        well = abstains(answer) or matches(question.right, answer)
        measures = (RIGHT,) if question.right else (F1, EXACT, ROUGE_L)
        return dict.fromkeys(measures, float(well and not matches(question.wrong, answer)))
    found = {}
    if question.answers:
        found[F1] = max(token_f1(answer, each) for each in question.answers)
        found[EXACT] = max(exact_match(answer, each) for each in question.answers)
        found[ROUGE_L] = max(rouge_l(answer, each) for each in question.answers)
    if question.right:
        well = matches(question.right, answer) and not matches(question.wrong, answer)
        found[RIGHT] = float(well)
    return found


def stands_in(question: TrialQuestion, lines: Sequence[str]) -> bool:
    """Whether an accepted answer stands in some lines, word for word or by its pattern."""
    text = "\n".join(lines)
    if question.right:
        return matches(question.right, text)
    told = f" {' '.join(words_of(text))} "
    return any(f" {' '.join(words_of(each))} " in told for each in question.answers)
