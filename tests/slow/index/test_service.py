"""The index service: its thread, its Chroma child process, and how both end."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import psutil
import pytest

from keepsake.cli import doctor
from keepsake.cli.processes import running
from keepsake.erasure.person import ForgottenPerson
from keepsake.errors import IndexUnavailable
from keepsake.paths import Places
from keepsake.recall.chroma import Chroma
from keepsake.recall.chroma_server import ChromaServer, data_folder
from keepsake.recall.service import IndexService
from tests.fakes.embedder import BagOfWords
from tests.forgetting import forget
from tests.free_ports import free_base
from tests.log_lines import LogLines
from tests.unit.index.conftest import AgentFolder, by_words, finds_first
from tests.unit.llm.conftest import places_in, until


@pytest.fixture
def here(tmp_path: Path) -> Places:
    return places_in(tmp_path / "copy")


@pytest.fixture
def mira(here: Places) -> Iterator[AgentFolder]:
    agent = AgentFolder(here.agents / "mira")
    yield agent
    agent.archive.close()


type Starter = Callable[..., IndexService]


@pytest.fixture
def started(
    here: Places, server: ChromaServer, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Starter]:
    """A function that starts a service; by default with the session's server as a remote one."""
    monkeypatch.setattr("keepsake.recall.service.ROUND_SECONDS", 0.2)
    running: list[IndexService] = []

    def start(embedder: object = None, chroma: str = server.address) -> IndexService:
        service = IndexService(here, chroma, embedder or BagOfWords())
        service.start()
        running.append(service)
        return service

    yield start
    for service in running:
        service.close(stop_server=True)


class Held(BagOfWords):
    """An embedder that waits for its ``gate``."""

    def __init__(self) -> None:
        super().__init__()
        self.gate = threading.Event()

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        assert self.gate.wait(300)
        return super().embed(texts)


def test_it_indexes_in_the_background_and_searches_do_not_wait(started: Starter, mira: AgentFolder):
    embedder = Held()
    service = started(embedder)
    mira.add_many(300)
    index = service.open("mira", mira.archive.folder, mira.notes)
    until(lambda: by_words(index, "290")[:1] == ["memory:290"])
    with pytest.raises(IndexUnavailable):
        index.query([1.0], 1)
    embedder.gate.set()
    until(lambda: finds_first(index, "Sack 290", "memory:290"))
    until(lambda: not service.status()["mira"].waiting)


def test_a_killed_chroma_is_restarted_with_its_vectors(
    started: Starter, mira: AgentFolder, logged: LogLines
):
    service = started(chroma="child")
    index = service.open("mira", mira.archive.folder, mira.notes)
    mira.add_many(60)
    until(lambda: finds_first(index, "Sack 12", "memory:12"))
    until(lambda: not service.status()["mira"].waiting)
    assert service.server is not None
    assert service.server.pid is not None
    os.kill(service.server.pid, signal.SIGKILL)
    mira.add_many(10)
    until(lambda: by_words(index, "65"))
    until(lambda: finds_first(index, "Sack 65", "memory:65"))
    until(lambda: finds_first(index, "Sack 12", "memory:12"))
    assert not logged.having("rebuilding"), "nothing was lost"


def test_a_damaged_store_is_set_aside_and_rebuilt_while_words_are_searched(
    started: Starter, mira: AgentFolder, here: Places, logged: LogLines
):
    first = started(chroma="child")
    index = first.open("mira", mira.archive.folder, mira.notes)
    mira.add_many(100)
    until(lambda: finds_first(index, "Sack 12", "memory:12"))
    until(lambda: not first.status()["mira"].waiting)
    first.close(stop_server=True)
    store = data_folder(here)
    for path in (store / "chroma.sqlite3", here.index / "mira" / "words.db"):
        path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    for path in store.glob("*-*-*-*-*/*"):
        path.write_bytes(random.Random(4).randbytes(path.stat().st_size))
    assert all("damaged" in each.what for each in doctor.examine_subject(here, "Index"))
    second = started(chroma="child")
    index = second.open("mira", mira.archive.folder, mira.notes)
    until(lambda: by_words(index, "12") and not index.problem)
    until(lambda: finds_first(index, "Sack 12", "memory:12"))
    (vectors,) = doctor.examine_subject(here, "Vectors")
    assert "set aside" in vectors.what
    assert logged.having("rebuilding")


def test_a_store_whose_searches_never_end_is_set_aside(
    started: Starter, mira: AgentFolder, here: Places, monkeypatch: pytest.MonkeyPatch
):
    """A damaged graph sends hnswlib round for ever; a stopped process is as silent."""
    monkeypatch.setattr("keepsake.recall.chroma.CALL_SECONDS", 0.5)
    service = started(chroma="child")
    index = service.open("mira", mira.archive.folder, mira.notes)
    mira.add_many(60)
    until(lambda: finds_first(index, "Sack 12", "memory:12"))
    until(lambda: not service.status()["mira"].waiting)
    silent = service.server.pid
    os.kill(silent, signal.SIGSTOP)
    # The search by words may find it before the store is set aside.
    until(lambda: finds_first(index, "Sack 12", "memory:12") and service.server.pid != silent)
    (vectors,) = doctor.examine_subject(here, "Vectors")
    assert "set aside" in vectors.what


