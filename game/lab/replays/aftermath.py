"""Nine more days of an archived life: visitors plant what they ask for, among its own talk.

Questions about the life itself are answered by every configuration whose recall works. What comes
after it is new to all of them, as dense as what the agent is used to, and asked for after an hour,
a day and a week.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

from game.lab.replays.cells import FILE, CellSettings
from game.lab.replays.lived import ArchivedLife
from game.lab.trials.evaluating import Evaluation, row_of
from game.lab.trials.journal import Row
from game.lab.trials.living import Living
from game.lab.trials.probes import DAYS, trial_around
from game.lab.trials.trial import Trial
from keepsake.archive.records import Memory
from keepsake.memories.keepsake import CONFIG, KeepsakeMemory
from keepsake.memories.loading import KEEPSAKE
from keepsake.memories.protocol import MemorySystem, Surroundings
from keepsake.memories.rag import Rag
from keepsake.ports import FixedClock, Tokens
from keepsake.summaries.source import Summarizer
from keepsake.summaries.strategy import Layout

SEED = 7
MOST = 60
"""Memories a day that are lived once more, at most: a busy life need not take ten minutes more."""
_DAY = timedelta(days=1)


def aftermath(life: ArchivedLife, newest: int) -> Trial:
    """What comes after a life whose last memory is ``newest``; the same each time."""
    start = (life.steps[-1].time + _DAY).replace(hour=8, minute=0, second=0, microsecond=0)
    trial = trial_around(life.name, list(_lived_again(life, start)), start, SEED)
    memories = tuple(replace(each, number=each.number + newest) for each in trial.memories)
    questions = tuple(
        replace(each, evidence=frozenset(number + newest for number in each.evidence))
        for each in trial.questions
    )
    return replace(trial, memories=memories, questions=questions)


def _lived_again(life: ArchivedLife, start: datetime) -> Iterator[Memory]:
    """The newest days of the life once more, again and again where it was shorter than that."""
    steps = [step for step in life.steps if life.steps[-1].time - step.time < DAYS * _DAY]
    first = steps[0].time.replace(hour=8, minute=0, second=0, microsecond=0)
    span = timedelta(days=(steps[-1].time - first).days + 1)
    steps = steps[:: len(steps) // (MOST * span.days) + 1]
    again = 0
    while again * span < DAYS * _DAY:
        for step in steps:
            time = start + again * span + (step.time - first)
            if start <= time < start + DAYS * _DAY:
                yield replace(step, time=time, number=0, repeats=1)
        again += 1


def known_after(
    life: ArchivedLife,
    folder: Path,
    settings: CellSettings,
    changes: Mapping[str, str],
    *,
    config: Path,
    overhead: int,
    tokens: Tokens,
    limit: int,
    summarizer: Summarizer,
) -> list[Row]:
    """Live on with what one configuration made of a life, and ask; blocks.

    Args:
        life: What was lived.
        folder: Archive and summaries at its end; nothing else may have them open.
        settings: The configuration.
        changes: What it has otherwise than the vault.
        config: The vault's settings.
        overhead: Tokens of a prompt that are no memory.
        tokens: Counts.
        limit: Lines that are recalled for a question.
        summarizer: Writes the summaries.
    """
    clock = FixedClock(life.steps[-1].time)
    budget = max(settings.config.budget - overhead, settings.config.budget // 4)
    given = Surroundings(agent=life.name, folder=folder, clock=clock, tokens=tokens, budget=budget)
    own = {CONFIG: str(config)} if (config / FILE).exists() else {}
    memory = _memory(life, given, settings, {**own, **changes}, summarizer)
    try:
        trial = aftermath(life, memory.newest)
        living = Living(trial, memory, clock, given, limit)
        how = Evaluation(memory=KEEPSAKE, tokens=tokens)
        return [row_of(trial, each, how) for each in living.ask_all()]
    finally:
        memory.close()


def _memory(
    life: ArchivedLife,
    given: Surroundings,
    settings: CellSettings,
    written: Mapping[str, str],
    summarizer: Summarizer,
) -> MemorySystem:
    """The memory of a configuration; recall goes by words."""
    if settings.strategy.layout is not Layout.SLIDING:
        return KeepsakeMemory(replace(given, settings=written), summarizer)
    window = {"window": str(settings.config.immediate_window)}
    sliding = Rag(replace(given, settings=window))
    for step in life.steps:
        sliding.perceive(step)
    return sliding
