"""Grades an answer by patterns: right, wrong, silent, markup, repeat or parrot.

Patterns are regular expressions that are searched for in the normalised answer: lower case,
straight quotes, single blanks; :mod:`game.lab.talk.patterns` has their shorthands.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from enum import StrEnum

from game.lab.talk.patterns import PLAIN, QUOTES, compiled
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
    own_words: bool = True  # whether it is no answer to somebody else who asked just then


def grade(
    question: GradedQuestion,
    answer: str | None,
    *,
    earlier: Sequence[str] = (),
    names: Sequence[str] = (),
) -> Grade:
    """Grade one answer."""
    if answer is None or not re.search(r"[^\W_]", answer):
        return Grade(AnswerVerdict.SILENT, own_words=False)
    said = normalised(answer)
    own = not _found(question.beside, said) or bool(_found(question.right, said))
    return replace(_graded(question, answer, earlier, names), own_words=own)


def _graded(
    question: GradedQuestion, answer: str, earlier: Sequence[str], names: Sequence[str]
) -> Grade:
    said = normalised(answer)
    whose = _found(question.not_own, _QUOTED.sub(" ", said))
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
        why = "" if 1 <= len(_words(said)) <= _LONG else "too short or too long"
        return Grade(AnswerVerdict.WRONG if why else AnswerVerdict.RIGHT, why=why)
    right = question.right or (_ADMITS if question.kind == UNKNOWN else ())
    why = _found(right, said)
    return Grade(AnswerVerdict.RIGHT if why else AnswerVerdict.WRONG, why=why)


def normalised(text: str) -> str:
    """Lower case, straight quotes and dashes, single blanks."""
    return " ".join(text.translate(PLAIN).casefold().split())


def markup_in(answer: str, names: Iterable[str] = ()) -> str:
    """What of the answer is prompt text or markup; empty if nothing is."""
    plain = answer.translate(QUOTES)
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


def _words(text: str) -> list[str]:
    return re.findall(r"[\w']+", text)


_QUOTED = re.compile(r"\b(?:told|said)(?: [^,'\"]{1,40})?, (['\"]).*?[.!?…]\1(?=\s|$)")
"""A quotation of somebody else is no claim about the life of the one who quotes it."""
_TOO_SHORT, _LONG = 3, 70
_ALIKE = 0.8
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
