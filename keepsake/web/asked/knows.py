"""What an agent knows of a person, in a few lines, each short enough to be read at a glance.

First stands what the agent makes of them itself, if it has written that, and what it holds to be
important: what it has pinned, was told in private, promised and plans. Then, what was said since;
and, as far as there is room, what tells most of the person besides, in its own
words or in theirs: a word that stands in a line above tells nothing again, and one that is heard
from everybody tells little.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from statistics import median

from keepsake.agent.runtime import runtime
from keepsake.books.aloud import REQUESTED
from keepsake.books.notes import without_source
from keepsake.language.sourced_text import summary_sentences
from keepsake.web.asked.lines import day_and_hour, in_quotes, line_of
from keepsake.web.asked.shapes import AnswerLine
from keepsake.web.people.gist import beginning, first_sentences, gist
from keepsake.web.people.known import KnownByOne
from keepsake.web.people.shapes import KnownBy, KnownLine, PromiseTo
from keepsake.web.people.telling import Telling, Weights, terms
from keepsake.web.privacy import SOMEHOW
from keepsake.web.shapes import PlanRow

MOST = 7
"""The most lines: a reader has the essence in half of them."""
_OF_EACH = 2
"""The most pins, promises, plans, and notes and summaries."""
_FEW = 4
"""With fewer lines there is room for what tells less than usual."""
_MEANT = 3
"""The most of promises and plans together."""
_ORDER = (
    "Thinks",
    "Pinned",
    "Told in private",
    "Promised",
    "Planned",
    "Noted",
    "Summed up",
    "Wrote",
    "Told openly",
    "Asked for last",
)
"""The labels of lines, in their order on the page."""


@dataclass(frozen=True, slots=True)
class _Candidate:
    """Something that may be a line of an answer: a text, and the line with a part of it."""

    text: str
    line: Callable[[str], AnswerLine]
    begins: bool = False  # whether only the beginning can stand for it

    def part(self, tells: Callable[[str], Telling]) -> str:
        """Return the part that tells most. ``tells``: Returns how much a part tells."""
        return beginning(self.text) if self.begins else gist(self.text, tells)


class _Essence:
    """The lines of an answer, as they are chosen.

    Args:
        known: Words that tell nothing in it: names.
    """

    def __init__(self, weights: Weights, known: Iterable[str]) -> None:
        self.lines: list[AnswerLine] = []
        self._weights = weights
        self._names = frozenset(term for each in known for term in terms(each))
        self._covered = {*self._names}

    def tells(self, text: str) -> Telling:
        """Return how much a text tells besides the lines that are there."""
        return self._weights.telling(text, self._covered)

    def is_told(self, text: str) -> bool:
        """Whether the lines that are there tell most of a text."""
        return 2 * self.tells(text)[1] < self._weights.telling(text, self._names)[1]

    def add(self, lines: Iterable[AnswerLine]) -> None:
        """Add lines, but no more than there is room for."""
        for each in lines:
            if len(self.lines) < MOST:
                self.lines.append(each)
                self._covered |= terms(each.text)

    def fill(self, pool: Sequence[_Candidate], most: int, usual: Telling = (0.0, 0.0)) -> None:
        """Add what tells most, each once: another part of it would show its line again.

        Args:
            most: The most lines to add.
            usual: What a line must tell at least, unless there are only a few.
        """
        left = [*pool]
        for _ in range(most):
            left = [each for each in left if not self.is_told(each.text)]
            parts = [(each.part(self.tells), each) for each in left]
            found = [(self.tells(part), -at) for at, (part, _) in enumerate(parts)]
            told, at = max(found, default=((0.0, 0.0), 0))
            enough = len(self.lines) >= _FEW
            if not any(told) or (enough and not _tells_as_much(told, usual)):
                return
            part, best = parts[-at]
            left.remove(best)
            self.add([best.line(part)])

    def in_order(self) -> Sequence[AnswerLine]:
        """Return the lines in their order, those of one label together."""
        return sorted(self.lines, key=lambda each: _ORDER.index(each.label))


def knows(found: KnownByOne, weights: Weights) -> Sequence[AnswerLine]:
    """Return what tells most, at most :data:`MOST` lines; what the agent marked itself is first.

    Args:
        found: What the agent knows, with all that it heard the person say.
        weights: How much words tell the agent.
    """
    known = found.known
    name = found.person.name
    told = [each for each in known.lines if each.told and _is_told(each)]
    heard = [each for each in known.overheard if each.told and _is_told(each)]
    answer = _Essence(weights, (known.agent, *found.person.names, *found.others))
    parts = (gist(each.text, answer.tells) for each in (*told, *heard))
    usual = _usual([*map(answer.tells, parts)])
    answer.add(_portrait(known))
    answer.add(_pinned(known, weights))
    secrets = [*_secrets([*told, *heard], name, answer, weights, usual)]
    answer.add([*_promised(known), *_planned(known)][:_MEANT])
    rest = [each for each in (*told, *heard) if not each.private]
    if not secrets:  # small words in private stand only if nothing tells more
        private = [each for each in (*told, *heard) if each.private]
        rest += sorted(private, key=lambda each: answer.tells(each.text), reverse=True)[:1]
    since = [each for each in rest if max(each.numbers, default=0) > known.studied]
    answer.fill([*_noted(known, name)], _OF_EACH, usual)
    if known.portrait:  # it is based on all lines before `since`
        answer.fill([_told(each, name) for each in since], _OF_EACH, usual)
    answer.fill([*_summed_up(known, name), *(_told(each, name) for each in rest)], MOST, usual)
    answer.add(_done(known))
    return answer.in_order() or [*_heard_of(known)]


def _is_told(line: KnownLine) -> bool:
    """Whether a line may be told of a person: what asked for a deed only if it is a secret, too."""
    return not line.errand or bool(line.private)


def _usual(told: Sequence[Telling]) -> Telling:
    """Return how much lines tell that are neither long nor short among them: the median."""
    again, all_words = zip(*told, strict=True) if told else ((0.0,), (0.0,))
    return median(again), median(all_words)


def _tells_as_much(told: Telling, usual: Telling) -> bool:
    """Whether a line tells as much as others do, by words that are taken up and by all."""
    return all(one >= other for one, other in zip(told, usual, strict=True))


def _told(line: KnownLine, name: str) -> _Candidate:
    label = "Told in private" if line.private else "Told openly"
    return _Candidate(line.text, lambda part: _shown(label, line, part, name))


def _shown(label: str, line: KnownLine, part: str, name: str) -> AnswerLine:
    quoted = line.said and not line.text.startswith(f"{name} ")
    return line_of(
        label,
        line.text,
        part,
        in_quotes if quoted else str,
        aside=day_and_hour(line.time, runtime().clock.now()),
        private=line.private,
        number=line.numbers[0] if line.numbers else 0,
    )


def _secrets(
    said: Sequence[KnownLine], name: str, answer: _Essence, weights: Weights, usual: Telling
) -> Iterator[AnswerLine]:
    """Add what tells most of what it was told in private, and another secret if there is one.

    Thanks and questions follow a secret, and are told in private, too; but they tell little. What
    asked for a deed comes after what only tells.
    """
    private = [each for each in said if each.private]
    for room in range(_OF_EACH):
        found = list[tuple[bool, Telling, int]]()
        for at, each in enumerate(private):
            told = answer.tells(gist(each.text, answer.tells))
            # Of the words of the first all count, because nobody takes a secret up aloud.
            if told[1] >= usual[1] and (not room or told[0] >= usual[0]):
                found.append((not each.errand, answer.tells(each.text), -at))
        if not found:
            return
        best = private[-max(found)[2]]
        private.remove(best)
        part = gist(best.text, lambda text: (sum(weights.telling(text)), 0.0))
        line = _told(best, name).line(part)
        answer.add([line])
        yield line


def _own(label: str, text: str, part: str, numbers: Sequence[int], *, private: str) -> AnswerLine:
    """Return a line in the agent's own words."""
    return line_of(label, text, part, private=private, number=numbers[0] if numbers else 0)


