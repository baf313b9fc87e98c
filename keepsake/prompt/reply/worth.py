"""Which sentences bear on what was said: by words, by meaning, and by whose life it is about."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain

from keepsake.errors import ModelError
from keepsake.language.details import Detail, details
from keepsake.language.patterns import pattern
from keepsake.language.words import sentences, telling, words
from keepsake.ports import Embedder
from keepsake.prompt.reply.material import Sentence, SentenceOrigin

A_WORD = 0.04
"""What a telling word in common is worth beside a cosine of meaning."""
MOST_WORDS = 3
OWN_LIFE, THEIR_LIFE, NOT_ASKED = 0.08, 0.12, -0.1
"""What it is worth that somebody asked about the agent's life, or about that of whoever said the
sentence, by "my" or by name; and what the agent's life is worth where theirs is asked."""
SMALL_TALK = -0.15
"""What an ordinary day brings matters little."""
WHO_IS_HERE, PRESENCE = 0.4, -0.35
"""What the line that names all who are there is worth where that is asked for, and elsewhere; the
second also for the line that names the ways out."""
OVERHEARD = -0.2
"""What somebody wants the agent to know, they tell the agent."""
ASIDE = -0.15
"""What is said beside a question leads to it: "My hands are cold. Is there a fire?"."""
OF_THE_KIND = 0.1
"""What it is worth that a sentence has what is asked for: a time, a number, a name, a place."""
OWN_NAME = 0.3
"""What the agent's name in its own life is worth where that is asked for."""
BY_WORDS, A_WORD_ALONE = 0.3, 0.12
"""What a sentence is worth that has all telling words of a question, and what each is worth beside
that, where no embedder answers."""
IN_CONTEXT = 0.7
"""What a question is worth together with the line before it, beside what it is worth alone."""
OF_A_PART = 0.95
"""What the meaning of a clause counts beside that of a whole sentence."""
_STANDS_ALONE = 2
NEAR, ALIKE = 0.6, 0.4
"""What is worth this share of the best and has this cosine with it is about the same."""
BEARS, AKIN = 0.4, 0.15
"""What has this share and this cosine may tell of a change: it is said beside the best."""
AS_GOOD = 0.7
"""A sentence worth this share of the best is said beside it."""
_POINTS_BACK = re.compile(r"^\W*and\b|\b(?:she|he|her|him|hers|they|them|their)\b", re.I)
_CLAUSE = re.compile(r"[,;:] (?=(?:and|who|which|but|so|for)\b)|; ")
_LEAST_CLAUSE = 3
_MINE = re.compile(r"\b(?:my|mine|i|i['’](?:m|ve|ll|d)|me|myself)\b", re.I)
_YOURS = re.compile(r"\b(?:you|your|yours|yourself|ye|thou|thee|thy|thine)\b", re.I)
_HERE = re.compile(r"\b(?:here|this (?:inn|place|room|town|village|world))\b", re.I)
_ASIDE = re.compile(
    r"\b(?:(?:tell|remind|show|give) me|do you (?:still )?(?:remember|recall|know)|remember me"
    r"|can you tell|i (?:(?:told|said to) you|understand|hear|gather)"
    r"|may i ask|let me ask|i wonder|i (?:want|would like|'d like) to know)\b",
    re.I,
)
"""Words with "I" and "you" in them that say nothing of whose life is meant."""
_ASKS_TIME = re.compile(
    r"\b(?:when|(?:what|which) (?:time|day|date|month|year)|how (?:long|old))\b", re.I
)
_ASKS_NUMBER = re.compile(
    r"\b(?:how (?:many|much)|(?:what|which) (?:number|room)|price of"
    r"|what .*\b(?:pay|paid|cost|earn|charge)s?)\b",
    re.I,
)
_ASKS_NAME = re.compile(r"\b(?:who|who['’]s|whose|whom|names?|called)\b", re.I)
_ASKS_OWN_NAME = re.compile(
    r"\b(?:your (?:full |first |last |own |good )?name\b|what are you called\b|you are\?"
    r"|(?:should|may|can|do|does) (?:I|we|they|people|everybody|everyone) call you\b"
    r"|whom have I the (?:honour|honor|pleasure)"
    r"|who(?: are|['’]re| might) you(?: be)?(?:,? then)?\W*(?:$|[?.!,]))",
    re.I,
)
_ASKS_WHO_IS_HERE = re.compile(
    r"\b(?:who(?:['’]s| is| are|['’]re| else is)|is (?:any|some)(?:body|one)) (?:else |all |in )?"
    r"(?:here|around|present|in the room|with (?:you|us)|in there)\b(?! (?:from|called|named))"
    r"|\bare (?:you|we) alone\b",
    re.I,
)
_ASKS_THE_WAY = re.compile(
    r"\b(?:ways?|exits?|out|leave|leads?|get (?:to|from)|gets?|go(?:es)?|going|doors?|roads?|paths?"
    r"|north|south|east|west|reach|find|where)\b",
    re.I,
)
_ASKS_PLACE = re.compile(
    r"\b(?:where|(?:what|which) (?:town|village|place|street|city|country|county|planet))\b", re.I
)
_ASKS_IF_TOLD = re.compile(
    r"\bdid \w+ (?:ever |already |also )?(?:mention|tell|say|let (?:on|slip))\b", re.I
)
_TIME = re.compile(
    r"\b(?:(?:mon|tues|wednes|thurs|fri|satur|sun|to|birth|mid|yester)?days?|tomorrow|noon|(?:mid|to)?nights?"
    r"|mornings?|evenings?|weeks?|months?|years?|(?:mid)?(?:summer|winter)|spring|autumn|dawn|dusk"
    r"|o['’]clock|since|until|ago)\b",
    re.I,
)
_PLACE = re.compile(
    r"\b(?:in|at|on|from|to|near|by|behind|under|above|over|into|beside|next)\b", re.I
)
_ASKS = re.compile(
    r"(?:^|[,.;:!?-] )\W*(?:(?:and|so|but|then|well) )?"
    r"(?:(?:what|how)(?! about|['’]s (?:up|new|wrong)| (?:is (?:up|new|wrong)|shall|should))"
    r"|where|when|who|whose|whom|which|why)\b",
    re.I,
)
_ASKS_LEAVE = re.compile(r"\b(?:may|can|could|shall|should|might|would|let) (?:i|me|we)\b", re.I)


