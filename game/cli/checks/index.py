"""The checks of the recall index: its words, and the Chroma server that keeps its vectors."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from game.cli.checks.finding import Finding
from game.cli.world import client
from keepsake.errors import ConfigError, IndexUnavailable, KeepsakeError
from keepsake.paths import Places
from keepsake.recall.agent_index import WORDS
from keepsake.recall.chroma import Chroma
from keepsake.recall.chroma_server import ChromaServer, broken_folder
from keepsake.recall.config import CHILD, NONE, RecallConfig
from keepsake.recall.words import WordIndex


def words(here: Places) -> Iterator[Finding]:
    """Every agent's words are sound, and none of the indexes of the running world has a problem."""
    status = _status(here)
    if status is not None:
        problems = [f"{a['agent']}: {a['problem']}" for a in status["agents"] if a["problem"]]
    else:
        problems = [str(p) for p in map(_damage, sorted(here.index.glob(f"*/{WORDS}"))) if p]
    cure = "It is made anew when the agent is next asked; `keepsake index rebuild` does it by hand"
    yield Finding("Index", not problems, "; ".join(problems) or "words are sound", cure)


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
        yield _answers(here, config.chroma, f"Start it, or set chroma to child in {path}")
    elif _status(here) is None:
        yield Finding("Vectors", True, f"Chroma's server starts with the world{_broken(here)}")
    else:
        log = here.logs / "vectors.log"
        yield _answers(
            here, ChromaServer(here).address, f"It is started again by itself; see {log}"
        )


def _status(here: Places) -> dict[str, Any] | None:
    """What the running world says of its indexes; None where none runs."""
    try:
        return client.ask(here, "index_status")
    except KeepsakeError:
        return None


def _damage(path: Path) -> IndexUnavailable | None:
    index = WordIndex(path)
    try:
        index.check()
    except IndexUnavailable as problem:
        return problem
    finally:
        index.close()
    return None


def _answers(here: Places, address: str, cure: str) -> Finding:
    chroma = Chroma(address, here)
    try:
        return Finding("Vectors", True, f"{chroma.check()} at {address}{_broken(here)}")
    except IndexUnavailable as problem:
        return Finding("Vectors", False, problem.what, cure)
    finally:
        chroma.close()


def _broken(here: Places) -> str:
    """What says that a store was set aside."""
    aside = broken_folder(here)
    return f"; a damaged store was set aside as {aside}" if aside.exists() else ""
