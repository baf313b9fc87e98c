"""Chroma's server as a child process of the game: the code of both processes.

    python -m keepsake.recall.chroma_server --port 4008 --path FOLDER --pid-file=FILE …

The server is the one that comes with chromadb. It runs in a process that ends with the game (see
:mod:`keepsake.child`). It sends no data anywhere: it has no telemetry of its own, and its tracing
is off unless configured.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import sqlite3
import sys
import threading
import traceback
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import ClassVar

from keepsake import child
from keepsake.child import Supervisor
from keepsake.errors import IndexUnavailable
from keepsake.logs import Subsystem, get_logger
from keepsake.paths import Places

DATABASE = "chroma.sqlite3"
VACUUM_WAIT = 5.0
"""Seconds that a vacuum waits for the server to unlock its file."""
_CRASHES = {-signal.SIGSEGV, -signal.SIGBUS, -signal.SIGABRT, -signal.SIGILL, -signal.SIGFPE}
_DAMAGE = ("malformed", "not a database")
_CACHED = {
    "collections_with_segments_provider": {
        "cache": {"lru": {"name": "collections", "capacity": 1000}},
        "cache_ttl_secs": 3600,
        "permitted_parallelism": 180,
    }
}
"""Keeps the descriptions of collections in the server's memory: a lookup takes a third of a query.
Source: rust/frontend/src/get_collection_with_segments_provider.rs"""
log = get_logger(Subsystem.EMBEDDING)


class ChromaServer(Supervisor):
    """Starts, monitors and ends the Chroma server of one home.

    If the server crashes on its store, or the store's database is broken, the store is set aside
    and replaced with an empty one.
    """

    stem = "vectors"
    name = "vector index"
    logger = log
    module = "keepsake.recall.chroma_server"
    health = "/api/v2/heartbeat"
    off_cure = "Set chroma to child in recall.md and start the game"
    unavailable = IndexUnavailable
    environ: ClassVar[Mapping[str, str]] = {"MALLOC_PERTURB_": "165"}
    """hnswlib writes uninitialised memory to disk. This glibc setting overwrites freed memory."""

    def set_aside(self, reason: str) -> None:
        """Set the store aside; the next check of the server starts it with an empty one."""
        with self._lock:
            self._end(seconds=2.0)
            self._put_aside(reason)
            self._next_start = 0.0

    def _put_aside(self, reason: str) -> None:
        folder = data_folder(self._places)
        broken = broken_folder(self._places)
        if folder.exists():
            shutil.rmtree(broken, ignore_errors=True)
            folder.rename(broken)
        told = f"{folder} is damaged ({reason}) and set aside as {broken.name}; all vectors are"
        log.error(f"{told} rebuilt, and recall uses words alone until then")

    def _handle_exit(self, status: int) -> None:
        words = self._last_log_line()
        if status in _CRASHES or any(each in words for each in _DAMAGE):
            self._put_aside(f"Chroma ended with status {status}: {words}")
        super()._handle_exit(status)

    def _arguments(self) -> list[object]:
        return ["--path", data_folder(self._places)]

    @property
    def vacuum_mark(self) -> Path:
        """The mark that exists while the server's files may still hold deleted data."""
        return self._places.index / ".vacuum-owed"

    def request_vacuum(self) -> None:
        """Record that a vacuum is needed, before something is deleted.

        Raises:
            OSError: It could not be recorded, so nothing may be deleted.
        """
        self.vacuum_mark.parent.mkdir(parents=True, exist_ok=True)
        self.vacuum_mark.touch()

    def vacuum(self) -> None:
        """Rebuild the server's file without deleted data; the server need not stop for that.

        Source: https://docs.trychroma.com/docs/cli/vacuum (Chroma's own command does the same).

        Raises:
            sqlite3.Error, OSError: The vacuum failed, and is still needed.
        """
        file = data_folder(self._places) / DATABASE
        if broken_folder(self._places).exists():
            shutil.rmtree(broken_folder(self._places))
        if file.exists():
            with closing(sqlite3.connect(file, timeout=VACUUM_WAIT)) as database:
                used = {row[0] for row in database.execute("SELECT id FROM segments")}
                database.execute("VACUUM")
            for graph in file.parent.glob("*-*-*-*-*"):  # Chroma keeps those of dropped collections
                if graph.name not in used:
                    shutil.rmtree(graph, ignore_errors=True)
        self.vacuum_mark.unlink(missing_ok=True)


def data_folder(places: Places) -> Path:
    """Return the folder of the child's collections; no agent's folder begins with a dot."""
    return places.index / ".chroma"


def broken_folder(places: Places) -> Path:
    """Return the folder to which a damaged store is moved."""
    return places.index / ".chroma.broken"


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve until told to end, or until the game has ended; return the exit status."""
    parser = child.parser("keepsake.recall.chroma_server")
    parser.add_argument("--path", type=Path, required=True)
    given = parser.parse_args(arguments)
    return child.serve(given, lambda: _start(given.port, given.path))


def _start(port: int, path: Path) -> str:
    """Run Chroma's own command in a thread; it serves until the process ends."""
    path.mkdir(parents=True, exist_ok=True)
    for name in [each for each in os.environ if each.startswith("CHROMA_")]:
        del os.environ[name]  # it would override the file
    settings = {"listen_address": "127.0.0.1", "port": port, "persist_path": str(path)}
    file = path / "server.yaml"
    file.write_text(json.dumps(settings | _CACHED), encoding="utf-8")
    words = ["chroma", "run", str(file)]
    threading.Thread(target=_run, args=(words,), name="chroma", daemon=True).start()
    return f"listening on 127.0.0.1:{port}, data in {path}"


def _run(words: list[str]) -> None:
    # The binding alone: chromadb itself takes two seconds to import and is not needed here.
    import chromadb_rust_bindings  # noqa: PLC0415 - only the child process loads it

    try:
        chromadb_rust_bindings.cli(words)
    except BaseException as error:  # a panic of the Rust code is not an Exception
        traceback.print_exc()  # this process's output is vectors.log
        child.give_up(f"Chroma's server has ended: {error}")
    child.give_up("Chroma's server has ended")


if __name__ == "__main__":
    sys.exit(main())
