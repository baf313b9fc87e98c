"""One run: the trials of a source, one memory with its settings, one seed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from contextlib import ExitStack, suppress
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from keepsake.errors import ConfigError, refusing
from keepsake.lab.answering import CONTEXT, AnsweringModel, AnswerJudge, answering_model
from keepsake.lab.benchmarks import read_trials
from keepsake.lab.evaluating import RECALLED, Evaluation, Row, evaluated, limited
from keepsake.lab.probes import LIMIT, probe_trials
from keepsake.lab.trial import Trial
from keepsake.memory.protocol import code_of
from keepsake.models.profiles import Profiles
from keepsake.paths import Places
from keepsake.ports import Embedder

FILE, PROBES = "file", "probes"

type Pairs = tuple[tuple[str, Any], ...]
"""A mapping that can be compared: names and values."""


@dataclass(frozen=True, slots=True)
class TrialSource:
    """Where trials come from."""

    kind: str  # :data:`FILE` or :data:`PROBES`
    path: str = ""  # of a file
    options: Pairs = ()  # of probes: ``loads``, ``lives``, ``days``

    @property
    def name(self) -> str:
        """What tables call it."""
        if self.kind == FILE:
            return Path(self.path).stem
        return ", ".join((self.kind, *(f"{name} {_shown(value)}" for name, value in self.options)))

    @property
    def seeded(self) -> bool:
        """Whether another seed gives other lives."""
        return self.kind != FILE

    def trials(self, seed: int) -> list[Trial]:
        """The lives with their questions.

        Raises:
            KeepsakeError: The file cannot be read.
        """
        if self.kind == FILE:
            return read_trials(Path(self.path))
        return probe_trials(seed, **dict(self.options))

    def fingerprint(self) -> str:
        """What changes when a file's content does; empty for what a seed makes.

        Raises:
            KeepsakeError: The file cannot be read.
        """
        if self.kind != FILE:
            return ""
        path = Path(self.path)
        with refusing(f"{path} cannot be read", "Name a file that is there"):
            files = sorted(path.iterdir()) if path.is_dir() else [path]
            digests = [_digest(each, each.stat().st_mtime_ns) for each in files]
        return hashlib.sha256("".join(digests).encode()).hexdigest()[:16]


def _shown(value: Any) -> str:
    return "/".join(map(str, value)) if isinstance(value, tuple) else str(value)


@cache
def _digest(file: Path, _changed: int) -> str:
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialCell:
    """The exact configuration of one run."""

    source: TrialSource
    memory: str  # by its name
    settings: tuple[tuple[str, str], ...] = ()  # the memory's own
    seed: int = 1
    profile: str = ""  # which profile of llm.md answers; empty where only recall is measured
    judge: str = ""  # which one judges the answers; empty for none
    writer: str = ""  # which one writes the memory's summaries; empty for rules
    limit: int = 0  # questions in all; 0 for all there are
    budget: int = 0  # tokens of the lines of a prompt; 0 for what the profile has room for
    recalled: int = 0  # lines that the memory may give for a question; 0 for what is usual
    models: Pairs = ()  # what its profiles say, a digest each; see :func:`pinned_down`
    code: str = ""  # a digest of the memory's code, where that is not ours; the same

    @property
    def name(self) -> str:
        """Memory and settings: what is compared."""
        return " ".join((self.memory, *(f"{key}={value}" for key, value in self.settings)))

    def as_json(self) -> dict[str, Any]:
        """The configuration for files, with what identifies the content of its source."""
        return asdict(self) | {
            "source": {
                "kind": self.source.kind,
                "path": self.source.path,
                "options": dict(self.source.options),
                "fingerprint": self.source.fingerprint(),
            },
            "settings": dict(self.settings),
            "models": dict(self.models),
        }

    def key(self) -> str:
        """A name for its files: the same configuration has the same one."""
        told = self.as_json()
        del told["source"]["path"]  # its content counts, wherever it lies
        for name in ("models", "code"):
            if not told[name]:
                del told[name]
        text = json.dumps(told, sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def questions(self) -> list[Trial]:
        """Its trials, with as many questions as it may have."""
        return limited(self.source.trials(self.seed), self.limit)


def pinned_down(cell: TrialCell, here: Places) -> TrialCell:
    """The cell with what its profiles and its memory's code say now.

    So another model, or a changed memory, makes it another cell.
    """
    profiles = Profiles(here.config / "llm.md")
    found = {}
    for name in sorted({cell.profile, cell.judge, cell.writer} - {""}):
        with suppress(ConfigError):  # one that there is not is refused where it is opened
            told = repr(profiles.get(name)).encode()
            found[name] = hashlib.sha256(told).hexdigest()[:16]
    return replace(cell, models=tuple(found.items()), code=code_of(cell.memory))


def run_cell(
    cell: TrialCell,
    here: Places,
    embedder: Embedder,
    *,
    scratch: Path | None = None,
    trials: list[Trial] | None = None,
    done: Callable[[Row], None] = lambda _: None,
) -> list[Row]:
    """Its rows, one a question; blocks.

    Raises:
        KeepsakeError: A file, memory or profile cannot be used, or a model does not answer.
    """
    with ExitStack() as open_models:
        models: Mapping[str, AnsweringModel] = {
            name: _opened(here, name, cell.seed, open_models)
            for name in {cell.profile, cell.judge, cell.writer} - {""}
        }
        answerer = models.get(cell.profile)
        how = Evaluation(
            memory=cell.memory,
            settings=dict(cell.settings),
            embedder=embedder,
            writer=models[cell.writer].model if cell.writer else None,
            answerer=answerer,
            judge=AnswerJudge(models[cell.judge]) if cell.judge else None,
            budget=cell.budget or (answerer.budget if answerer else CONTEXT),
            recalled=cell.recalled or (RECALLED if cell.source.kind == FILE else LIMIT),
        )
        lives = trials if trials is not None else cell.questions()
        return evaluated(lives, how, scratch, done)


def _opened(here: Places, name: str, seed: int, models: ExitStack) -> AnsweringModel:
    model = answering_model(here, name, seed)
    models.callback(model.close)
    return model