def _pinned(known: KnownBy, weights: Weights) -> Sequence[AnswerLine]:
    """Return what it has always before it, of many lines those that tell most."""
    best = sorted(known.pins, key=lambda each: weights.telling(each.text), reverse=True)[:_OF_EACH]
    return [
        _own("Pinned", each.text, beginning(each.text), each.numbers, private=each.private)
        for each in known.pins
        if each in best
    ]


def _promised(known: KnownBy) -> Iterator[AnswerLine]:
    """Yield promises to the person that are not done, the newest first."""
    left = [each for each in known.promises if not each.done]
    for each in left[: -_OF_EACH - 1 : -1]:
        text = each.text.partition(": ")[2] or each.text
        yield _own("Promised", text, beginning(text), _rests(each), private=each.private)


def _planned(known: KnownBy) -> Iterator[AnswerLine]:
    """Yield plans with the person or for them, that which is due first."""
    now = runtime().clock.now()
    timed = [each for each in known.plans if each.at]
    for each in [*timed, *(other for other in known.plans if not other.at)][:_OF_EACH]:
        when = day_and_hour(each.at, now) if each.at else each.waits_for
        part = beginning(each.what)
        line = _own("Planned", each.what, part, _rests(each), private=each.private)
        aside = ", ".join(filter(None, (when, each.place and f"at {each.place}")))
        yield line.model_copy(update={"aside": aside})


