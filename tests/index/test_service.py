"""The service: a thread that indexes, a child that serves vectors, and their ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from unittest.mock import Mock

import psutil
import pytest

from keepsake.archive.forgetting import ForgottenPerson, forget
from keepsake.errors import IndexUnavailable, KeepsakeError, ModelUnavailable
from keepsake.index.chroma_server import ChromaServer, data_folder
from keepsake.index.service import IndexService, alone
from keepsake.index.vectors import Chroma
from keepsake.models.minilm import MiniLMEmbedder
from keepsake.names import folder_name
from keepsake.paths import Places
from keepsake.recall.config import RecallConfig
from tests.free_ports import free_port
from tests.index.conftest import BagOfWords, Life, by_words, settles
from tests.llm.conftest import places_in, runs, until


@pytest.fixture
def here(tmp_path: Path) -> Places:
    return places_in(tmp_path / "copy")


@pytest.fixture
def mira(here: Places) -> Iterator[Life]:
    life = Life(here.agents / "mira")
    yield life
    life.archive.close()


type Starter = Callable[..., IndexService]


@pytest.fixture
def started(here: Places, said: list[str], server: ChromaServer) -> Iterator[Starter]:
    """Starts services; by default on the session's server, as if it were a remote one."""
    running: list[IndexService] = []

    def start(embedder: object = None, chroma: str = server.address) -> IndexService:
        config = RecallConfig(chroma=chroma)
        service = IndexService(here, config, embedder or BagOfWords(), said.append)
        service.start()
        running.append(service)
        return service

    yield start
    for service in running:
        service.close(stop_server=True)


class Held(BagOfWords):
    """An embedder that begins when the test lets it."""

    def __init__(self) -> None:
        super().__init__()
        self.gate = threading.Event()

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        assert self.gate.wait(60)
        return super().embed(texts)


def test_it_indexes_in_the_background(started: Starter, mira: Life):
    embedder = Held()
    service = started(embedder)
    mira.live_days(300)
    index = service.open("mira", mira.archive.folder, mira.notes)
    service.schedule_follow("mira", 291)  # comes back, though nothing can be indexed yet
    assert index.status().embedded == 0
    embedder.gate.set()
    until(lambda: index.status().embedded == 290)
    assert by_words(index, "290")
    until(lambda: settles(index, "Sack 290", "memory:290"))  # handed over after they are counted


def test_a_note_written_by_hand_is_found_without_being_told(
    started: Starter, mira: Life, monkeypatch
):
    monkeypatch.setattr("keepsake.index.service.NOTES_SECONDS", 0.1)
    service = started()
    index = service.open("mira", mira.archive.folder, mira.notes)
    service.schedule_follow("mira", 1)
    mira.notes.folder.mkdir()
    (mira.notes.folder / "flax.md").write_text("---\ntitle: Flax\n---\nIt grows by the mill.\n")
    until(lambda: by_words(index, "grows") == ["note:flax"])
    until(lambda: settles(index, "grows by the mill", "note:flax"))


def test_a_rebuild_of_all_while_it_runs(started: Starter, mira: Life, here: Places):
    service = started()
    tom = Life(here.agents / "tom")
    for life in (mira, tom):
        life.live_days(100)
        service.open(life.folder.name, life.archive.folder, life.notes)
        service.schedule_follow(life.folder.name, 101)
    assert service.wait_idle(60)
    assert service.answer_rebuild({})["agents"] == ("mira", "tom")
    until(lambda: service.answer_status({})["rebuild"]["finished"] == 2)
    status = service.status()
    assert status.rebuild is not None
    assert status.rebuild.problems == ()
    assert [each.embedded for each in status.agents] == [100, 100]
    assert service.rebuild("Mira").agents == ("mira",)
    assert service.wait_idle(60)
    with pytest.raises(KeepsakeError, match="No agent named nobody has an index"):
        service.rebuild("nobody")
    tom.archive.close()


def test_an_agent_that_is_gone_troubles_nobody(started: Starter, mira: Life, said: list[str]):
    service = started()
    service.open("mira", mira.archive.folder, mira.notes)
    service.forget("mira")
    service.schedule_follow("mira", 3)
    assert service.wait_idle(60)
    assert all(thread.is_alive() for thread in service._threads)
    assert said == []


