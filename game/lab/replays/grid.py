"""A grid of configurations, each lived through by itself, in processes side by side.

The results are the same however many processes there are: a cell sees nothing but the life
and its own settings.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from game.lab.pool import ENDED, problem_of, run_all, scratch_folder
from game.lab.replays.cells import Cell, settings_of
from game.lab.replays.figures import Failed, Result
from game.lab.replays.lived import ArchivedLife
from game.lab.replays.replay import LifeSetup, replay
from game.lab.replays.writers import SummaryAuthor, writer
from keepsake.paths import Places


@dataclass(frozen=True, slots=True)
class ReplayTask:
    """What every process is given."""

    here: Places  # whose configuration and whose model
    life: ArchivedLife  # what is lived through
    model: str  # who writes the summaries; see :func:`game.lab.replays.writers.writer`
    given: LifeSetup  # what is the same for every configuration

    @property
    def scratch(self) -> Path:
        """The folder for temporary files of all processes."""
        if self.given.scratch is None:
            raise AssertionError("run gives it one")
        return self.given.scratch

    @contextmanager
    def opened(self) -> Iterator[Callable[[Cell], Result]]:
        """What lives one cell."""
        with closing(writer(self.here, self.model)) as author:
            yield partial(_lived, self, author)

    def ended(self, cell: Cell) -> Result:
        """The result of a cell whose process was ended from outside."""
        return Failed(cell, ENDED)


def _lived(task: ReplayTask, author: SummaryAuthor, cell: Cell) -> Result:
    """One cell; whatever goes wrong in it is its own."""
    try:
        settings = settings_of(cell, task.here.config)
        return replay(cell, settings, task.life, author, given=task.given)
    except Exception as error:  # is its own
        return Failed(cell, problem_of(error))


def run(
    task: ReplayTask, cells: Sequence[Cell], jobs: int, done: Callable[[Result], None]
) -> list[Result]:
    """Live through every cell; blocks.

    Returns:
        The results in the order of ``cells``.

    Raises:
        KeepsakeError: The model does not answer, or there is no room for temporary files.
        KeyboardInterrupt: All processes have ended and nothing is left behind.
    """
    writer(task.here, task.model).close()  # said once, before there are processes
    with scratch_folder("replay") as folder:
        task = replace(task, given=replace(task.given, scratch=folder))
        return run_all(task, cells, jobs, done)
