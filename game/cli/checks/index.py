"""The check of the Chroma server, which keeps the vectors of the recall index."""

from __future__ import annotations

from collections.abc import Iterator

from game.cli.checks.finding import Finding
from game.cli.world import processes
from game.cli.world.processes import Component
from keepsake.errors import ConfigError, IndexUnavailable
from keepsake.index.chroma_server import ChromaServer
from keepsake.index.vectors import Chroma
from keepsake.paths import Places
from keepsake.recall.config import CHILD, NONE, RecallConfig


def vectors(here: Places) -> Iterator[Finding]:
    """The Chroma server that recall.md names answers."""
    path = here.config / "recall.md"
    try:
        config = RecallConfig.load(path) if path.exists() else RecallConfig()
    except ConfigError:
        return  # the check of the configuration tells of it
    if config.chroma == NONE:
        yield Finding("Vectors", True, "none wanted: recall finds by words alone")
    elif config.chroma != CHILD:
        yield _answers(config.chroma, f"Start it, or set chroma to child in {path}")
    elif processes.one(processes.running(here), Component.SERVER) is None:
        yield Finding("Vectors", True, "Chroma's server starts with the world")
    else:
        log = here.logs / "vectors.log"
        yield _answers(ChromaServer(here).address, f"It is started again by itself; see {log}")


def _answers(address: str, cure: str) -> Finding:
    chroma = Chroma(address)
    try:
        return Finding("Vectors", True, f"{chroma.check()} at {address}")
    except IndexUnavailable as problem:
        return Finding("Vectors", False, problem.what, cure)
    finally:
        chroma.close()