def test_a_rebuild_that_breaks_off_does_not_pass_for_one(
    started: Starter, mira: Life, said: list[str]
):
    class Faulty(BagOfWords):
        def embed(self, texts):
            raise RuntimeError("a fault of ours")

    service = started(Faulty())
    mira.live_days(5)
    service.open("mira", mira.archive.folder, mira.notes)
    service.schedule_follow("mira", 6)
    service.rebuild()
    until(lambda: service.status().rebuild.over)  # type: ignore[union-attr]  # set above
    (problem,) = service.status().rebuild.problems  # type: ignore[union-attr]  # set above
    assert "a fault of ours" in problem
    assert any("the old index stays" in line for line in said)


def test_chroma_that_is_killed_comes_back_with_what_it_held(
    started: Starter, mira: Life, said: list[str]
):
    service = started(chroma="child")
    index = service.open("mira", mira.archive.folder, mira.notes)
    mira.live_days(60)
    service.schedule_follow("mira", 41)
    until(lambda: index.status().embedded == 40)
    assert service.server is not None
    assert service.server.pid is not None
    os.kill(service.server.pid, signal.SIGKILL)
    mira.live_days(10)
    service.schedule_follow("mira", 61)
    until(lambda: by_words(index, "55"))
    until(lambda: index.status().embedded == 60 and index.problem is None)
    until(lambda: settles(index, "Sack 12", "memory:12"))
    assert not any("anew" in line for line in said), "nothing was lost"


@pytest.mark.parametrize("end", ["", "before the index", "before the vacuum"])
def test_what_was_forgotten_is_in_no_file_whenever_the_world_ends(
    started: Starter, mira: Life, here: Places, monkeypatch, end: str
):
    def files_with(word: str) -> set[str]:
        found = set()
        for path in here.index.rglob("*.*"):
            with suppress(FileNotFoundError, IsADirectoryError):  # a journal comes and goes
                found |= {path.name} if word.encode() in path.read_bytes() else set()
        return found

    service = started(chroma="child")
    index = service.open("mira", mira.archive.folder, mira.notes)
    mira.live_days(20)
    mira.compact(1, 10, "Tom keeps marzipan.")
    service.schedule_follow("mira", 21)
    until(lambda: index.status().embedded == 20)
    until(lambda: "chroma.sqlite3" in files_with("marzipan"))
    mira.archive.close()
    service.forget("mira")  # as the mind closes
    forget(mira.folder, ForgottenPerson("12-1", "Tom"), begin=lambda: service.distrust("mira"))
    if end == "before the index":
        service.close(stop_server=True)
        service = started(chroma="child")
    if end == "before the vacuum":
        fails = Mock(side_effect=OSError("the power is gone"))
        monkeypatch.setattr(ChromaServer, "vacuum", fails)
    index = service.open("mira", mira.archive.folder, mira.notes)
    with pytest.raises(IndexUnavailable, match="being made anew"):
        by_words(index, "marzipan")
    service.schedule_follow("mira", 21)
    if end == "before the vacuum":
        until(lambda: fails.called)
        service.close(stop_server=True)
        monkeypatch.undo()
        assert files_with("marzipan") == {"chroma.sqlite3"}
        service = started(chroma="child")
    until(lambda: not files_with("marzipan"))
    assert by_words(index, "marzipan") == []


def test_the_index_folder_deleted_while_nobody_looks(
    started: Starter, mira: Life, here: Places, said: list[str]
):
    first = started(chroma="child")
    index = first.open("mira", mira.archive.folder, mira.notes)
    mira.live_days(20)
    first.schedule_follow("mira", 21)
    until(lambda: index.status().embedded == 20)
    first.close(stop_server=True)
    subprocess.run(["rm", "-r", data_folder(here)], check=True)
    second = started(chroma="child")
    index = second.open("mira", mira.archive.folder, mira.notes)
    second.schedule_follow("mira", 21)
    assert by_words(index, "12")
    until(lambda: any("Chroma has lost the vectors" in line for line in said))
    until(lambda: settles(index, "Sack 12", "memory:12"))


def test_an_agent_called_chroma_has_a_folder_of_its_own(started: Starter, here: Places):
    service = started(chroma="child")
    chroma = Life(here.agents / "chroma")
    chroma.live_days(20)
    index = service.open("chroma", chroma.archive.folder, chroma.notes)
    service.schedule_follow("chroma", 21)
    until(lambda: settles(index, "Sack 12", "memory:12"))
    assert index.words.path.parent != data_folder(here)
    assert folder_name(data_folder(here).name) != data_folder(here).name, "no name leads there"
    chroma.archive.close()


