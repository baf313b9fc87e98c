"""Conformance checks for memory systems: ``keepsake eval --check package.module:Class``.

Generated transcripts run through the evaluation harness. Each memory carries its own mark
(``mark 17``). So a recalled line shows which memories it quotes, and whether it lists them.
"""

from __future__ import annotations

import re
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from keepsake.archive.message_types import MessageType
from keepsake.archive.privacy import NO_PRIVATE_WORDS, Audience
from keepsake.archive.records import Memory
from keepsake.happening import ME, KnownVerb, Manner, Person, Speech
from keepsake.lab.benchmarks import Trial, TrialQuestion
from keepsake.lab.evaluate import Evaluation, run_trial
from keepsake.logs import Subsystem, get_logger
from keepsake.memory.protocol import MemoryArguments, MemoryFactory, MemorySystem, RecalledLine
from keepsake.ports import Embedder

log = get_logger(Subsystem.LAB)

START = datetime(2026, 5, 1, 9, 0, tzinfo=UTC)
LONG = 400
"""Memories in the longest transcript."""
ODD = (
    "",
    " \t ",
    "a zero \0, an escape \x1b[31m\r\n",
    "{{ name }} {% raw %} <|im_end|>",
    "🪐 Ada 说：你好, שלום, नमस्ते",
    "'; DROP TABLE lines; -- \" OR * ? NEAR( AND",
    "long " * 2000,
)
"""Unusual texts that a memory must accept."""
_PEOPLE = ("Ada", "Bram", "Cleo")
_THINGS = ("the blue kettle", "a jar of honey", "the north gate", "a torn map", "her grandfather")
_VERBS = ("lost", "found", "sold", "painted", "forgot", "remembered", "hid", "asked about")


class DoesNotConformError(Exception):
    """Error that says which rule a memory broke."""


