"""Fixtures: one real Chroma server per session, and an agent's folder with a real archive."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import chromadb
import pytest
from chromadb.api import ClientAPI

from keepsake.archive.log import Archive
from keepsake.archive.records import MemoryKind
from keepsake.archive.summaries import Summary, Tier
from keepsake.archive.tiers import SummaryState
from keepsake.books.notes import NoteBook
from keepsake.errors import IndexUnavailable
from keepsake.recall.agent_index import AgentIndex
from keepsake.recall.chroma import Chroma
from keepsake.recall.chroma_server import ChromaServer
from tests.fakes.embedder import BagOfWords
from tests.memories import old_memory
from tests.unit.llm.conftest import places_in, until

DAWN = datetime(2026, 5, 1, 6, tzinfo=UTC)


class AgentFolder:
    """An agent's folder: its archive, with memories and compactions, and its notes."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.archive = Archive(folder / "archive")
        self.notes = NoteBook(folder / "notes")
        self.compactions = 0

    def add(self, *texts: str) -> None:
        for text in texts:
            number = self.archive.last_number + 1
            time = DAWN + timedelta(minutes=number)
            memory = old_memory(number, time, MemoryKind.PERCEPTION, text, "The Mill", "Tom")
            self.archive.append(memory.to_record())

    def add_many(self, count: int) -> None:
        self.add(*(f"Tom says, “Sack {self.archive.last_number + 1 + i}.”" for i in range(count)))

    def compact(self, first: int, last: int, text: str) -> None:
        self.compactions += 1
        time = DAWN + timedelta(minutes=last, seconds=30)
        summary = Summary(Tier.RECENT, first, last, text, "bag", time)
        number = self.compactions
        self.archive.append(SummaryState(None, summary, last, number, time).compaction_line(number))

    def undo(self, number: int, restored: Summary | None, standing: int) -> None:
        """Undo compaction ``number``; ``restored`` is the short-term summary again."""
        before = SummaryState(None, restored, restored.last if restored else 0, standing)
        line = before.undo_line(
            number,
            self.compactions + 1,
            compactions=self.compactions,
            total=self.archive.last_number,
            time=DAWN + timedelta(days=1),
        )
        self.archive.append(line)

    def edit(self, text: str) -> None:
        time = DAWN + timedelta(days=1)
        self.archive.append({"type": "edit", "tier": "recent", "text": text, "t": time.isoformat()})


@pytest.fixture
def agent(tmp_path: Path) -> Iterator[AgentFolder]:
    agent = AgentFolder(tmp_path / "mira")
    yield agent
    agent.archive.close()


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ChromaServer]:
    """A running Chroma server."""
    server = ChromaServer(places_in(tmp_path_factory.mktemp("chroma")))
    try:
        until(server.watch)
        yield server
    finally:
        server.stop()


@pytest.fixture(scope="session")
def chroma(server: ChromaServer) -> Iterator[Chroma]:
    chroma = Chroma(server.address, server._places)
    yield chroma
    chroma.close()


@pytest.fixture
def embedder() -> BagOfWords:
    return BagOfWords()


type Opener = Callable[[], AgentIndex]


@pytest.fixture
def reopen(
    tmp_path: Path, agent: AgentFolder, chroma: Chroma, embedder: BagOfWords
) -> Iterator[Opener]:
    """Opens the index of ``agent``, as after a restart. All are closed at the end."""
    opened: list[AgentIndex] = []

    def reopen() -> AgentIndex:
        folder = tmp_path / "index" / "mira"
        made = {"chroma": chroma, "embedder": embedder}
        index = AgentIndex(folder, agent.archive.folder, agent.notes, **made)
        opened.append(index)
        return index

    yield reopen
    for index in opened:
        index.close()


@pytest.fixture
def index(reopen: Opener) -> AgentIndex:
    return reopen()


def client(chroma: Chroma) -> ClientAPI:
    """Return Chroma's own client, to inspect the server's data."""
    return chromadb.HttpClient(port=int(chroma.address.rpartition(":")[2]))


def sync(index: AgentIndex) -> None:
    """Bring words and vectors up to date, as the game's thread does."""
    index.refresh(lambda: None)
    index.embed()


def by_words(index: AgentIndex, *words: str) -> list[str]:
    index.refresh()
    found = [*index.words.search(words, {None: 10})[0]]
    known = index.words.documents_at(found)
    return [known[row].key for row in found]


def by_meaning(index: AgentIndex, text: str, limit: int = 10) -> list[str]:
    vector = BagOfWords().embed([text])[0]
    return [key for key, _ in index.query(vector, limit)]


def finds_first(index: AgentIndex, text: str, key: str) -> bool:
    """Whether the index finds the document ``key`` first."""
    try:
        return by_meaning(index, text, 1) == [key]
    except IndexUnavailable:
        return False
