"""How much evidence the prompt of a chat model shows, in 500, 1,000 and 2,000 tokens of excerpts.

Recall, selection and excerpts are the game's own. The agent listens to the talks, or is the one of
two people who speaks first (``EXCERPTS_AGENT=first``). ``EXCERPTS_TALKS`` names files or folders in
a format of ``docs/evaluation.md``; without it, the ten talks that need several lines are read.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import product
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory

from keepsake.agent.memory.search_results import results_to_show
from keepsake.agent.settings import RecallConfig
from keepsake.agent.turns.prompts.excerpts import with_excerpts
from keepsake.archive.log import Archive
from keepsake.archive.privacy import PrivateWords
from keepsake.archive.records import Memory
from keepsake.errors import KeepsakeError
from keepsake.happening import ME, Manner, Speech
from keepsake.lab.benchmarks import Trial, TrialQuestion, read_trials
from keepsake.lab.estimates import figure
from keepsake.lab.intervals import estimate
from keepsake.lab.measures import RECALL
from keepsake.language.tokens import Heuristic
from keepsake.memory.types import MemoryContext
from keepsake.models.local.minilm import MiniLMEmbedder
from keepsake.paths import REPOSITORY
from keepsake.ports import Embedder, FixedClock
from keepsake.recall.agent_index import AgentIndex
from keepsake.recall.finding import Finder, SearchResult, Wanted
from keepsake.recall.sqlite_vectors import SqliteVectors
from keepsake.tasks.forms.form import PromptLimits
from keepsake.tasks.scene import Scene
from tests.bench.figures import Figure

BUDGETS = (500, 1000, 2000)
"""Tokens of all excerpts together, as they are rendered."""
SEVERAL = "several lines"
GAME = "as in the game"
FITS = "as many as fit"
"""What is shown: what bears on the question, or also what ranks next."""
_MANY = 60
"""Memories that are more than fit into 2,000 tokens."""
_SHIPPED = REPOSITORY / "tests" / "data" / "recall_ten_talks.json"
_NOTHING_ELSE = MemoryContext(None, None, ())
_TOKENS = Heuristic()
_PATIENCE = 600.0
"""Seconds that a search may take: a busy machine must not change the figures."""


def measure() -> Iterator[Figure]:
    """Measure the share of the evidence that excerpts show, by budget and kind of question."""
    paths = [Path(each) for each in os.environ.get("EXCERPTS_TALKS", str(_SHIPPED)).split()]
    own = os.environ.get("EXCERPTS_AGENT") == "first"
    embedder = MiniLMEmbedder()
    shown: dict[str, list[tuple[str, Mapping[tuple[str, int], float]]]] = {"all": [], SEVERAL: []}
    for path in paths:
        for trial in read_trials(path):
            agent = _as_first_speaker(trial) if own else trial
            for question, found in _shown(agent, embedder):
                row = (question.about or trial.name, found)
                shown["all"].append(row)
                if len(question.evidence) > 1:
                    shown[SEVERAL].append(row)
    for kind, rows in shown.items():
        for which, budget in product((GAME, FITS), BUDGETS) if rows else ():
            shares = [found[which, budget] for _, found in rows]
            told = figure(estimate(shares, [talk for talk, _ in rows]), RECALL[10])
            name = f"evidence in {budget} tokens of excerpts, {kind}, {which}"
            yield Figure(name, len(rows), 100 * fmean(shares), "%", told)


def _shown(
    trial: Trial, embedder: Embedder
) -> Iterator[tuple[TrialQuestion, Mapping[tuple[str, int], float]]]:
    """Yield each question that has evidence, with the share that excerpts show by budget."""
    clock = FixedClock(max(each.time for each in trial.questions))
    with TemporaryDirectory() as folder:
        archive = Archive(Path(folder, "archive"))
        for memory in trial.memories:
            archive.append(memory.to_record())
        index = AgentIndex(
            Path(folder, "index"),
            archive.folder,
            None,
            chroma=SqliteVectors(Path(folder, "vectors.db")),
            embedder=embedder,
        )
        index.refresh()
        index.embed()
        names = {name for each in trial.memories for name in (each.source, each.place)} - {""}
        finder = Finder(
            trial.agent,
            index,
            embedder,
            names=lambda: names,
            private=PrivateWords,
            clock=clock,
            complain=_stop,
        )
        for question in trial.questions:
            if question.evidence and question.answerable:
                yield question, _by_budget(trial, question, finder, clock)
        index.close()
        archive.close()


def _by_budget(
    trial: Trial, question: TrialQuestion, finder: Finder, clock: FixedClock
) -> Mapping[tuple[str, int], float]:
    """Return the share of a question's evidence that excerpts show, by what is shown and budget."""
    shares = {}
    for which, memories in ((GAME, RecallConfig().memories), (FITS, _MANY)):
        config = RecallConfig(memories=memories)
        found = _found(question, finder, memories)
        if which == FITS:
            found = replace(found, hits=tuple(replace(hit, bears=True) for hit in found.hits))
        for budget in BUDGETS:
            shown = results_to_show(
                found,
                _NOTHING_ELSE,
                replace(config, budget=budget),
                limits=PromptLimits(shows_excerpts=True),
                beside=(),
                agent=trial.agent,
                count=_TOKENS.of,
                now=clock.now(),
            )
            scene = Scene("Mira", "")
            scene = with_excerpts(scene, shown, lambda each: each.name, None, clock.now())
            numbers = {number for each in scene.recalled for number in each.numbers}
            known = numbers & question.evidence
            shares[which, budget] = len(known) / len(question.evidence)
    return shares


def _found(question: TrialQuestion, finder: Finder, memories: int) -> SearchResult:
    """Return what the game's search for the words of a talk finds."""
    wanted = Wanted(
        memories=memories,
        summaries=0,
        notes=0,
        excerpts=True,
        only_usable=True,
        seconds=_PATIENCE,
    )
    found = finder.find(question.text, wanted, audience=frozenset())
    if found is None:
        raise RuntimeError("The index cannot be searched")
    return found


def _as_first_speaker(trial: Trial) -> Trial:
    """Return the trial as the memory of who speaks first in it."""
    agent = trial.memories[0].source

    def as_own(memory: Memory) -> Memory:
        """Return a line as an act of the agent, or as said to it."""
        what = memory.what
        if not isinstance(what, Speech):
            return memory
        if memory.source != agent:
            return replace(memory, what=replace(what, to=(ME,)))
        act = Speech(speaker=ME, words=what.words, manner=Manner.SAY, shown=f"say {what.words}")
        return replace(memory, what=act)

    return replace(trial, agent=agent, memories=tuple(map(as_own, trial.memories)))


def _stop(error: KeepsakeError) -> None:
    raise error