def _expect(holds: bool, message: str) -> None:
    if not holds:
        raise DoesNotConformError(message)


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The result of one check."""

    name: str  # the rule
    fault: str = ""  # how the memory broke the rule; empty if it conforms
    skipped: str = ""  # why the check was skipped


def check_memory(make: MemoryFactory, embedder: Embedder | None = None) -> Iterator[CheckResult]:
    """Run all checks on a memory; blocks for some seconds.

    Args:
        make: The class, or any function from :class:`MemoryArguments` to a memory.
        embedder: The embedder that the memory gets; None to check it with words alone.
    """
    config = Evaluation(memory=lambda given: WatchedMemory(make, given), embedder=embedder)
    for name, check in CHECKS.items():
        if check is _whispers and not getattr(make, "keeps_whispers", True):
            yield CheckResult(name, skipped="the class sets keeps_whispers = False")
            continue
        try:
            check(lambda trial: _texts_shown(trial, config))
        except DoesNotConformError as wrong:
            yield CheckResult(name, str(wrong))
        except Exception as error:  # a third-party memory may raise anything; other checks go on
            log.error("A check failed", check=name, exc_info=error)
            place = traceback.extract_tb(error.__traceback__)[-1]
            yield CheckResult(name, f"{error!r} ({place.filename}, line {place.lineno})")
        else:
            yield CheckResult(name)


class WatchedMemory:
    """A wrapper around a memory that checks each of its answers."""

    def __init__(self, make: MemoryFactory, given: MemoryArguments) -> None:
        self._memory = make(given)
        self._tokens = given.tokens
        self._perceived = 0
        _expect(isinstance(self._memory, MemorySystem), "a method of MemorySystem is missing")
        self.rest = self._memory.rest

    def perceive(self, memory: Memory) -> None:
        """Pass the memory on."""
        self._memory.perceive(memory)
        self._perceived = memory.number

    def recall(self, question: str, limit: int) -> Sequence[RecalledLine]:
        """Return the recalled lines after checking them."""
        for most in (1, 3, limit):
            found = list(self._memory.recall(question, most))
            _expect(len(found) <= most, f"recall returns {len(found)} lines; the limit is {most}")
        for line in found:
            _expect(bool(line.text.strip()), "a recalled line is empty")
            numbers = set(line.numbers)
            quoted = {*map(int, re.findall(r"mark (\d+):", line.text))}
            named = f"a recalled line names memories {list(line.numbers)}"
            _expect(numbers <= {*range(1, self._perceived + 1)}, f"{named}; some are still to come")
            _expect(len(numbers) == len(line.numbers), f"{named}; one is repeated")
            _expect(quoted in (numbers, set()), f"{named} but quotes {sorted(quoted)}")
        marked = [line.text for line in found if "mark " in line.text]
        _expect(len({*marked}) == len(marked), "recall returns the same line twice")
        return found

    def context(self, budget: int) -> Sequence[str]:
        """Return the context after checking it."""
        for most in (0, 40, 400, budget):
            lines = self._memory.context(most)
            _expect(not isinstance(lines, str), "the context is a string, not a list of lines")
            spent = sum(self._tokens.each(list(lines)))
            _expect(spent <= most, f"the context has {spent} tokens; the budget is {most}")
        return lines

    def close(self) -> None:
        """Close the memory twice, which must be harmless."""
        self._memory.close()
        self._memory.close()


def _texts_shown(trial: Trial, config: Evaluation) -> list[str]:
    """Return all text that a memory shows for each question, including before others."""
    return [
        "\n".join([*each.context, *(line.text for line in each.recalled), *each.before_others])
        for each in run_trial(trial, config)
    ]


# -- the transcripts, and the checks

type _Shown = Callable[[Trial], list[str]]


def lines(length: int, *, who: Sequence[str] = _PEOPLE, start: int = 1) -> list[Memory]:
    """Return a small transcript: one line about a thing each hour, numbered from ``start``."""
    found = list[Memory]()
    for number in range(start, start + length):
        name = who[number % len(who)]
        did = f"{_VERBS[number % len(_VERBS)]} {_THINGS[number % len(_THINGS)]}"
        words = f"mark {number}: I {did}."
        speaker = Person(name, f"{name}-1")
        speech = Speech(speaker=speaker, words=words, shown=f'{name} says, "{words}"')
        time = START + timedelta(hours=number)
        found.append(Memory(number, time, speech, "The Inn", event="say"))
    return found


def _trial(memories: Sequence[Memory], *asked: TrialQuestion, agent: str = "Mira") -> Trial:
    return Trial("check", agent, tuple(memories), asked)


def _ask(
    text: str,
    hour: float,
    asker: str = "",
    audience: Audience = NO_PRIVATE_WORDS,
    kept_from: Audience = frozenset(),
) -> TrialQuestion:
    time = START + timedelta(hours=hour)
    return TrialQuestion(text, text, time, asker=asker, audience=audience, kept_from=kept_from)


def _long_transcript(shown: _Shown) -> None:
    hours = (LONG / 2 + 0.5, LONG + 48)  # at the first, half of the memories are still to come
    shown(_trial(lines(LONG), *(_ask("Who found a torn map?", hour) for hour in hours)))


def _odd_texts(shown: _Shown) -> None:
    twice = zip(lines(2 * len(ODD)), (*ODD, *ODD), strict=True)
    odd = [each.shown_as(text) for each, text in twice]
    odd += lines(5, start=2 * len(ODD) + 1)
    shown(_trial(odd, *(_ask(text, 40) for text in ODD)))


def _empty_memory(shown: _Shown) -> None:
    before, *_ = shown(_trial(lines(5), _ask("Who lost honey?", 0), _ask("Who lost honey?", 3)))
    _expect("mark" not in before, "an empty memory shows a memory")


def _separate_agents(shown: _Shown) -> None:
    for who, other, agent in (("Ada", "Zoltan", "Mira"), ("Zoltan", "Ada", "Oswin")):
        (text,) = shown(_trial(lines(20, who=(who,)), _ask("Who lost honey?", 30), agent=agent))
        _expect(other not in text, f"{other} is shown, from another transcript")


def _repeatable(shown: _Shown) -> None:
    one, other = (shown(_trial(lines(80), _ask("Who found a map?", 99))) for _ in range(2))
    _expect(one == other, "two runs of the same transcript differ")


def _whispers(shown: _Shown) -> None:
    said, answered = lines(2, who=("Ada",), start=9)
    person = Person("Ada", "Ada-1")
    words = "mark 9: The zither is in the loft."
    told = Speech(
        speaker=person,
        words=words,
        to=(ME,),
        manner=Manner.WHISPER,
        shown=f'Ada whispers to you, "{words}"',
    )
    whisper = replace(said, event=MessageType.WHISPER, what=told)
    words = "Hush! Nobody else knows of the zither."
    hush = Speech(
        speaker=ME,
        words=words,
        to=(person,),
        manner=Manner.WHISPER,
        shown=f"{KnownVerb.WHISPER} Ada = {words}",
    )
    own = Memory(10, answered.time, hush)
    ada = frozenset({"Ada-1"})
    bram = frozenset({"Bram-1"})
    asked = "Where is the zither?"
    _, *others = shown(
        _trial(
            [*lines(8), whisper, own, *lines(4, start=11)],
            _ask(asked, 20, "Ada", ada),  # may be answered; later answers must not leak it
            _ask(asked, 21, "Bram", bram, kept_from=ada),
            _ask(asked, 22),
        )
    )
    for text, audience in zip(others, ("Bram-1, or to both", "nobody in particular"), strict=True):
        _expect("zither" not in text, f"a whisper of Ada-1 is shown to {audience}")


CHECKS: Mapping[str, Callable[[_Shown], None]] = {
    "a long transcript keeps to limit, budget and numbers": _long_transcript,
    "unusual texts are accepted, also twice": _odd_texts,
    "an empty memory answers": _empty_memory,
    "transcripts do not mix": _separate_agents,
    "the same transcript gives the same results": _repeatable,
    "whispers are hidden from others": _whispers,
}
"""The checks, by the name that the output shows."""
