"""What a fork has in common with its original, lived once more from a checkpoint before its point.

The point of a fork may lie amid an hour, and what agents have in mind there is on no disk. So the
fork begins at the checkpoint before, and the first thing that it lives is what its original has
lived from there up to the point: by the configuration of that time, and with the answers that the
models gave. Behind the point its own configuration holds, and models are asked.
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from game.lab.simulations.answers import ANSWERS, Answers
from game.lab.simulations.plan import CONFIG, Lab
from keepsake.paths import Places

JUST_BEHIND = 1e-6
"""Seconds behind a point: events have microseconds, and all of its moment is of the past."""
_SHOWN = ".config"
"""A link in the folder of the simulation, to the configuration that holds at the moment."""


@dataclass(frozen=True, slots=True)
class PastStretch:
    """A stretch of an hour that was lived by one configuration."""

    until: float  # its last second of the simulation
    config: Path  # the folder of the configuration


def stages_of(lab: Lab, since: float) -> list[PastStretch]:
    """The stretches that a simulation lives by a configuration other than its own, in order."""
    folders = lab.past.glob("[0-9]*") if lab.past.exists() else ()
    stages = (PastStretch(int(folder.name) / 1e6, folder) for folder in folders)
    return sorted((each for each in stages if each.until > since), key=lambda each: each.until)


def keep_past(lab: Lab, stages: list[PastStretch], answers: Path | None) -> None:
    """Give a fork what it is to live up to its point."""
    lab.past.mkdir(parents=True, exist_ok=True)
    for stage in stages:
        shutil.copytree(stage.config, lab.past / f"{round(stage.until * 1e6):016d}")
    if answers is not None and answers.exists():
        shutil.copy2(answers, lab.past / ANSWERS)


@dataclass(frozen=True, slots=True)
class _ShownPlaces(Places):
    """The places of a world whose configuration is another one as time goes on."""

    config: Path = Path()  # in place of the one below the vault


class Past:
    """What a simulation lives by from one second on, up to the next checkpoint."""

    def __init__(self, lab: Lab, since: float) -> None:
        self._lab, self._shown = lab, lab.folder / _SHOWN
        self._stages = stages_of(lab, since)
        given = lab.past / ANSWERS if self._stages else None
        self.answers = Answers(lab.home / ANSWERS, given)

    def __enter__(self) -> Self:
        if self._stages:
            self._show(self._stages[0].config)
        return self

    def __exit__(self, *_: object) -> None:
        self._shown.unlink(missing_ok=True)

    def places(self, here: Places) -> Places:
        """The places of its world, with the configuration that holds."""
        if not self._stages:
            return here
        return _ShownPlaces(here.home, here.vault, here.ports, config=self._shown)

    def moments(self) -> Iterator[float]:
        """The seconds up to which each stretch is to be lived; behind it the next one holds."""
        from keepsake.agent.services import REST  # noqa: PLC0415 - brings onnxruntime with it

        configs = [*(each.config for each in self._stages), self._lab.vault / CONFIG]
        for stage, behind in zip(self._stages, configs[1:], strict=True):
            yield stage.until
            self._show(behind)
            time.sleep(REST)  # whoever has just looked at a file of settings looks again
        self.answers.ask()

    def _show(self, config: Path) -> None:
        part = self._shown.with_suffix(".part")
        with suppress(FileNotFoundError):
            part.unlink()
        part.symlink_to(os.path.relpath(config, part.parent))
        part.replace(self._shown)
