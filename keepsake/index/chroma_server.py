"""Chroma's server as a child process of the game: both sides of it.

    python -m keepsake.index.chroma_server --port 4008 --path FOLDER --pid-file FILE
        --watch-pid 123 --watch-file portal.pid

The server is the one that comes with chromadb, run in a process with low priority whose
life follows the game's (see :mod:`keepsake.child`). It sends nothing anywhere: Chroma's
server has no telemetry of its own, and its tracing is off unless configured.
"""

from __future__ import annotations

import logging
import shutil
import sqlite3
import sys
import threading
from collections.abc import Mapping, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import ClassVar

from keepsake.child import serving
from keepsake.child.supervisor import Supervisor
from keepsake.errors import IndexUnavailable
from keepsake.paths import Places

NICE = 15
"""Nobody waits for it: searches read the copy in each agent's file."""
VACUUM_WAIT = 5.0
"""Seconds that a vacuum waits for the server to be done with its file."""
log = logging.getLogger("keepsake.index")


class ChromaServer(Supervisor):
    """Looks after the Chroma server of one home."""

    stem, name, tag, logger = "vectors", "vector index", "Index", log
    module, health = "keepsake.index.chroma_server", "/api/v2/heartbeat"
    off_cure = "Set chroma to child in recall.md and start the game"
    unavailable = IndexUnavailable
    environ: ClassVar[Mapping[str, str]] = {"MALLOC_PERTURB_": "165"}
    """hnswlib writes memory to disk as it gets it: without this of glibc, what was freed before."""
    _owes = False  # since the process began

    def _arguments(self) -> list[object]:
        return ["--path", data_folder(self._places), "--nice", NICE]

    @property
    def vacuum_owed(self) -> bool:
        """Whether its file may still hold what was deleted, in pages that are free."""
        return self._owes or self._owed.exists()

    def owe_vacuum(self) -> None:
        """Something is about to be deleted: write it down, where the disk has room for that."""
        self._owes = True
        with suppress(OSError):
            self._owed.parent.mkdir(parents=True, exist_ok=True)
            self._owed.touch()

    def vacuum(self) -> None:
        """Make its file anew without what was deleted; the server need not stop for that.

        Source: https://docs.trychroma.com/docs/cli/vacuum (its own command does the same).

        Raises:
            sqlite3.Error, OSError: It could not be done, and is still owed.
        """
        file = self._owed.with_name("chroma.sqlite3")
        if file.exists():
            with closing(sqlite3.connect(file, timeout=VACUUM_WAIT)) as database:
                used = {row[0] for row in database.execute("SELECT id FROM segments")}
                database.execute("VACUUM")
            for graph in file.parent.glob("*-*-*-*-*"):  # Chroma leaves those of what it dropped
                if graph.name not in used:
                    shutil.rmtree(graph, ignore_errors=True)
        self._owed.unlink(missing_ok=True)
        self._owes = False

    @property
    def _owed(self) -> Path:
        return data_folder(self._places) / "vacuum-owed"


def data_folder(places: Places) -> Path:
    """Where the child keeps its collections; no agent's folder has a dot in its name."""
    return places.index / ".chroma"


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve until told to end, or until nobody is left to serve; the exit status."""
    parser = serving.parser("keepsake.index.chroma_server")
    parser.add_argument("--path", type=Path, required=True)
    given = parser.parse_args(arguments)
    return serving.serve("vector index server", given, lambda: _start(given.port, given.path))


def _start(port: int, path: Path) -> str:
    """Run Chroma's own command, which serves until the process ends, in a thread."""
    path.mkdir(parents=True, exist_ok=True)
    words = ["chroma", "run", "--path", str(path), "--host", "127.0.0.1", "--port", str(port)]
    threading.Thread(target=_run, args=(words,), name="chroma", daemon=True).start()
    return f"listening on 127.0.0.1:{port}, data in {path}"


def _run(words: list[str]) -> None:
    # The binding alone: chromadb itself takes two seconds to import and is not needed here.
    import chromadb_rust_bindings  # noqa: PLC0415

    try:
        chromadb_rust_bindings.cli(words)
    finally:
        serving.give_up("Chroma's server has ended")


if __name__ == "__main__":
    sys.exit(main())
