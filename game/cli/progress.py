"""Shows on the terminal what is being done, and how long each step took."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.markup import escape
from rich.progress import (
    BarColumn,
    DownloadColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
)
from rich.status import Status

from game.cli.output import err

_WORTH_TELLING = 1.0


@contextmanager
def bytes_bar(what: str, total: int | None = None) -> Iterator[Callable[[int], None]]:
    """A bar of bytes done, of ``total`` if that is known; without a terminal nothing is shown."""
    columns = (TextColumn(what), BarColumn(), DownloadColumn())
    with Progress(*columns, console=err, transient=True, disable=not err.is_terminal) as bar:
        task = bar.add_task(what, total=total)
        yield lambda done: bar.update(task, completed=done)


@contextmanager
def items_bar(what: str, total: int) -> Iterator[Callable[[str, int], None]]:
    """A bar of items on standard error; calling it names the current item and counts those done.

    Without a terminal nothing is shown: standard output holds the figures alone.
    """
    columns = (TextColumn("{task.description}", markup=False), BarColumn())
    counts = (MofNCompleteColumn(), TimeElapsedColumn())
    quiet = not err.is_terminal
    with Progress(*columns, *counts, console=err, transient=True, disable=quiet) as bar:
        task = bar.add_task(what, total=total)
        yield lambda now, done: bar.update(task, advance=done, description=now)


class ProgressDisplay:
    """A spinner for the step at work, on a terminal, and a line for each that is done.

    Used as a context manager; :meth:`step` may be called from any thread.
    """

    def __init__(self, console: Console) -> None:
        self._console = console
        self._status = Status("", console=console)
        self._lock = threading.Lock()
        self._step = ""
        self._since = 0.0

    def __enter__(self) -> Self:
        self._status.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with self._lock:
            self._finish(failed=error is not None)
        self._status.stop()

    def step(self, text: str) -> None:
        """Begin a step; the one before it is done."""
        with self._lock:
            self._finish(failed=False)
            self._step, self._since = text, time.monotonic()
            self._status.update(escape(f"{text} …"))

    def _finish(self, *, failed: bool) -> None:
        if not self._step:
            return
        seconds = time.monotonic() - self._since
        took = f" [dim]({seconds:.0f} s)[/dim]" if seconds > _WORTH_TELLING else ""
        mark = "[red]✗[/red]" if failed else "[green]✓[/green]"
        self._console.print(f"{mark} {escape(self._step)}{took}")
        self._step = ""
