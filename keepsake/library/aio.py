"""The same memory for asyncio: every verb is awaited, and runs in a thread.

The verbs stand in the order of :mod:`keepsake.library.verbs`, which does their work.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from keepsake.books.plan import Plan
from keepsake.library.happenings import Happened
from keepsake.library.happenings import Who as Named
from keepsake.library.memory import Memory
from keepsake.library.results import (
    Answer,
    Forgotten,
    KnownPerson,
    MemoryPrompt,
    RecalledMemory,
    Status,
    Summaries,
)
from keepsake.memory.types import CompactionResult, UndoResult

THREADS = 8
"""Threads of one memory. One answer runs at a time, and the rest take milliseconds."""


class AsyncMemory:
    """A :class:`Memory` whose verbs are coroutines; use it with ``async with``.

    The arguments, results and errors are those of :class:`Memory`. A task that is cancelled gives
    up its answer; what was said to the agent stays remembered.

    Attributes:
        memory: The memory itself, for what is quick and needs no await; None before it is opened.
    """

    def __init__(self, folder: str | Path, **options: Any) -> None:
        self._open = partial(Memory, folder, **options)
        self._memory: Memory | None = None
        self._threads = ThreadPoolExecutor(THREADS, "keepsake-aio")

    @property
    def memory(self) -> Memory:
        """The memory.

        Raises:
            RuntimeError: It was not opened: use ``async with``.
        """
        if self._memory is None:
            raise RuntimeError("The memory is not open: use `async with AsyncMemory(…)`")
        return self._memory

    async def __aenter__(self) -> Self:
        self._memory = await self._run(self._open)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the memory; see :meth:`Memory.close`."""
        if self._memory is not None:
            await self._run(self._memory.close)
        self._threads.shutdown(wait=False)

    async def _run[T](self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._threads, work)

    # -- remembering

    async def perceive(
        self,
        what: Happened,
        *,
        place: str = "",
        time: datetime | None = None,
        only_for: Collection[Named] | None = None,
        happening: str = "",
        rests_on: Sequence[int] = (),
    ) -> int:
        """See :meth:`Memory.perceive`."""
        call = partial(self.memory.perceive, what, place=place, time=time, only_for=only_for)
        return await self._run(partial(call, happening=happening, rests_on=rests_on))

    # -- asking

    async def prompt(
        self,
        words: str,
        *,
        by: Named,
        whisper: bool = False,
        here: Sequence[Named] | None = None,
        place: str = "",
        facts: Sequence[str] = (),
        budget: int = 0,
    ) -> MemoryPrompt:
        """See :meth:`Memory.prompt`."""
        call = partial(self.memory.prompt, words, by=by, whisper=whisper, here=here)
        return await self._run(partial(call, place=place, facts=facts, budget=budget))

    async def answer(
        self,
        words: str,
        *,
        by: Named,
        whisper: bool = False,
        here: Sequence[Named] | None = None,
        place: str = "",
        facts: Sequence[str] = (),
        on_line: Callable[[str], object] | None = None,
    ) -> Answer:
        """See :meth:`Memory.answer`; ``on_line`` is called in the loop's thread."""
        loop = asyncio.get_running_loop()
        given_up = threading.Event()
        told = None
        if on_line is not None:
            take = on_line

            def told(line: str) -> object:
                return loop.call_soon_threadsafe(take, line)

        call = partial(self.memory.answer, words, by=by, whisper=whisper, here=here)
        call = partial(call, place=place, facts=facts, on_line=told, is_cancelled=given_up.is_set)
        try:
            return await self._run(call)
        except asyncio.CancelledError:
            given_up.set()
            raise

    async def stream(
        self,
        words: str,
        *,
        by: Named,
        whisper: bool = False,
        here: Sequence[Named] | None = None,
        place: str = "",
        facts: Sequence[str] = (),
    ) -> AsyncIterator[str | Answer]:
        """Yield each line of an answer as soon as it is complete, and the :class:`Answer` last."""
        lines: asyncio.Queue[str | None] = asyncio.Queue()
        call = self.answer(
            words,
            by=by,
            whisper=whisper,
            here=here,
            place=place,
            facts=facts,
            on_line=lines.put_nowait,
        )
        task = asyncio.ensure_future(call)
        task.add_done_callback(lambda _: lines.put_nowait(None))
        try:
            while (line := await lines.get()) is not None:
                yield line
            yield await task
        finally:
            task.cancel()

    # -- recalling

    async def recall(
        self, question: str, limit: int = 10, *, audience: Sequence[Named] | None = None
    ) -> list[RecalledMemory]:
        """See :meth:`Memory.recall`."""
        return await self._run(partial(self.memory.recall, question, limit, audience=audience))

    # -- summarising

    async def compact(self) -> CompactionResult:
        """See :meth:`Memory.compact`."""
        return await self._run(self.memory.compact)

    async def undo(self) -> UndoResult:
        """See :meth:`Memory.undo`."""
        return await self._run(self.memory.undo)

    async def summaries(self) -> Summaries:
        """See :meth:`Memory.summaries`."""
        return await self._run(self.memory.summaries)

    # -- planning

    async def plans(self, *, ended: bool = False) -> list[Plan]:
        """See :meth:`Memory.plans`."""
        return await self._run(partial(self.memory.plans, ended=ended))

    async def plan(self, line: str) -> Plan:
        """See :meth:`Memory.plan`."""
        return await self._run(partial(self.memory.plan, line))

    async def end_plan(self, number: int, *, done: bool = True, why: str = "") -> Plan:
        """See :meth:`Memory.end_plan`."""
        return await self._run(partial(self.memory.end_plan, number, done=done, why=why))

    # -- knowing people

    async def people(self) -> list[KnownPerson]:
        """See :meth:`Memory.people`."""
        return await self._run(self.memory.people)

    async def forget(self, person: Named) -> Forgotten:
        """See :meth:`Memory.forget`."""
        return await self._run(partial(self.memory.forget, person))

    # -- figures

    async def status(self) -> Status:
        """See :meth:`Memory.status`."""
        return await self._run(self.memory.status)
