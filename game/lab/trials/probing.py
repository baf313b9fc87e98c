"""What memories still know of what was planted, after an hour, a day and a week."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from game.lab.trials.living import Asking, Lived, TrialClock, asked
from game.lab.trials.probes import DELAYS, KEPT
from game.lab.trials.trial import Trial, TrialQuestion
from game.memories.loading import maker, opened
from game.memories.protocol import Surroundings
from game.mind.ports import Embedder, LanguageModel

ALONE, RECALL, SPOKEN = "prompt alone", "with recall", "spoken"
"""Where the answer is looked for: in what every prompt shows, with what recall found beside it, in
what a model says."""
LIMIT = 5
"""Lines that are recalled for a question, as the world's prompts have."""

type Speak = Callable[[Asking], str]
"""Has a model answer."""


@dataclass(frozen=True, slots=True)
class ProbeResult:
    """One question at one memory."""

    memory: str  # its name
    trial: str  # which life
    load: int  # memories a day
    question: str  # its id: the same in every memory
    kind: str
    delay: str  # ``hour``, ``day`` or ``week``
    # whether the answer was there, by where it was looked for; None where nobody spoke. Of what is
    # to be kept to itself: whether it was kept
    known: dict[str, bool | None]
    answer: str  # what the model said; empty where none was asked
    tokens: int  # of context and recalled lines
    seconds: float  # that the memory took


@dataclass(frozen=True, slots=True)
class ProbeRun:
    """One life through one memory."""

    results: tuple[ProbeResult, ...]
    lived: Lived  # what living it cost


def probed(
    name: str,
    trial: Trial,
    *,
    embedder: Embedder | None,
    model: LanguageModel | None = None,
    settings: dict[str, str] | None = None,
    speak: Speak | None = None,
) -> ProbeRun:
    """Live a trial through a new memory of that name, and grade all that is asked; blocks.

    Raises:
        KeepsakeError: There is no such memory, or the model does not answer.
    """
    clock = TrialClock(trial.memories[0].time)
    with tempfile.TemporaryDirectory(prefix="keepsake-probes-") as folder:
        given = Surroundings(
            agent=trial.agent,
            folder=Path(folder),
            clock=clock,
            embedder=embedder,
            model=model,
            settings=settings or {},
        )
        maker(name)  # an unknown name is told before anything is lived
        askings, lived = asked(trial, lambda made: opened(name, made), given, clock, LIMIT)
    return ProbeRun(tuple(graded(name, trial, each, speak) for each in askings), lived)


def graded(name: str, trial: Trial, asking: Asking, speak: Speak | None) -> ProbeResult:
    """What a memory knew of one question, and what a model said of it, if one is asked."""
    question = asking.question
    answer = speak(asking) if speak is not None else ""
    recalled = [*asking.context, *(each.text for each in asking.recalled)]
    known = {
        ALONE: is_known(question, asking.context),
        RECALL: is_known(question, recalled),
        SPOKEN: is_right(question, answer) if speak is not None else None,
    }
    delay = next(each for each, after in DELAYS.items() if after == question.delay)
    told = (name, trial.name, trial.load, question.id, question.kind, delay)
    return ProbeResult(*told, known, answer, asking.tokens, asking.seconds)


def is_known(question: TrialQuestion, lines: Iterable[str]) -> bool | None:
    """Whether a line has the answer; of a secret, whether none has it; None where there is none."""
    if question.kind == KEPT:
        return not any(_has(question.wrong, line) for line in lines)
    if not question.answerable:
        return None
    return any(_has(question.right, line) for line in lines)


def is_right(question: TrialQuestion, answer: str) -> bool:
    """Whether a spoken answer is right: nothing of it wrong, something of it right."""
    return not _has(question.wrong, answer) and _has(question.right, answer)


def _has(patterns: Iterable[str], text: str) -> bool:
    return any(re.search(pattern, text, re.I) for pattern in patterns)


def shares(results: Sequence[ProbeResult], where: str) -> Iterator[tuple[str, int, str, int, int]]:
    """Memory, load, delay, how many knew, of how many: the points of the curves.

    What is to be kept to itself, and what nobody told, is no part of them.
    """
    told = [r for r in results if r.known[where] is not None and r.kind not in (KEPT, "never told")]
    for memory in dict.fromkeys(r.memory for r in told):
        for load in sorted({r.load for r in told}):
            for delay in DELAYS:
                here = [r for r in told if (r.memory, r.load, r.delay) == (memory, load, delay)]
                if here:
                    yield memory, load, delay, sum(bool(r.known[where]) for r in here), len(here)
