"""The same memory for asyncio: every verb is awaited, and runs in a thread."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial, wraps
from pathlib import Path
from types import TracebackType
from typing import Any, Concatenate, Self

from keepsake.library.happenings import Who
from keepsake.library.memory import Memory
from keepsake.library.results import Answer

THREADS = 8
"""Threads of one memory. One answer runs at a time, and the rest take milliseconds."""


def awaited[**P, T](
    verb: Callable[Concatenate[Memory, P], T],
) -> Callable[Concatenate[AsyncMemory, P], Coroutine[Any, Any, T]]:
    """Return a verb of :class:`Memory` as a coroutine, which runs it in a thread.

    Its arguments, result, errors and docstring are those of the verb.
    """

    @wraps(verb)
    async def call(memory: AsyncMemory, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await memory.run(partial(verb, memory.memory, *args, **kwargs))

    return call


class AsyncMemory:
    """A :class:`Memory` whose verbs are coroutines; use it with ``async with``.

    The arguments, results and errors are those of :class:`Memory`. A task that is cancelled gives
    up its answer; what was said to the agent stays remembered.

    Attributes:
        memory: The memory itself, for what is quick and needs no await; open in ``async with``.
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
        self._memory = await self.run(self._open)
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
            await self.run(self._memory.close)
        self._threads.shutdown(wait=False)

    async def run[T](self, work: Callable[[], T]) -> T:
        """Run blocking work in a thread of this memory; return its result, or raise its error."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, work)

    perceive = awaited(Memory.perceive)
    prompt = awaited(Memory.prompt)
    recall = awaited(Memory.recall)
    compact = awaited(Memory.compact)
    undo = awaited(Memory.undo)
    summaries = awaited(Memory.summaries)
    plans = awaited(Memory.plans)
    plan = awaited(Memory.plan)
    end_plan = awaited(Memory.end_plan)
    people = awaited(Memory.people)
    forget = awaited(Memory.forget)
    status = awaited(Memory.status)

    # -- answers: their lines come in the loop's thread, and a cancelled task gives them up

    async def answer(
        self,
        words: str,
        *,
        by: Who,
        whisper: bool = False,
        here: Sequence[Who] | None = None,
        place: str = "",
        facts: Sequence[str] = (),
        on_line: Callable[[str], object] | None = None,
    ) -> Answer:
        """See :meth:`Memory.answer`; ``on_line`` is called in the loop's thread."""
        loop = asyncio.get_running_loop()
        given_up = threading.Event()

        def take(line: str) -> None:
            if on_line is not None:
                loop.call_soon_threadsafe(on_line, line)

        call = partial(
            self.memory.answer,
            words,
            by=by,
            whisper=whisper,
            here=here,
            place=place,
            facts=facts,
            on_line=take,
            is_cancelled=given_up.is_set,
        )
        try:
            return await self.run(call)
        except asyncio.CancelledError:
            given_up.set()
            raise

    async def stream(
        self,
        words: str,
        *,
        by: Who,
        whisper: bool = False,
        here: Sequence[Who] | None = None,
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