_ASKS_TO_STAY = re.compile(
    r"(?:(?:^|[.,!?;] |\b(?:so|and|but|well|then) )(?:may|can|could|might)"
    r"|\b(?:is it|would it be|that) (?:all right|alright|okay|ok|fine)(?: with you)? if|\bmind if)"
    r" (?:i|we) (?:just |please )?(?:(?:come|came|sit|sat|stay|rest|wait|warm|enter|listen|watch"
    r"|shelter)(?:ed)?|look(?! (?:at|for|into|through)\b)|join(?! (?:the|an?)\b)"
    r"|st(?:and|ood)(?! for\b))"
    r"\b(?!.*\b(?:if|or)\b)",
    re.I,
)


@dataclass(frozen=True, slots=True)
class Scored:
    """A sentence and what it is worth for this answer; about a quarter and more is to the point."""

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
        unique = {each.bare.casefold().rstrip(" .!"): each for each in material}  # the newest
        found = _whole(unique.values())
        worths = self._worth(question, found, own_name)
        if _ASKS_OWN_NAME.search(question):
            named = [OWN_NAME * _is_name_of(own_name, each) for each in found]
            worths = [worth + more for worth, more in zip(worths, named, strict=True)]
        if before and leans(question, before):
            leaning = self._worth(f"{before} {question}", found, own_name)
            if "?" in before:  # what led to that question answers none
                leaning = [
                    0.0 if e.bare in before else w for e, w in zip(found, leaning, strict=True)
                ]
            worths = _best_of(worths, leaning, IN_CONTEXT)
        scored = list(map(Scored, found, worths))
        return self._newest_first(question, sorted(scored, key=lambda each: -each.worth))

    def _worth(self, question: str, found: Sequence[Sentence], own_name: str) -> list[float]:
        wanted, bare = telling(question), _ASIDE.sub(" ", question)
        shared = [len(wanted & _telling(each)) for each in found]
        meant, a_word = self._meaning(question, [each.bare for each in found]), A_WORD
        if not meant:
            a_word = A_WORD_ALONE
            said = [len(wanted & _telling_of(each.bare)) for each in found]
            meant = [BY_WORDS * words / max(len(wanted), 1) for words in said]
        else:
            meant = [
                m + THEIR_LIFE * _is_named(each, wanted)
                for m, each in zip(meant, found, strict=True)
            ]
        is_of_kind = _kind_asked(question, own_name)
        return [
            cosine
            + a_word * min(words, MOST_WORDS)
            + _by_life(bare, each)
            + OVERHEARD * each.overheard
            + ASIDE * each.aside
            + OF_THE_KIND * is_of_kind(each)
            for each, cosine, words in zip(found, meant, shared, strict=True)
        ]

    def _newest_first(self, question: str, ranked: list[Scored]) -> list[Scored]:
        """With what the best one's speaker has said since of the same, in its place or beside it.

        "Make it five nights" says less of nights than "I'd like to stay for two nights" and holds;
        "It's in the barn now" hardly says of what.
        """
        best = ranked[0] if ranked else None
        if best is None or not best.sentence.who:
            return ranked
        later = [e for e in ranked if _is_later(e, best) and may_be_of_same(question, best, e)]
        alike = self._meaning(best.sentence.bare, [each.sentence.bare for each in later])
        near = list(zip(later, alike, strict=False))
        same = [
            e
            for e, cosine in near
            if cosine >= ALIKE and e.worth >= NEAR * best.worth and is_of_same(question, best, e)
        ]
        if same:
            newest = max(same, key=lambda each: each.sentence.time)
            moved = {id(newest): best.worth, id(best): newest.worth}
        elif akin := [each for each, cosine in near if cosine >= AKIN]:
            moved = {id(akin[0]): max(akin[0].worth, AS_GOOD * best.worth)}
        else:
            return ranked
        scored = [Scored(e.sentence, moved.get(id(e), e.worth)) for e in ranked]
        return sorted(scored, key=lambda each: -each.worth)

    def _meaning(self, question: str, texts: Sequence[str]) -> list[float]:
        """How near each text is to the question, by the nearest of its clauses; empty if unknown.

        "I'm her cousin. I cannot eat eggs" as a whole is near to nothing that asks for eggs.
        """
        if self._embedder is None or not texts:
            return []
        clauses = [_clauses(text) for text in texts]
        wanted = list(dict.fromkeys([question, *texts, *chain.from_iterable(clauses)]))
        try:
            vectors = self._embedder.embed(wanted)
        except ModelError:
            return []
        asked = list(vectors[0])
        near = {t: math.sumprod(asked, vector) for t, vector in zip(wanted, vectors, strict=True)}
        return [
            max([near[text], *(OF_A_PART * near[part] for part in parts)])
            for text, parts in zip(texts, clauses, strict=True)
        ]