@pytest.mark.parametrize("end", ["", "before the index", "before the vacuum"])
def test_forgotten_words_leave_all_files_whenever_the_world_ends(
    started: Starter, mira: AgentFolder, here: Places, monkeypatch, end: str
):
    def files_with(word: str) -> set[str]:
        found = set()
        for path in here.index.rglob("*.*"):
            with suppress(FileNotFoundError, IsADirectoryError):  # SQLite's journals come and go
                found |= {path.name} if word.encode() in path.read_bytes() else set()
        return found

    service = started(chroma="child")
    index = service.open("mira", mira.archive.folder, mira.notes)
    mira.add_many(20)
    mira.compact(1, 10, "Tom keeps marzipan.")
    until(lambda: finds_first(index, "Tom keeps marzipan.", "summary:1"))
    until(lambda: "chroma.sqlite3" in files_with("marzipan"))
    mira.archive.close()
    service.forget("mira")  # as when the mind closes
    forget(mira.folder, ForgottenPerson("12-1", "Tom"), begin=lambda: service.erase("mira"))
    assert "words.db" not in files_with("marzipan")
    if end == "before the index":
        service.close(stop_server=True)
        service = started(chroma="child")
    if end == "before the vacuum":
        fails = Mock(side_effect=OSError("the power is gone"))
        monkeypatch.setattr(ChromaServer, "vacuum", fails)
    index = service.open("mira", mira.archive.folder, mira.notes)
    assert by_words(index, "marzipan") == []
    if end == "before the vacuum":
        until(lambda: fails.called)
        service.close(stop_server=True)
        monkeypatch.undo()
        assert "chroma.sqlite3" in files_with("marzipan")
        service = started(chroma="child")
    until(lambda: not files_with("marzipan"))


# -- the child

CHILD = """
from keepsake import child
child.serve(child.parser("child").parse_args(), lambda: "it serves")
"""


@pytest.fixture
def begin_child(here: Places) -> Iterator[Callable[[], subprocess.Popen[bytes]]]:
    """A function that starts a child process of this copy, whose server does nothing."""
    begun: list[subprocess.Popen[bytes]] = []

    def begin() -> subprocess.Popen[bytes]:
        options = [f"--port={free_base()}", f"--pid-file={here.vectors_pid}"]
        options.append(f"--watch-pid={os.getpid()}")
        begun.append(subprocess.Popen([sys.executable, "-c", CHILD, *options]))
        return begun[-1]

    yield begin
    for each in begun:
        each.kill()
        each.wait()


def number_in(path: Path) -> int:
    return int(path.read_text() or 0) if path.exists() else 0


def test_a_child_that_ends_leaves_no_number_behind(here: Places, begin_child):
    child = begin_child()
    until(lambda: number_in(here.vectors_pid) == child.pid)
    child.terminate()
    child.wait()
    assert not here.vectors_pid.exists()


def test_a_child_that_waits_for_the_one_before_has_its_own_number(here: Places, begin_child):
    first = begin_child()
    until(lambda: number_in(here.vectors_pid) == first.pid)
    second = begin_child()
    until(lambda: str(here.vectors_pid) in {each.path for each in open_files(second)})
    first.terminate()
    until(lambda: number_in(here.vectors_pid) == second.pid)
    second.terminate()
    second.wait()
    assert not here.vectors_pid.exists()


def open_files(child: subprocess.Popen[bytes]) -> Sequence[Any]:
    return psutil.Process(child.pid).open_files()


def test_a_number_that_a_killed_child_left_behind_stands_for_nobody(here: Places, begin_child):
    child = begin_child()
    until(lambda: number_in(here.vectors_pid) == child.pid)
    server = ChromaServer(here)
    assert server.pid == child.pid
    child.kill()
    child.wait()
    assert number_in(here.vectors_pid) == child.pid
    assert server.pid is None
    assert running(here) == []
    here.vectors_pid.write_text(f"{os.getpid()}\n")  # another program has the number now
    assert server.pid is None
    assert running(here) == []


def test_the_server_that_the_game_stops_is_gone(here: Places, mira: AgentFolder, started: Starter):
    service = started(chroma="child")
    assert service.server is not None
    until(service.server.ready.is_set)
    service.close(stop_server=True)
    assert service.server.pid is None
    assert not here.vectors_pid.exists()


def test_the_child_is_nice_and_connects_only_to_loopback(server: ChromaServer, chroma: Chroma):
    assert chroma.check().startswith("Chroma 1.")
    assert server.pid is not None
    process = psutil.Process(server.pid)
    assert process.nice() >= 5
    connections = process.net_connections("tcp")
    assert {c.laddr.ip for c in connections if c.status == psutil.CONN_LISTEN} == {"127.0.0.1"}
    assert all(c.raddr.ip == "127.0.0.1" for c in connections if c.raddr), "nothing phones home"
