"""Answers by rules, for agents without a model.

The answer to a question is the best matching sentence: one that the asker said before, as a quote,
or a sentence of the agent's persona that is not secret, in the first person. Without a match the
agent says that it does not know. A question about the asker, such as "What do you remember of me?",
is answered only with what the asker said, or else with a gesture. A greeting, a farewell or thanks
get a stock line of ``fallback.yaml``. Anything else gets a gesture, because no words fit both grief
and a joke. The caller passes no sentences of other people.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import yaml

from keepsake.books.persona import SECRET
from keepsake.language.perception import COMMON_WORDS, closed, sentences, stems, words
from keepsake.tasks.answer import AnswerPart, PartKind

LEAST_SCORE = 0.4
"""A sentence answers a question only from this score on. The words in common score 0 to 1."""
_RECALLED = 0.15
"""The weight of recall's score."""
_LEAD = 2.5
"""The weight of that score's lead over the second line."""
_NEIGHBOUR = 0.3
"""The weight of a word in a neighbouring sentence."""
_PERSON = 0.15
"""The weight of the right person."""
_LONGEST = 300
"""The most characters of a sentence that is said as an answer."""
_LONGEST_PAIR = 160
"""The most characters of two sentences that are said together."""
_LONGEST_NAME = 31
"""The most characters of a name that is said."""
_SHORT = 7
"""The most words of a question that a stock line may answer by one phrase in it."""
_UNKNOWN = "unknown"
"""The kind of stock lines for a question that cannot be answered."""
_HEARD = "heard"
"""The kind of stock lines that are gestures."""
_MARKUP = str.maketrans(dict.fromkeys("~<>|{}[]*_#`\\^@="))
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""The loader in C, if PyYAML has it: in Python the file takes a tenth of a second."""
_DATA: Mapping[str, Any] = yaml.load(
    Path(__file__).with_suffix(".yaml").read_text("utf-8"), _LOADER
)
STOCK: Mapping[str, Mapping[str, Any]] = _DATA["languages"]
"""The stock lines of ``fallback.yaml``, by language and kind."""
_STOP_WORDS = COMMON_WORDS.union(_DATA["says_nothing"].split())


@dataclass(frozen=True, slots=True)
class FallbackLine:
    """A line of one or more sentences that the fallback may answer with."""

    text: str  # the words, without the speaker's name
    # the number of the memory in which the partner said it; 0 for the agent's persona, which is
    # written like "You mend …"
    number: int = 0
    score: float = 0.0  # recall's score for the question; 0 if recall did not return the line
    # whether the text is the whole line as it was shown, because the game did not say which part
    # of it is speech
    is_whole: bool = False

    @property
    def is_told(self) -> bool:
        """Whether the partner said it; else it is from the agent's persona."""
        return self.number > 0


@dataclass(frozen=True, slots=True)
class _Question:
    """The words that were said, even if they are not a question."""

    words: tuple[str, ...]
    stock: Mapping[str, Any]  # the stock lines of its language
    telling: frozenset[str]  # stems of the words that an answer would contain
    of_asker: bool  # whether it asks about the asker
    of_agent: bool


def answer(
    said: str,
    *,
    agent: str,
    partner: str,
    said_before: Sequence[str],
    lines: Sequence[FallbackLine],
    rng: Random,
    arrival: bool = False,
    given: str = "",
    asks_to_meet: bool = False,
    page: Sequence[FallbackLine] = (),
) -> AnswerPart:
    """Return one line of speech or one gesture, without markup; never empty.

    Args:
        said: The words of ``partner``; empty if they only arrived or gave something.
        said_before: Recent lines of the agent, the newest last.
        lines: Candidate answers: what ``partner`` said before, and the persona.
        rng: Chooses among stock lines.
        arrival: Whether ``partner`` only arrived.
        given: The thing that ``partner`` gave; empty for nothing.
        asks_to_meet: Whether the words may ask the agent to meet, which no rule understands.
        page: What ``partner`` said, as the agent's page about them has it.
    """
    names = {agent.casefold(), partner.casefold()}
    kind = _UNKNOWN
    question = _parse(said, names)
    if given or arrival:
        kind = "given" if given else "greetings"
    elif not _asks(said, question.stock):
        kind = _courtesy(question, names)
    elif _matches("about_asker", question):
        if told := _told_by_asker(question, names, [*page, *lines]):
            return AnswerPart(PartKind.SPEECH, told)
        kind = _HEARD
    elif told := _best_answer(question, partner, lines):
        return AnswerPart(PartKind.SPEECH, told)
    if asks_to_meet and kind == _UNKNOWN:
        kind = _HEARD
    words_or_gesture = PartKind.EMOTE if kind == _HEARD else PartKind.SPEECH
    return AnswerPart(words_or_gesture, _chosen(question.stock[kind], partner, said_before, rng))