def _is_name_of(agent: str, each: Sentence) -> bool:
    """Whether a sentence of an agent's own life tells its name."""
    name = telling(agent)
    return each.origin is SentenceOrigin.SELF and bool(name & telling(each.bare))


def _is_named(each: Sentence, wanted: Collection[str]) -> bool:
    """Whether a question names who said it: "When does Henrik's ship sail?"."""
    return each.is_quoted and not _telling_of(each.who).isdisjoint(wanted)


def _is_later(each: Scored, best: Scored) -> bool:
    one, other = each.sentence, best.sentence
    return one.who == other.who and one.time > other.time and each.worth >= BEARS * best.worth


def _keys(text: str) -> set[str]:
    """The numbers in it, and the words of its names."""
    return {key for each in _details(text) for key in each.keys}


def is_of_same(question: str, best: Scored, other: Scored) -> bool:
    """Whether it has the names and numbers of the question that the best has: "room 15"."""
    return not _lacks(question, best, other)


def may_be_of_same(question: str, best: Scored, other: Scored) -> bool:
    """Whether it has no other name or number in place of those: "she" may be the one."""
    lacks, has = _lacks(question, best, other), _details(other.sentence.bare)
    return not any(one.number == each.number for one in lacks for each in has)


def _lacks(question: str, best: Scored, other: Scored) -> list[Detail]:
    """What the question and the best name and the other does not, but for who said it."""
    wanted = _keys(question) & _keys(best.sentence.bare)
    has = _keys(other.sentence.bare) | _telling_of(other.sentence.who)
    return [
        e for e in _details(question) if not wanted.isdisjoint(e.keys) and has.isdisjoint(e.keys)
    ]


def _best_of(worths: Sequence[float], others: Sequence[float], share: float) -> list[float]:
    return [max(one, share * other) for one, other in zip(worths, others, strict=True)]


def _whole(found: Iterable[Sentence]) -> list[Sentence]:
    """Without what was cut where it was kept, if all of it is there as well, and may be said."""
    found = list(found)
    cut = [e for e in found if e.bare.endswith("…") and len(words(e.bare)) >= _LEAST_CLAUSE]
    gone = {id(c) for c in cut if any(_is_more(each, c) for each in found)}
    return [each for each in found if id(each) not in gone]


def _is_more(whole: Sentence, cut: Sentence) -> bool:
    same = whole.who == cut.who and whole.confided <= cut.confided
    return same and whole.bare != cut.bare and cut.bare[:-1] in whole.bare


def _without_lead(question: str) -> str:
    """The questions alone, where something else is said beside them; empty where nothing is."""
    found = sentences(question)
    asked = [each for each in found if "?" in each]
    return " ".join(asked) if 0 < len(asked) < len(found) else ""


