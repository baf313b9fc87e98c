"""The indexes of all agents: one thread that indexes, one that looks after Chroma's server.

Neither the reactor nor a compaction ever waits for an index: they say that there is
something new, and the thread takes it from the archive when its turn comes.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import sqlite3
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from keepsake.books.files import sync
from keepsake.books.notes import NoteBook
from keepsake.errors import IndexUnavailable, KeepsakeError
from keepsake.index.agent_index import AgentIndex, IndexStatus, stale_mark
from keepsake.index.chroma_server import ChromaServer
from keepsake.index.follower import AgentSources, Meaning
from keepsake.index.open_files import OpenFiles
from keepsake.index.vectors import Chroma
from keepsake.paths import Places
from keepsake.ports import Embedder
from keepsake.recall.config import CHILD, NONE, RecallConfig

WATCH_SECONDS = 1.0
NOTES_SECONDS = 5.0
RETRY_SECONDS = 30.0
SWITCH_SECONDS = 0.001
LAST_STEP_SECONDS = 10.0
"""What the step at work has when the world ends."""
REST = 1.0
"""So many times as long as it has worked a thread that indexes rests, between two batches."""
_NICE = 10


@dataclass(frozen=True, slots=True)
class Rebuild:
    """How far a rebuild is."""

    agents: tuple[str, ...]  # whose indexes are made anew, in this order
    finished: int = 0  # how many of them are done
    done: int = 0  # documents done of the agent at work
    total: int = 0  # of how many; 0 before it is known
    problems: tuple[str, ...] = ()  # what went wrong, a sentence each

    @property
    def over(self) -> bool:
        """Whether all are done."""
        return self.finished >= len(self.agents)


@dataclass(frozen=True, slots=True)
class ServiceStatus:
    """The indexes at one moment."""

    vectors: str  # where the vectors are, and what is wrong there; a sentence
    waiting: int  # agents whose turn has not come yet
    agents: tuple[IndexStatus, ...]  # figures of each index
    rebuild: Rebuild | None  # the rebuild at work, or the last one
    embedder: str = ""  # what makes vectors since the start; ``llm.md`` may name another by now


class IndexService:
    """The indexes of all agents of one copy.

    Args:
        places: Folders and ports.
        config: Where the vectors are kept.
        embedder: What makes them.
        log: Takes lines for people; called from any thread.
        rest: As :data:`REST`; none where nobody plays.
    """

    def __init__(
        self,
        places: Places,
        config: RecallConfig,
        embedder: Embedder,
        log: Callable[[str], None],
        *,
        rest: float = REST,
    ) -> None:
        self._places, self._log, self._rest = places, log, rest
        self._worked = 0.0  # processor time of the thread when it last rested, in seconds
        self.server = ChromaServer(places) if config.chroma == CHILD else None
        self._meaning = meaning(places, config, embedder, self._before_drop)
        self._open_files = OpenFiles()
        self._agents: dict[str, AgentIndex] = {}
        self._jobs: deque[tuple[str, Callable[[], None]]] = deque()
        self._wake = threading.Condition()
        self._ending = threading.Event()
        self._busy = False
        self._rebuild: Rebuild | None = None
        self._threads = [
            threading.Thread(target=self._work, name="index", daemon=True),
            threading.Thread(target=self._watch, name="index-watch", daemon=True),
        ]

    # -- for everybody; nothing here blocks

    def start(self) -> None:
        """Start the threads, and Chroma's server with them."""
        # A thread that indexes lets the game have the interpreter after 1 ms, not after 5.
        sys.setswitchinterval(min(sys.getswitchinterval(), SWITCH_SECONDS))
        for thread in self._threads:
            thread.start()

    def open(self, agent: str, archive: Path, notes: NoteBook | None = None) -> AgentIndex:
        """The index of that agent; its files are opened, and made, by the thread."""
        if agent not in self._agents:
            lived = AgentSources(agent, archive, notes)
            folder = self._places.index / agent
            index = AgentIndex(folder, lived, self._meaning, self._log, self._open_files)
            self._agents[agent] = index
        return self._agents[agent]

    def schedule_follow(self, agent: str, window_starts_at: int | None = None) -> None:
        """There is something new: memories left the window, or a note was written.

        Args:
            agent: Name of its folder.
            window_starts_at: Number of the oldest memory in its window; None when that is
                as it was.
        """
        index = self._agents.get(agent)
        if index is None:
            return  # it was forgotten meanwhile
        index.window = max(index.window, window_starts_at or 1)
        self._enqueue(agent, lambda: self._follow(index))

    def forget(self, agent: str) -> None:
        """The agent is gone; its files stay, as its archive does."""
        if index := self._agents.pop(agent, None):
            self._enqueue(f"close {agent}", index.close)

    def rebuild(self, agent: str | None = None) -> Rebuild:
        """Make an index anew, or all of them, one after the other, in the background.

        Raises:
            KeepsakeError: There is no such agent, or a rebuild is at work.
        """
        if self._rebuild is not None and not self._rebuild.over:
            raise KeepsakeError("An index is being rebuilt already", "Wait until it is done")
        names = [agent] if agent else sorted(self._agents)
        if agent and (agent := self._known(agent)) is None:
            there = ", ".join(sorted(self._agents)) or "none"
            raise KeepsakeError(f"No agent named {names[0]} has an index", f"There are: {there}")
        self._rebuild = Rebuild((agent,) if agent else tuple(names))
        for name in self._rebuild.agents:
            self._enqueue(f"rebuild {name}", partial(self._rebuild_one, name))
        return self._rebuild

    def distrust(self, agent: str) -> None:
        """Have an index thrown away before it is searched again, also by the next world.

        Call it while nobody has the index open, and before words that it holds are taken away.

        Raises:
            OSError: That cannot be written down.
        """
        mark = stale_mark(self._places.index / agent)
        mark.parent.mkdir(parents=True, exist_ok=True)
        mark.touch()
        sync(mark.parent)

    def status(self) -> ServiceStatus:
        """Figures; quick."""
        return ServiceStatus(
            vectors=self._vectors_status(),
            waiting=len(self._jobs) + self._busy,
            agents=tuple(index.status() for _, index in sorted(self._agents.items())),
            rebuild=self._rebuild,
            embedder=self._meaning.embedder.model_name if self._meaning else "",
        )

    def followed(self, agent: str, last: int) -> bool:
        """Whether it holds that agent's memories up to ``last``, or never will; quick."""
        index = self._agents.get(agent)
        if index is None or not (self._jobs or self._busy):
            return True
        status = index.status()
        # The newest ones may be of a kind that gets no vector: then the end of all work tells.
        return status.memories >= last and (not status.complete or status.embedded >= last)

    def answer_rebuild(self, request: dict[str, Any]) -> dict[str, Any]:
        """The control operation ``index_rebuild``: ``{"agent": name or null}``."""
        return asdict(self.rebuild(request.get("agent") or None))

    def answer_status(self, _request: dict[str, Any]) -> dict[str, Any]:
        """The control operation ``index_status``."""
        return asdict(self.status())

    # -- ending

    def wait_idle(self, seconds: float) -> bool:
        """Wait until nothing is left to index; whether that came about in time."""
        with self._wake:
            return self._wake.wait_for(lambda: not self._jobs and not self._busy, seconds)

    def close(self, *, stop_server: bool, break_off: Callable[[], object] | None = None) -> None:
        """Finish the step at work and let go of everything; what is left is done next time.

        Args:
            stop_server: End Chroma's child process too; False at a reload, which adopts it.
            break_off: Has the step at work fail if it does not end in time: an embedder that
                hangs, which has no time limit for what nobody waits for, must not keep the world.
        """
        self._ending.set()
        with self._wake:
            self._jobs.clear()
            self._wake.notify_all()
        for thread in self._threads:
            if thread.ident is not None:
                thread.join(LAST_STEP_SECONDS)
                if thread.is_alive() and break_off is not None:
                    break_off()
                thread.join()
        for index in self._agents.values():
            index.close()
        if self._meaning is not None:
            self._meaning.chroma.close()
        if self.server is not None and stop_server:
            self.server.stop()

    # -- the thread that indexes

    def _enqueue(self, name: str, job: Callable[[], None]) -> None:
        with self._wake:
            if all(waiting != name for waiting, _ in self._jobs):
                self._jobs.append((name, job))
                self._wake.notify_all()

    def _work(self) -> None:
        with contextlib.suppress(OSError, AttributeError):
            # Linux gives each thread its own priority: the game comes first.
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _NICE)
        while (job := self._next()) is not None:
            try:
                job()
            except _Stopping:
                return
            except Exception as error:  # a fault of ours must not end the thread
                self._log(f"[Index] Indexing broke off: {error!r}")

    def _next(self) -> Callable[[], None] | None:
        with self._wake:
            self._busy = False
            self._wake.notify_all()
            self._wake.wait_for(lambda: self._jobs or self._ending.is_set())
            if self._ending.is_set():
                return None
            self._busy = True
            return self._jobs.popleft()[1]

    def _follow(self, index: AgentIndex) -> None:
        window = index.window if index.window > 1 else None
        index.follow(window, self._breathe, vectors=self._vectors_ready())

    def _rebuild_one(self, name: str) -> None:
        index = self._agents.get(name)
        try:
            if index is not None:
                self._wait_for_vectors()
                index.rebuild(self._tell)
                self._log(f"[Index] {name}: made anew ({index.status().memories} memories)")
        except _Stopping:
            raise
        except Exception as error:  # whatever it was: a rebuild that failed must not pass for one
            self._change(problems=(*self._at_work().problems, f"{name}: {error}"))
            self._log(f"[Index] {name}: the rebuild failed, the old index stays: {error}")
        finally:
            self._change(finished=self._at_work().finished + 1, done=0, total=0)

    def _before_drop(self) -> None:
        if self.server is not None:
            self.server.owe_vacuum()
            self._enqueue("vacuum", self._vacuum)

    def _vacuum(self) -> None:
        """What was deleted must not be found in Chroma's file either."""
        if self.server is None or not (self.server.vacuum_owed and self.server.ready()):
            return
        try:
            self.server.vacuum()
        except (sqlite3.Error, OSError) as error:
            self._log(f"[Index] Chroma's file could not be vacuumed, and will be: {error}")

    def _tell(self, done: int, total: int) -> None:
        self._breathe(done, total)
        self._change(done=done, total=total)

    def _breathe(self, _done: int, _total: int) -> None:
        """Between two batches: end if asked to, and let others have the interpreter."""
        worked = time.thread_time() - self._worked
        if self._ending.wait(max(0.0, worked) * self._rest):
            raise _Stopping
        self._worked = time.thread_time()

    def _at_work(self) -> Rebuild:
        return self._rebuild or Rebuild(())

    def _change(self, **what: Any) -> None:
        self._rebuild = replace(self._at_work(), **what)

    # -- the thread that watches

    def _watch(self) -> None:
        notes_at = retry_at = time.monotonic()
        ready = False
        while not self._ending.wait(WATCH_SECONDS if ready else WATCH_SECONDS / 4):
            was_ready, ready = ready, self._look(ready)
            now = time.monotonic()
            if ready and not was_ready:
                self._all_again(lambda _: True)
                self._enqueue("vacuum", self._vacuum)
            if now >= notes_at:
                notes_at = now + NOTES_SECONDS
                self._enqueue("notes", self._follow_notes)
            if now >= retry_at:
                retry_at = now + RETRY_SECONDS
                self._enqueue("vacuum", self._vacuum)
                self._all_again(lambda index: index.problem is not None)

    def _look(self, was: bool) -> bool:
        try:
            return self.server is None or self.server.watch()
        except Exception as error:  # without this thread nothing would be noticed any more
            if was:
                self._log(f"[Index] Looking after Chroma's server failed: {error!r}")
            return False

    def _all_again(self, wanted: Callable[[AgentIndex], bool]) -> None:
        for agent, index in list(self._agents.items()):
            if wanted(index):
                index.recheck()
                self.schedule_follow(agent)

    def _follow_notes(self) -> None:
        for index in list(self._agents.values()):
            if index.problem is None:
                index.follow_notes(vectors=self._vectors_ready())

    def _vectors_ready(self) -> bool:
        return self.server is None or self.server.ready()

    def _wait_for_vectors(self) -> None:
        if self.server is not None and not self.server.wait_ready(RETRY_SECONDS):
            raise self.server.problem or IndexUnavailable("Chroma's server does not answer")

    def _vectors_status(self) -> str:
        if self._meaning is None:
            return "no vectors: recall finds by words alone"
        address = self._meaning.chroma.address
        if self.server is None:
            return f"Chroma at {address}"
        return f"Chroma at {address}, {'ready' if self.server.ready() else self.server.problem}"

    def _known(self, agent: str) -> str | None:
        return next((name for name in self._agents if name.casefold() == agent.casefold()), None)


class _Stopping(Exception):
    """Breaks off a long step; what it has done is kept, the rest is done next time."""


def meaning(
    places: Places,
    config: RecallConfig,
    embedder: Embedder,
    before_drop: Callable[[], None] = lambda: None,
) -> Meaning | None:
    """What vectors need, as the configuration says; None for none."""
    if config.chroma == NONE:
        return None
    child = f"http://127.0.0.1:{places.ports.vectors}"
    owner = hashlib.sha256(os.fsencode(places.home)).hexdigest()[:16]
    address = child if config.chroma == CHILD else config.chroma
    return Meaning(embedder, Chroma(address, before_drop), owner)


@contextlib.contextmanager
def alone(
    places: Places, config: RecallConfig, embedder: Embedder, log: Callable[[str], None]
) -> Iterator[IndexService]:
    """The service outside the game, with every agent of the vault that has an archive.

    Only while no world runs: two processes must not write one index.
    """
    service = IndexService(places, config, embedder, log, rest=0.0)
    for folder in sorted(places.agents.glob("[!.]*/archive")):
        service.open(folder.parent.name, folder, NoteBook(folder.parent / "notes"))
    service.start()
    try:
        yield service
    finally:
        service.close(stop_server=True)
