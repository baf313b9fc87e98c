"""Which sentences bear on what was said: by words, by meaning, and by whose life it is about."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain

from game.mind.errors import ModelError
from game.mind.language.patterns import pattern
from game.mind.language.words import sentences, telling, words
from game.mind.ports import Embedder
from game.mind.prompt.reply.material import Sentence, SentenceOrigin

A_WORD = 0.12
"""What a telling word in common is worth beside a cosine of meaning."""
MOST_WORDS = 3
OWN_LIFE, THEIR_LIFE, NOT_ASKED = 0.08, 0.12, -0.1
"""What it is worth that somebody asked about the agent's life, or about their own; and what the
agent's life is worth then."""
SUMMARISED, SMALL_TALK = -0.05, -0.15
"""A raw memory says the same better than a summary of it; what an ordinary day brings matters
little."""
OVERHEARD = -0.08
"""What somebody wants the agent to know, they tell the agent."""
IN_CONTEXT = 0.6
"""What a question is worth together with the line before it, beside what it is worth alone."""
OF_A_PART = 0.95
"""What the meaning of a clause counts beside that of a whole sentence."""
_STANDS_ALONE = 2
NEAR = 0.65
"""What is worth this share of the best may be about the same."""
_POINTS_BACK = re.compile(r"^\W*and\b|\b(?:she|he|her|him|hers|they|them|their)\b", re.I)
_CLAUSE = re.compile(r"[,;:] (?=(?:and|who|which|but|so|for)\b)|; ")
_LEAST_CLAUSE = 3
_MINE = re.compile(r"\b(?:my|mine|i|i['’](?:m|ve|ll|d)|me|myself)\b", re.I)
_YOURS = re.compile(r"\b(?:you|your|yours|yourself)\b", re.I)
_HERE = re.compile(r"\b(?:here|this (?:inn|place|room|town|village|world))\b", re.I)
_ASIDE = re.compile(
    r"\b(?:(?:tell|remind|show|give) me|do you (?:still )?(?:remember|recall|know)|remember me"
    r"|can you tell|i (?:told|said to) you"
    r"|may i ask|let me ask|i wonder|i (?:want|would like|'d like) to know)\b",
    re.I,
)
"""Words with "I" and "you" in them that say nothing of whose life is meant."""
_ASKS_LEAVE = re.compile(r"\b(?:may|can|could|shall|should|might|would|let) (?:i|me|we)\b", re.I)


@dataclass(frozen=True, slots=True)
class Scored:
    """A sentence and what it is worth for this answer; about 0.3 and more is to the point."""

    sentence: Sentence
    worth: float


class Ranker:
    """Puts sentences in order. Safe in any thread.

    Args:
        embedder: Knows what means alike; None, or one that fails, leaves it to the words. One
            that keeps its vectors is wanted: most sentences come again and again.
    """

    def __init__(self, embedder: Embedder | None) -> None:
        self._embedder = embedder

    def rank(
        self, question: str, material: Iterable[Sentence], before: str = "", own_name: str = ""
    ) -> list[Scored]:
        """The sentences, best first; those that say the same only once. Blocks.

        Args:
            question: What was said to the agent.
            material: What it has.
            before: What the same person said before, to which "And her name?" belongs. Not the
                agent's own answer: that may be nonsense.
            own_name: The agent's, which says nothing where it is only called by it.
        """
        question = without_address(question, own_name)
        unique = {each.bare.casefold(): each for each in material}  # the newest of each
        found = list(unique.values())
        worths = self._worth(question, found)
        if before and leans(question, before):
            leaning = [IN_CONTEXT * each for each in self._worth(f"{before} {question}", found)]
            worths = list(map(max, worths, leaning))
        scored = list(map(Scored, found, worths))
        return _newest_first(sorted(scored, key=lambda each: -each.worth))

    def _worth(self, question: str, found: Sequence[Sentence]) -> list[float]:
        meant = self._meaning(question, [each.bare for each in found])
        wanted, bare = telling(question), _ASIDE.sub(" ", question)
        shared = [len(wanted & _telling(each)) for each in found]
        return [
            cosine
            + A_WORD * min(words, MOST_WORDS)
            + _by_life(bare, each)
            + OVERHEARD * each.overheard
            for each, cosine, words in zip(found, meant, shared, strict=True)
        ]

    def _meaning(self, question: str, texts: Sequence[str]) -> list[float]:
        """How near each text is to the question: by the nearest of its clauses.

        "I'm her cousin. I cannot eat eggs" as a whole is near to nothing that asks for eggs.
        """
        if self._embedder is None or not texts:
            return [0.0] * len(texts)
        clauses = [_clauses(text) for text in texts]
        wanted = list(dict.fromkeys([question, *texts, *chain.from_iterable(clauses)]))
        try:
            vectors = self._embedder.embed(wanted)
        except ModelError:
            return [0.0] * len(texts)
        asked = list(vectors[0])
        near = {t: math.sumprod(asked, vector) for t, vector in zip(wanted, vectors, strict=True)}
        return [
            max([near[text], *(OF_A_PART * near[part] for part in parts)])
            for text, parts in zip(texts, clauses, strict=True)
        ]


