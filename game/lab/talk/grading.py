"""Grades an answer by patterns: right, wrong, silent, markup, repeat or parrot.

Patterns are regular expressions that are searched for in the normalised answer: lower case,
straight quotes, single blanks. Two shorthands: ``<7>`` is ``7`` or ``seven``; a pattern that
begins with ``~`` is meant as the speaker's own: ``~piper`` finds *I am a piper* and *my brother
is a piper*, not *you are a piper*.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from enum import StrEnum
from functools import cache

from game.lab.talk.talk_set import SMALL_TALK, UNKNOWN, GradedQuestion


class AnswerVerdict(StrEnum):
    """What an answer is."""

    RIGHT = "right"
    WRONG = "wrong"
    SILENT = "silent"
    MARKUP = "markup"
    REPEAT = "repeat"
    PARROT = "parrot"


@dataclass(frozen=True, slots=True)
class Grade:
    """How an answer was graded."""

    verdict: AnswerVerdict  # what it is
    whose_life: bool = False  # whether it claims another's life as the speaker's own
    why: str = ""  # the pattern or rule that decided; empty where nothing matched


def grade(
    question: GradedQuestion,
    answer: str | None,
    *,
    earlier: Sequence[str] = (),
    names: Sequence[str] = (),
) -> Grade:
    """Grade one answer."""
    if answer is None or not re.search(r"[^\W_]", answer):
        return Grade(AnswerVerdict.SILENT)
    said = normalised(answer)
    whose = _found(question.not_own, said)
    if why := markup_in(answer, names):
        return Grade(AnswerVerdict.MARKUP, bool(whose), why)
    if _repeats(said, earlier):
        return Grade(AnswerVerdict.REPEAT, bool(whose), "an earlier line of its own")
    if _parrots(said, normalised(question.words)):
        return Grade(AnswerVerdict.PARROT, bool(whose), "the question's own words")
    return _by_patterns(question, said, whose)


def _by_patterns(question: GradedQuestion, said: str, whose: str) -> Grade:
    if whose:
        return Grade(AnswerVerdict.WRONG, True, whose)
    if wrong := _found(question.wrong, said):
        return Grade(AnswerVerdict.WRONG, why=wrong)
    if question.kind == SMALL_TALK and not question.right:
        why = "" if _plausible(said) else "too short or too long"
        return Grade(AnswerVerdict.WRONG if why else AnswerVerdict.RIGHT, why=why)
    right = question.right or (_ADMITS if question.kind == UNKNOWN else ())
    why = _found(right, said)
    return Grade(AnswerVerdict.RIGHT if why else AnswerVerdict.WRONG, why=why)


def normalised(text: str) -> str:
    """Lower case, straight quotes and dashes, single blanks."""
    return " ".join(text.translate(_PLAIN).casefold().split())


@cache
def compiled(text: str) -> re.Pattern[str]:
    """A pattern of a set, with its shorthands written out.

    Raises:
        re.error: It is no pattern.
    """
    own = text.startswith("~")
    body = _NUMBER.sub(lambda m: _number(int(m[1])), text.removeprefix("~").translate(_PLAIN))
    return re.compile(rf"{_MINE}(?:{body})" if own else body, re.IGNORECASE)


def markup_in(answer: str, names: Iterable[str] = ()) -> str:
    """What of the answer is prompt text or markup; empty if nothing is."""
    plain = answer.translate(_QUOTES)
    if plain.count('"') % 2:
        return "a quotation mark without its fellow"
    if found := _MARKUP.search(plain):
        return found[0].strip() or found[0]
    called = "|".join(re.escape(name) for name in names) or "(?!)"
    found = re.search(rf"(?:(?:^|\s)(?:{called})|^\s*(?:{_ROLES}))\s*:(?=\s|$)", plain, re.I)
    return found[0].strip() if found else ""


def _found(patterns: Iterable[str], said: str) -> str:
    """The first pattern that matches; empty if none does."""
    return next((each for each in patterns if compiled(each).search(said)), "")


def _repeats(said: str, earlier: Iterable[str]) -> bool:
    words = _words(said)
    return len(words) > _TOO_SHORT and any(_words(normalised(line)) == words for line in earlier)


def _parrots(said: str, asked: str) -> bool:
    mine, theirs = _words(said), _words(asked)
    if len(mine) < _TOO_SHORT or not theirs:
        return False
    return SequenceMatcher(None, mine, theirs, autojunk=False).ratio() >= _ALIKE


def _plausible(said: str) -> bool:
    return 1 <= len(_words(said)) <= _LONG


def _words(text: str) -> list[str]:
    return re.findall(r"[\w']+", text)


_TOO_SHORT, _LONG = 3, 70
_ALIKE = 0.8
_SAME = {"’": "'", "‘": "'", "“": '"', "”": '"'}
_QUOTES = str.maketrans(_SAME)
_PLAIN = str.maketrans({**_SAME, "–": "-", "—": "-", "…": "..."})
_ROLES = "user|assistant|system|model|question|answer|q|a|you|player"
_MARKUP = re.compile(
    r"[\[\]{}<>~|#*`‹›\\_]"
    r"|^\s*(?:say|talk to|emote|pose|whisper)(?=\s[^,])"  # as typed
    r"|^\s*\(|\(\s*(?:memor|remember|words|things?\b|note|to\b|player|\d)"
    r"|\bmemory \d+|\bnote words\b|\bsays(?: to \w+)?, ?\"|\bsays to you\b|\byou say, ?\""
    r"|\bwhispers? to you\b|\b\d{4}-\d\d-\d\d\b|\bim_(?:start|end)\b|\bend_of_turn\b"
    r"|^\s*(?:\d+[.)]|[-+•])\s|={2,}|-{3,}"
)
"""In the answer as it was spoken, case and all: ``say Hello``, but not *Say, who are you?*"""

_ADMITS = (
    r"\b(?:don't|do not|didn't|wouldn't|couldn't|can't|cannot|can not|haven't|have not|never|not) "
    r"(?:\w+ ){0,2}?(?:know|say|tell|told|said|remember|recall|mention\w*|hear\w*|learn\w*|certain"
    r"|sure|ask\w*|caught|been told|met)\b",
    r"\bno (?:idea|notion|clue|memory|knowledge)\b",
    r"\bno one (?:has )?(?:ever )?(?:told|said|mention)",
    r"\bno one's (?:ever )?(?:told|said)\b",
    r"\bnobody(?:'s| has)? (?:ever )?(?:told|said|mention)",
    r"\b(?:you tell me|search me|beats me|beyond me|who knows|news to me|unknown to me)\b",
    r"\bhard to say\b",
    r"\byou(?:'d| would|'ll| will)? (?:have|need) to (?:tell|ask|remind)",
    r"\bthat(?:'s| is) (?:not )?(?:something )?(?:i've not|i haven't|i have not)\b",
    r"\b(?:slip(?:s|ped)|escape[sd]?) (?:me|my mind|my memory)\b|\bremind me\b",
)
"""How people admit that they do not know; right for questions of the kind ``unknown``."""

_NOT_MINE = (
    "you|your|yours|you're|you've|you'd|he|she|they|his|her|hers|their|theirs|he's|she's|that|"
    "think|know|knew|remember|recall|believe|guess|hear|heard|told|said|sure|bet|hope|wonder|"
    "ask|asked|glad|sorry|suppose|gather|understand|see|promised|friend"
)
_MINE = (
    r"\b(?:i|i'm|i've|i'd|i'll|my|mine|we|our|me)\b"
    rf"(?:\s+(?!(?:{_NOT_MINE})\b)[\w'-]+){{0,6}}?\s+"
)
"""Somebody says of themselves, with nobody else's pronoun between it and the claim."""


_NUMBER = re.compile(r"<(\d{1,3})>")
_LOW = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
    "fifteen sixteen seventeen eighteen nineteen"
)
_ONES = tuple(_LOW.split())
_TENS = ("", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")


def _number(value: int) -> str:
    return rf"\b(?:{value}|{_spelt(value)})\b"


def _spelt(value: int) -> str:
    if value < len(_ONES):
        return _ONES[value]
    if value < 100:
        ten, one = divmod(value, 10)
        return _TENS[ten] + (rf"[- ]?{_ONES[one]}" if one else "")
    hundred, rest = divmod(value, 100)
    start = rf"(?:a|{_ONES[hundred]}) hundred" if hundred == 1 else f"{_ONES[hundred]} hundred"
    return start + (rf"(?: and)? {_spelt(rest)}" if rest else "")