def _chosen(stock: Sequence[str], partner: str, said_before: Sequence[str], rng: Random) -> str:
    """Return the stock line that was said the longest ago."""
    chosen: list[str] = [each.format(who=partner.translate(_MARKUP)) for each in stock]
    last = {each: at for at, each in enumerate(said_before)}
    return min(rng.sample(chosen, len(chosen)), key=lambda each: last.get(each, -1))


def stock_line(kind: str, said: str, partner: str, rng: Random) -> str:
    """Return a stock line of a kind, in the language of what was said.

    Args:
        kind: A key of ``fallback.yaml``: ``agreed``, ``busy``, ``met``.
        said: The words of ``partner``; empty for none, then it is in English.
    """
    lines = _parse(said, ()).stock[kind]
    return str(rng.choice(lines)).format(who=partner.translate(_MARKUP))


def is_courtesy(said: str, names: Iterable[str]) -> bool:
    """Whether words only greet, thank or take leave, in a language of ``fallback.yaml``.

    Args:
        names: Names that the words may have besides.
    """
    known = {each.casefold() for each in names}
    return _courtesy(_parse(said, known), known) != "heard"


# -- reading what was said


def _words(stock: Mapping[str, Any], kind: str) -> frozenset[str]:
    """Return the words of a kind as those of a question are: ``weißt`` is ``weisst``."""
    return frozenset(str(stock[kind]).casefold().split())


def _parse(said: str, names: Iterable[str]) -> _Question:
    found = tuple(each.casefold().replace("’", "'") for each in words(said))
    kinds = ("asks", "hello", "bye", "thanks")
    there = set(found)
    # the language with the most known words; English if there are none
    stock = max(STOCK.values(), key=lambda s: sum(len(there & _words(s, k)) for k in kinds))
    told = [each for each in found if each not in names and each not in _words(stock, "asks")]
    telling = [each for each in told if each not in _STOP_WORDS] or told
    of_agent = not {"you", "your", "yours", "tell"}.isdisjoint(found)  # "Can you tell me …"
    of_asker = bool(there & {"i", "i'm", "my", "mine"}) or ("me" in there and not of_agent)
    of_asker = of_asker or _has_phrase(found, stock.get("about_asker", ()))
    of_agent = of_agent and not of_asker
    return _Question(found, stock, frozenset(stems(" ".join(telling))), of_asker, of_agent)


def _asks(said: str, stock: Mapping[str, Any]) -> bool:
    opening = _words(stock, "asks")
    for each in sentences(said):
        first = "".join(words(each)[:1]).casefold()
        if each.rstrip("\"'”’ )").endswith("?") or (first in opening and each[-1] not in ".!…"):
            return True
    return False


def _courtesy(question: _Question, names: Iterable[str]) -> str:
    """Return the kind of stock line that answers words other than a question."""
    rest = set(question.words).difference(*(each.split() for each in names))
    for kind, means in (("thanked", "thanks"), ("farewells", "bye"), ("greetings", "hello")):
        if rest and rest.issubset(_words(question.stock, means)):
            return kind
    return _HEARD


def _matches(kind: str, question: _Question) -> bool:
    """Whether a question is short and contains one of the phrases of this kind."""
    phrases = question.stock.get(kind, ())
    return len(question.words) <= _SHORT and _has_phrase(question.words, phrases)


def _has_phrase(found: Sequence[str], phrases: Iterable[str]) -> bool:
    said = f" {' '.join(found)} "
    return any(f" {each.casefold()} " in said for each in phrases)


def _told_by_asker(question: _Question, names: Iterable[str], lines: Sequence[FallbackLine]) -> str:
    """Return what answers a question about the asker: one of their own sentences; empty for none.

    The best one is taken if it answers the question. Else it is the newest in which they speak of
    themselves, or the newest that is more than a greeting.
    """
    told = [each for each in dict.fromkeys(lines) if each.is_told]
    found = [
        (text, line)
        for line in told
        for text in _sentences(line, question.stock)
        if not is_courtesy(text, names)
    ]
    worth = _scores(question, found)

    def place(n: int) -> tuple[float, bool, int, int]:
        text, line = found[n]
        answers = worth[n] if worth[n] >= LEAST_SCORE else 0.0
        return answers, _parse(text, ()).of_asker, line.number, n

    best = max(range(len(found)), key=place, default=-1)
    return _quoted(found, best, question.stock) if found else ""


def _quoted(found: Sequence[tuple[str, FallbackLine]], best: int, stock: Mapping[str, Any]) -> str:
    """Return a sentence that somebody said as a quote, with the next one of its line if short."""
    text, line = found[best]
    more = (each for each, of in found[best + 1 : best + 2] if of is line)
    text = " ".join([text, *(each for each in more if len(text + each) < _LONGEST_PAIR)])
    return text if line.is_whole else str(stock["quoted"]).format(told=text)