def _newest_first(ranked: list[Scored]) -> list[Scored]:
    """With what the best one's speaker said last before what they said earlier of the same.

    "Make it five nights" says less of nights than "I'd like to stay for two nights" and holds.
    """
    if not ranked or not ranked[0].sentence.who:
        return ranked
    who, least = ranked[0].sentence.who, NEAR * ranked[0].worth
    same = [each for each in ranked if each.sentence.who == who and each.worth >= least]
    newest = sorted((each.sentence for each in same), key=lambda each: each.time, reverse=True)
    return [
        *map(Scored, newest, (each.worth for each in same)),
        *(each for each in ranked if each not in same),
    ]


def leans(question: str, before: str) -> bool:
    """Whether a question can only be understood from what the same person said before it.

    One that merely says little leans on a question alone: a statement would answer itself.
    """
    asked = _ASIDE.sub(" ", question)
    if _POINTS_BACK.search(asked):
        return True
    stands = any(about.search(asked) for about in (_MINE, _YOURS, _HERE))
    return "?" in before and not stands and len(telling(asked)) < _STANDS_ALONE


def without_address(question: str, name: str) -> str:
    """``question`` without the name by which the agent is called: "Jory, who …", "…, Jory?"."""
    if not name.strip():
        return question
    called = f"(?:{re.escape(name)}|{re.escape(name.split(maxsplit=1)[0])})"
    first, last = rf"^{called}\s*[,!:]\s*", rf",\s*{called}\s*(?=[.?!]|$)"
    return pattern(f"{first}|{last}", re.I).sub("", question) or question


def _clauses(text: str) -> list[str]:
    """The parts of a sentence that say something by themselves; none where it has but one."""
    found = [c for each in sentences(text) for c in _CLAUSE.split(each)]
    found = [each for each in found if len(words(each)) >= _LEAST_CLAUSE]
    return found if len(found) > 1 else []


def is_of_asker(question: str) -> bool:
    """Whether the life of whoever asks is meant: "my", "I", and no "you" but in passing."""
    asked = _ASIDE.sub(" ", question)
    theirs = _MINE.search(asked) is not None and not _YOURS.search(asked)
    return theirs and not _ASKS_LEAVE.search(asked)


def _telling(each: Sentence) -> set[str]:
    """Its telling words. That somebody is there, which is all names, answers nothing about them."""
    company = each.origin is SentenceOrigin.COMPANY
    return set() if company else telling(f"{each.who} {each.bare}")


def _by_life(question: str, each: Sentence) -> float:
    mine, yours = _MINE.search(question) is not None, _YOURS.search(question) is not None
    match each.origin:
        case SentenceOrigin.SUMMARY:
            return SUMMARISED
        case SentenceOrigin.EVERYDAY | SentenceOrigin.COMPANY:
            return SMALL_TALK
        case SentenceOrigin.PARTNER if mine:
            return THEIR_LIFE
        case SentenceOrigin.SELF if mine != yours:
            return OWN_LIFE if yours else NOT_ASKED
    return 0.0