def _done(known: KnownBy) -> Iterator[AnswerLine]:
    """Yield what it did last because the person had asked for it."""
    for each in known.ended[-1:]:
        what = each.what.removeprefix(REQUESTED)
        line = _own("Asked for last", what, beginning(what), _rests(each), private=each.private)
        yield line.model_copy(update={"aside": each.state.value})


def _rests(each: PromiseTo | PlanRow) -> Sequence[int]:
    return [each.memory] if each.memory else []


def _portrait(known: KnownBy) -> Iterator[AnswerLine]:
    """Yield what it makes of the person: the first sentence says what matters most."""
    if known.portrait:
        yield _own("Thinks", known.portrait, first_sentences(known.portrait), (), private="")


def _noted(known: KnownBy, name: str) -> Iterator[_Candidate]:
    """Yield what it noted itself: sentences that begin with the person, as they are about them."""
    for each in known.notes:
        text = without_source(each.text)
        hidden = summary_sentences(text) if each.private else ()
        yield from _sentences(
            "Noted", text, each.numbers, (hidden, each.private), {name, *known.names}
        )


def _summed_up(known: KnownBy, name: str) -> Iterator[_Candidate]:
    """Yield what its summaries and its journal say that begins with the person."""
    for each in known.mentions:
        label = "Summed up" if each.tier else "Wrote"
        hidden = summary_sentences(each.text) if each.private else each.private_sentences
        private = (hidden, each.private or SOMEHOW)
        yield from _sentences(label, each.text, each.numbers, private, {name, *known.names})


def _sentences(
    label: str,
    text: str,
    numbers: Sequence[int],
    private: tuple[Sequence[str], str],
    called: Collection[str],
) -> Iterator[_Candidate]:
    """Yield the sentences that begin with a name; ``private``: which are so, and how."""
    hidden, how = private
    for sentence in summary_sentences(text):
        if sentence.startswith(tuple(called)):

            def line(part: str, sentence: str = sentence) -> AnswerLine:
                return _own(
                    label, sentence, part, numbers, private=how if sentence in hidden else ""
                )

            yield _Candidate(sentence, line, begins=True)


def _heard_of(known: KnownBy) -> Iterator[AnswerLine]:
    """Yield what an agent has heard of somebody who told it nothing."""
    for each in known.mentions[:_OF_EACH]:
        part = beginning(each.text)
        yield _own("Has heard", each.text, part, each.numbers, private=each.private)
