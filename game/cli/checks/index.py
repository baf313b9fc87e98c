"""Checks of the recall index: its words, and the Chroma server that keeps its vectors."""

from __future__ import annotations

from collections.abc import Iterator

from game.cli.checks.finding import Finding
from game.cli.world import client, processes
from game.cli.world.formats import damage
from game.cli.world.processes import Component
from keepsake.errors import ConfigError, IndexUnavailable, KeepsakeError
from keepsake.index.chroma_server import ChromaServer
from keepsake.index.vectors import Chroma
from keepsake.models.embedding import EmbedderProfile, embedder, load_embedder
from keepsake.paths import Places
from keepsake.recall.config import CHILD, NONE, RecallConfig


def words(here: Places) -> Iterator[Finding]:
    """Every agent's words can be read; SQLite looks through each file."""
    files = sorted(here.index.glob("*/words.db"))
    broken = [(path, problem) for path in files if (problem := damage(path))]
    for path, problem in broken:
        cure = f"`keepsake index rebuild {path.parent.name}`, or wait: the game does it by itself"
        yield Finding("Index", False, f"{path} is damaged ({problem})", cure)
    if not broken:
        what = f"words of {len(files)} agents in {here.index}" if files else "none yet"
        yield Finding("Index", True, what)


def vectors(here: Places) -> Iterator[Finding]:
    """The Chroma server that recall.md names answers."""
    path = here.config / "recall.md"
    try:
        config = RecallConfig.load(path) if path.exists() else RecallConfig()
    except ConfigError:
        return  # the check of the configuration tells of it
    if config.chroma == NONE:
        yield Finding("Vectors", True, "none wanted: recall finds by words alone")
    elif config.chroma == CHILD:
        yield _child(here)
    else:
        yield _answers(config.chroma, f"Start it, or set chroma to child in {path}")


def embedding(here: Places) -> Iterator[Finding]:
    """The running world embeds with what llm.md names; another one counts from the next start."""
    path = here.config / "llm.md"
    try:
        named = embedder(load_embedder(path) if path.exists() else EmbedderProfile()).model_name
        used = client.ask(here, "index_status").get("embedder", "")
    except KeepsakeError:
        return  # no world runs, or the check of the configuration tells of it
    if used and used != named:
        what = f"{path} names {named}, and the world has embedded with {used} since its start"
        cure = "`keepsake reload`: the vectors are then made anew, and words serve meanwhile"
        yield Finding("Embedder", False, what, cure)
    elif used:
        yield Finding("Embedder", True, used)


def _child(here: Places) -> Finding:
    found = processes.running(here)
    log = here.logs / "vectors.log"
    if processes.one(found, Component.VECTORS) is not None:
        return _answers(ChromaServer(here).address, f"{log} says why")
    if processes.one(found, Component.SERVER) is None:
        return Finding("Vectors", True, "Chroma's server starts with the world")
    cure = f"It is started again by itself; {log} says why it is not there"
    return Finding("Vectors", False, "Chroma's server does not run", cure)


def _answers(address: str, cure: str) -> Finding:
    chroma = Chroma(address)
    try:
        return Finding("Vectors", True, f"{chroma.check()} at {address}")
    except IndexUnavailable as problem:
        return Finding("Vectors", False, problem.what, cure)
    finally:
        chroma.close()