def _kind_asked(question: str, own_name: str) -> Callable[[Sentence], bool]:
    """Tells of a sentence whether it has the kind of thing that a question asks for."""
    if _ASKS_TIME.search(question):
        return lambda each: _TIME.search(each.bare) is not None or _has_number(each)
    if _ASKS_NUMBER.search(question):
        return _has_number
    if _ASKS_NAME.search(question):
        # Nor is the agent's own: that it is Thale Alder does not tell who the mayor is.
        known = {key for each in _details(f"{question}, {own_name}") for key in each.keys}
        return lambda each: _names_others(each, known)
    if _ASKS_PLACE.search(question):
        return lambda each: _PLACE.search(each.bare) is not None
    return lambda _: False


def _names_others(each: Sentence, known: Collection[str]) -> bool:
    """Whether it names somebody or something else than these and whoever said it."""
    known = {*known, *_telling_of(each.who)}
    return any(not e.number and known.isdisjoint(e.keys) for e in _details(each.bare))


def _has_number(each: Sentence) -> bool:
    return any(detail.number for detail in _details(each.bare))


@lru_cache(maxsize=4096)
def _details(text: str) -> tuple[Detail, ...]:
    return tuple(details([text]).values())


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
    first, last = rf"^{called}\s*[,!:]\s*", rf",\s*{called}\s*(?=[.?!]|,(?! (?:and|or)\b)|$)"
    return pattern(f"{first}|{last}", re.I).sub("", question) or question


@lru_cache(maxsize=4096)
def _clauses(text: str) -> tuple[str, ...]:
    """The parts of a sentence that say something by themselves; none where it has but one."""
    found = [c for each in sentences(text) for c in _CLAUSE.split(each)]
    found = [each for each in found if len(words(each)) >= _LEAST_CLAUSE]
    return tuple(found) if len(found) > 1 else ()


def is_of_asker(question: str) -> bool:
    """Whether the life of whoever asks is meant: "my", "I", and no "you" but in passing."""
    asked = _ASIDE.sub(" ", question)
    theirs = _MINE.search(asked) is not None and not _YOURS.search(asked)
    return theirs and not _ASKS_LEAVE.search(asked)


def asks_for_a_kind(question: str) -> bool:
    """Whether a time, a number, a name or a place is asked for, or if something was told."""
    kinds = (_ASKS_TIME, _ASKS_NUMBER, _ASKS_NAME, _ASKS_PLACE, _ASKS_IF_TOLD)
    return any(kind.search(question) for kind in kinds)


def asks_leave(question: str) -> bool:
    """Whether somebody asks if they may be there: "May I come in?"."""
    return _ASKS_TO_STAY.search(question) is not None


def asks_for_facts(question: str) -> bool:
    """Whether what, who, where or when is asked, and not what the agent itself thinks."""
    asked = _ASIDE.sub(" ", _without_lead(question) or question)
    return bool(telling(asked)) and bool(_ASKS.search(asked)) and not _YOURS.search(asked)


def _telling(each: Sentence) -> frozenset[str]:
    """Its telling words. That somebody is there, which is all names, answers nothing about them."""
    company = each.origin is SentenceOrigin.COMPANY
    return frozenset() if company else _telling_of(f"{each.who} {each.bare}")


@lru_cache(maxsize=4096)
def _telling_of(text: str) -> frozenset[str]:
    """The telling words of a sentence, which is weighed again for each reply."""
    return frozenset(telling(text))


def _asks_for_company(question: str, each: Sentence) -> bool:
    """Whether it is asked who is there, or for one of them: "Is Ann here?"."""
    named = _HERE.search(question) and telling(question) & _telling_of(each.bare)
    return bool(named) or _ASKS_WHO_IS_HERE.search(question) is not None


def _by_life(question: str, each: Sentence) -> float:
    mine, yours = _MINE.search(question) is not None, _YOURS.search(question) is not None
    match each.origin:
        case SentenceOrigin.EVERYDAY:
            return SMALL_TALK
        case SentenceOrigin.WAYS:
            return 0.0 if _ASKS_THE_WAY.search(question) else PRESENCE
        case SentenceOrigin.COMPANY:
            return WHO_IS_HERE if _asks_for_company(question, each) else PRESENCE
        case SentenceOrigin.PARTNER if mine:
            return THEIR_LIFE
        case SentenceOrigin.SELF | SentenceOrigin.TIE if yours and not mine:
            return OWN_LIFE
        case SentenceOrigin.SELF if mine and not yours:
            return NOT_ASKED
    return 0.0
