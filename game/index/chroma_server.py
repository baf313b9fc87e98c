"""Chroma's server as a child process of the game: both sides of it.

    python -m game.index.chroma_server --port 4008 --path FOLDER --pid-file FILE
        --watch-pid 123 --watch-file portal.pid

The server is the one that comes with chromadb, run in a process with low priority whose
life follows the game's (see :mod:`game.child`). It sends nothing anywhere: Chroma's
server has no telemetry of its own, and its tracing is off unless configured.
"""

from __future__ import annotations

import logging
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

from game.child import serving
from game.child.supervisor import Supervisor
from game.mind.errors import IndexUnavailable
from game.paths import Places

NICE = 15
"""Nobody waits for it: searches read the copy in each agent's file."""
log = logging.getLogger("keepsake.index")


class ChromaServer(Supervisor):
    """Looks after the Chroma server of one home."""

    stem, name, tag, logger = "vectors", "vector index", "Index", log
    module, health = "game.index.chroma_server", "/api/v2/heartbeat"
    off_cure = "Set chroma to child in recall.md and start the game"
    unavailable = IndexUnavailable

    def _arguments(self) -> list[object]:
        return ["--path", data_folder(self._places), "--nice", NICE]


def data_folder(places: Places) -> Path:
    """Where the child keeps its collections; no agent's folder has a dot in its name."""
    return places.index / ".chroma"


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve until told to end, or until nobody is left to serve; the exit status."""
    parser = serving.parser("game.index.chroma_server")
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
