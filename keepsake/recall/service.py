"""The indexes of all agents: one thread that indexes, one that monitors Chroma's server.

Neither the reactor nor a compaction waits for an index. Each search indexes new words first. The
indexing thread updates vectors, and indexes that no search has updated, in rounds.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from keepsake.books.notes import NoteBook
from keepsake.errors import KeepsakeError
from keepsake.logs import Subsystem, get_logger
from keepsake.paths import Places
from keepsake.ports import Embedder
from keepsake.recall.agent_index import WORDS, AgentIndex, IndexStatus
from keepsake.recall.chroma import Chroma
from keepsake.recall.chroma_server import ChromaServer
from keepsake.recall.index.words import WordIndex
from keepsake.recall.meaning import StoreDamaged
from keepsake.recall.stores import CHILD, NONE

log = get_logger(Subsystem.INDEX)

ROUND_SECONDS = 15.0
"""Seconds between two rounds over all indexes if nothing wakes the thread, for notes that a person
edits."""
WATCH_SECONDS = 1.0
"""Seconds between two looks at Chroma's server; a quarter of it until the server is ready."""
SWITCH_SECONDS = 0.001
"""Seconds after which the indexing thread yields the interpreter to the game."""
LAST_STEP_SECONDS = 10.0
"""Seconds that the current step may take when the game ends."""
_NICE = 10
"""What is added to the niceness of the indexing thread: the game comes first."""
_LONGEST_REST = 1.0
"""The most seconds that the indexing thread pauses between two batches."""
_CLOSING = 16
"""How many indexes are closed at once when the game ends."""