def test_without_the_world_it_can_be_rebuilt_by_the_real_embedder(
    here: Places, mira: Life, said: list[str]
):
    mira.live("Ann says, “My brother sails on a ship.”", "The rain stops.", "A dog barks.")
    mira.archive.append({"type": "clear", "n": 3, "t": "2026-05-01T00:00:00Z", "compactions": 0})
    embedder = MiniLMEmbedder()
    with alone(here, RecallConfig(), embedder, said.append) as service:
        service.rebuild()
        until(lambda: service.status().rebuild.over)  # type: ignore[union-attr]  # set above
        assert service.status().rebuild.problems == ()  # type: ignore[union-attr]
        (index,) = service._agents.values()
        assert index.vectors is not None
        vector = embedder.embed(["a sibling at sea"])[0]
        assert index.vectors.query(vector, 1)[0][0] == "memory:1"
        pid = service.server.pid if service.server else None
    assert pid is not None
    assert not psutil.pid_exists(pid)


class Hanging:
    """An embedder that gives no answer until it is closed."""

    model_name = "hanging"

    def __init__(self) -> None:
        self.asked, self.closed = threading.Event(), threading.Event()

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        self.asked.set()
        assert self.closed.wait(60)
        raise ModelUnavailable("It was closed")


def test_an_embedder_that_hangs_does_not_keep_it_from_closing(
    started: Starter, mira: Life, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("keepsake.index.service.LAST_STEP_SECONDS", 0.2)
    embedder = Hanging()
    service = started(embedder)
    service.open("mira", mira.archive.folder, mira.notes)
    mira.live_days(3)
    service.schedule_follow("mira", 4)
    assert embedder.asked.wait(60)
    service.close(stop_server=True, break_off=embedder.closed.set)
    assert not any(thread.is_alive() for thread in service._threads)


# -- the child


def test_it_is_a_quiet_child_on_loopback(server: ChromaServer):
    assert server.pid is not None
    process = psutil.Process(server.pid)
    assert process.nice() >= 5
    connections = process.net_connections("tcp")
    assert {c.laddr.ip for c in connections if c.status == psutil.CONN_LISTEN} == {"127.0.0.1"}
    assert all(c.raddr.ip == "127.0.0.1" for c in connections if c.raddr), "nothing phones home"


def test_it_says_its_version(chroma: Chroma):
    assert chroma.check().startswith("Chroma 1.")


def test_no_proxy_is_asked_for_what_is_on_this_machine(
    server: ChromaServer, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.setenv("no_proxy", "intranet")
    for name in ("http_proxy", "all_proxy"):
        monkeypatch.setenv(name, f"http://127.0.0.1:{free_port()}")
    client = Chroma(server.address)
    try:
        assert client.check().startswith("Chroma 1.")
    finally:
        client.close()
    assert os.environ["no_proxy"].startswith("intranet,"), "what a person wrote there stays"


_LAUNCH = """
import sys, time
from pathlib import Path
from keepsake.index.chroma_server import ChromaServer, data_folder
from keepsake.paths import Places, Ports
home = Path(sys.argv[1])
home.mkdir(parents=True, exist_ok=True)
supervisor = ChromaServer(Places(home, home, Ports(int(sys.argv[2]))), grace=0.5)
while not supervisor.watch():
    time.sleep(0.05)
print(supervisor.pid, flush=True)
time.sleep(600)
"""


def test_it_ends_when_the_game_is_killed(here: Places):
    game = subprocess.Popen(
        [sys.executable, "-c", _LAUNCH, str(here.home), str(here.ports.base)],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert game.stdout is not None
    with game.stdout:
        pid = int(game.stdout.readline())
    time.sleep(1.5)
    assert psutil.pid_exists(pid), "it stays while the game is there"
    game.kill()
    game.wait()
    until(lambda: not runs(pid))


def test_a_server_that_is_not_there_is_named():
    address = f"http://127.0.0.1:{free_port()}"
    with pytest.raises(IndexUnavailable, match=f"Chroma at {address} cannot be asked"):
        Chroma(address).check()