def _best_answer(question: _Question, partner: str, lines: Sequence[FallbackLine]) -> str:
    """Return the best sentence, phrased for the agent; empty if none answers the question."""
    if _matches("of_asker", question):
        return str(question.stock["asker"]).format(who=partner)
    found = [(each, line) for line in lines for each in _sentences(line, question.stock)]
    own = [text for text, line in found if not line.is_told]
    if own and _matches("of_agent", question):
        return in_first_person(own[0])
    worth = _scores(question, found)
    # Among equal sentences the newest wins, because it may correct an older one.
    best = max(range(len(found)), key=lambda n: (worth[n], found[n][1].number), default=0)
    if not found or worth[best] < LEAST_SCORE:
        return ""
    text, line = found[best]
    if line.is_told:
        return _quoted(found, best, question.stock)
    text = in_first_person(text)
    name, tie, rest = text.partition(": ")  # "Bram: he brings apples." → "Bram? He brings …"
    tied = tie and rest and len(name) <= _LONGEST_NAME and words(name) == name.split()
    return f"{name}? {rest[0].upper()}{rest[1:]}" if tied else text


def _sentences(line: FallbackLine, stock: Mapping[str, Any]) -> list[str]:
    """Return the sentences of a line that are statements and can be spoken."""
    found = []
    for each in sentences(line.text):
        text = " ".join(each.replace('"', "'").split())
        sayable = text.isprintable() and text == text.translate(_MARKUP) and "://" not in text
        sayable &= not text.startswith("/") and SECRET not in text.casefold()
        if sayable and len(text) <= _LONGEST and len(words(text)) > 2 and not _asks(text, stock):
            found.append(closed(f"{text[0].upper()}{text[1:]}"))
    return found


def _scores(question: _Question, found: Sequence[tuple[str, FallbackLine]]) -> list[float]:
    """Score each sentence as an answer, mainly by common words; rare words count more."""
    held = [stems(text) for text, _ in found]
    among = Counter(word for one in held for word in one)
    wanted = {w: math.log(1 + (len(held) + 1) / (among[w] + 0.5)) for w in question.telling}
    whole = sum(wanted.values()) or 1.0
    scores = sorted({of.number: of.score for _, of in found if of.score > 0}.values())
    best = scores[-1] if scores else 1.0
    second = scores[-2] if scores[1:] and question.of_asker else best
    worth = []
    for (_, line), there in zip(found, held, strict=True):
        near = stems(line.text) - there
        shared = sum(wanted[w] * (w in there or _NEIGHBOUR * (w in near)) for w in wanted)
        recalled = _RECALLED * max(line.score, 0.0) + _LEAD * max(line.score - second, 0.0)
        whose = (question.of_asker - question.of_agent) * (1 if line.is_told else -1)
        worth.append(shared / whole + recalled / best + _PERSON * whose)
    return worth


# -- "you" to "I", in English, where both take the same verb forms except for "to be"

_FORMS = _DATA["pronouns"]
_TO_BE = {"are": "am", "re": "m", "were": "was"}
_PRONOUN = re.compile(
    rf"\b(?P<who>you|{'|'.join(_FORMS['of_me'])})\b"
    r"(?:(?P<gap>['’]|\s+)(?P<be>are|re|were)\b)?",
    re.I,
)


def in_first_person(text: str) -> str:
    """Turn a sentence that calls the agent "you" into one that the agent says of itself."""
    return _PRONOUN.sub(_replacement, text)


def _replacement(found: re.Match[str]) -> str:
    """Replace a form of "you" by one of "I", with a capital at the beginning of a sentence."""
    who = found["who"].casefold()
    be = found["be"] or ""
    subject = be or _is_subject(found)
    word = _FORMS["of_me"].get(who) or ("I" if subject else "me")
    if found.string[: found.start()].rstrip(" '\"“(")[-1:] in ("", ".", "!", "?", "…"):
        word = f"{word[0].upper()}{word[1:]}"
    return f"{word}{found['gap'] or ''}{_TO_BE.get(be, be)}"


def _is_subject(found: re.Match[str]) -> bool:
    """Whether this "you" is the subject of a verb."""
    before = "".join(found.string[: found.start()].casefold().split()[-1:])
    after = re.match(r" (\w+)", found.string[found.end() :])
    if not before[-1:].isalpha() or before in _FORMS["subject_after"].split() or not after:
        return after is not None
    object_before = after[1].casefold() in _FORMS["object_before"].split()
    return not object_before and before not in _FORMS["object_after"].split()