class IndexService:
    """The indexes of all agents of one copy.

    Args:
        places: Folders and ports.
        chroma: Where the vectors are stored: :data:`CHILD`, :data:`NONE` or a server's address.
        embedder: Makes the vectors.
    """

    def __init__(self, places: Places, chroma: str, embedder: Embedder) -> None:
        self._places = places
        self._embedder = embedder
        self.server = ChromaServer(places) if chroma == CHILD else None
        self._request_vacuum = self.server.request_vacuum if self.server else lambda: None
        address = self.server.address if self.server else chroma
        self._chroma = None if address == NONE else Chroma(address, places, self._request_vacuum)
        self._agents: dict[str, AgentIndex] = {}
        self._failures: dict[tuple[str, Subsystem], str] = {}  # of the indexing thread
        self._wake = threading.Event()
        self._ending = threading.Event()
        self._paused = 0.0  # when the indexing thread last paused, in seconds
        self._threads = [
            threading.Thread(target=self._work, name="index", daemon=True),
            threading.Thread(target=self._watch, name="index-watch", daemon=True),
        ]

    # -- for all threads; nothing here blocks

    def start(self) -> None:
        """Start the threads, and Chroma's server with them."""
        # The indexing thread yields the interpreter to the game after 1 ms instead of 5.
        sys.setswitchinterval(min(sys.getswitchinterval(), SWITCH_SECONDS))
        for thread in self._threads:
            thread.start()

    def open(
        self, agent: str, archive: Path, notes: NoteBook | None = None, *, name: str = ""
    ) -> AgentIndex:
        """Return the index of that agent; the indexing thread opens or creates its files.

        ``agent``: Its folder in the vault. ``name``: Its name, for the log; the folder's if empty.
        """
        if agent not in self._agents:
            self._agents[agent] = AgentIndex(
                self._places.index / agent,
                archive,
                notes,
                chroma=self._chroma,
                embedder=self._embedder,
                name=name,
            )
            self._wake.set()
        return self._agents[agent]

    def follow(self) -> None:
        """Begin a round soon, because something new needs vectors."""
        self._wake.set()

    def rebuild(self, agent: str = "") -> list[str]:
        """Have the index of an agent, or of all, made again in the background; return their names.

        Raises:
            KeepsakeError: No open index has that name.
        """
        names = sorted(name for name in self._agents if agent.casefold() in ("", name.casefold()))
        if agent and not names:
            there = ", ".join(sorted(self._agents)) or "none"
            raise KeepsakeError(f"No agent {agent!r} has an index", f"These have one: {there}")
        for name in names:
            self._agents[name].request_rebuild()
        self._wake.set()
        return names

    def forget(self, agent: str) -> None:
        """Close the index of an agent that is gone; its files stay, like its archive."""
        if index := self._agents.pop(agent, None):
            threading.Thread(target=index.close, daemon=True).start()

    def erase(self, agent: str) -> None:
        """Delete the words of an index; its vectors are then rebuilt, too.

        Call it while the index is not open, and before the words are removed from the archive.

        Raises:
            OSError: It could not be deleted.
        """
        self._request_vacuum()  # a store that was set aside may hold the words, too
        WordIndex(self._places.index / agent / WORDS).delete()

    def status(self) -> dict[str, IndexStatus]:
        """Return the figures of each index, by agent; quick."""
        return {agent: index.status() for agent, index in sorted(self._agents.items())}

    # -- ending

    def close(self, *, stop_server: bool) -> None:
        """Finish the current step and close everything; the rest is done after the next start.

        A step that does not end in time is abandoned: a hanging embedder must not keep the game
        alive. ``stop_server``: Whether to end Chroma's server; a reload leaves it to be adopted.
        """
        self._ending.set()
        self._wake.set()
        for thread in self._threads:
            if thread.ident is not None:
                thread.join(LAST_STEP_SECONDS)
        with ThreadPoolExecutor(_CLOSING) as pool:  # each index waits for the disk
            list(pool.map(AgentIndex.close, self._agents.values()))
        if self._chroma is not None:
            self._chroma.close()
        if self.server is not None and stop_server:
            self.server.stop()

    # -- the thread that indexes

    def _work(self) -> None:
        with contextlib.suppress(OSError, AttributeError):
            # On Linux each thread has its own priority, and the game comes first.
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _NICE)
        while not self._ending.is_set():
            self._wake.clear()
            try:
                self._run_round()
            except _Stopping:
                return
            except Exception as error:  # a bug must not end the thread
                log.error("Indexing failed", exc_info=error)
            self._wake.wait(ROUND_SECONDS)

    def _run_round(self) -> None:
        """Bring all indexes up to date."""
        self._vacuum()
        indexes = list(self._agents.values())
        self._paused = time.monotonic()
        for index in indexes:
            self._step(index, index.refresh, Subsystem.INDEX)
        ready = self._chroma is not None and (self.server is None or self.server.ready.is_set())
        for index in indexes if ready else ():
            self._step(index, index.embed, Subsystem.EMBEDDING)
            if isinstance(index.problem, StoreDamaged) and self.server is not None:
                self.server.set_aside(index.problem.what)
                return  # the next rounds rebuild everything when the server is ready
            self._vacuum()

    def _step(
        self, index: AgentIndex, step: Callable[[Callable[[], object]], None], subsystem: Subsystem
    ) -> None:
        """Do a step of one agent's index. Its first failure in a row is logged."""
        key = (index.name, subsystem)
        try:
            step(self._pause)
        except _Stopping:
            raise
        except Exception as error:  # a bug in one agent's index must not stop the others
            if repr(error) != self._failures.get(key):
                told = "A step of the index failed"
                log.error(told, agent=index.name, subsystem=subsystem, exc_info=error)
            self._failures[key] = repr(error)
        else:
            self._failures.pop(key, None)

    def _pause(self) -> None:
        """Pause between two batches as long as the last one took, or stop if the game ends."""
        if self._ending.wait(min(time.monotonic() - self._paused, _LONGEST_REST)):
            raise _Stopping
        self._paused = time.monotonic()

    def _vacuum(self) -> None:
        """Remove deleted data from Chroma's files, too, if a vacuum is needed."""
        if not ((server := self.server) and server.vacuum_mark.exists() and server.ready.is_set()):
            return
        try:
            server.vacuum()
        except (sqlite3.Error, OSError) as error:
            log.warning("Chroma's file could not be vacuumed, and will be", exc_info=error)

    # -- the thread that watches

    def _watch(self) -> None:
        ready = False
        failure = ""
        while self.server is not None and not self._ending.is_set():
            was_ready = ready
            try:
                ready = self.server.watch()
            except Exception as error:  # a bug must not end the thread that monitors the server
                ready = False
                if str(error) != failure:  # a repeated failure is logged once
                    failure = str(error)
                    told = "Monitoring Chroma's server failed"
                    log.error(told, subsystem=Subsystem.EMBEDDING, exc_info=error)
            if ready and not was_ready:
                self._wake.set()
            self._ending.wait(WATCH_SECONDS if ready else WATCH_SECONDS / 4)


class _Stopping(Exception):
    """Interrupts a long step. Finished work is kept; the rest is done next time."""
