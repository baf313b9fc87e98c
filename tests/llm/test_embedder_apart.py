"""The embedder in its own process."""

from __future__ import annotations

import math
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import psutil
import pytest

from keepsake.errors import ModelFailed, ModelUnavailable
from keepsake.models.clients import apart
from keepsake.models.clients.apart import EmbedderApart
from keepsake.models.clients.minilm import MiniLMEmbedder
from keepsake.models.embedded.embedder import Request
from keepsake.paths import REPOSITORY
from tests.llm.conftest import until

BROTHER = "Tom is looking for his brother"


@pytest.fixture
def embedder() -> Iterator[EmbedderApart]:
    made = EmbedderApart()
    yield made
    made.close()


def test_it_gives_what_the_one_in_this_process_gives(embedder: EmbedderApart):
    texts = [BROTHER, "", "naïve ☃ 𝄞\n\0", *(f"Boat {n} brought salt." for n in range(20))]
    here = MiniLMEmbedder()
    assert embedder.model_name == here.model_name
    for asked in (embedder, embedder.later):
        for apart_row, own_row in zip(asked.embed(texts), here.embed(texts), strict=True):
            assert math.sumprod(apart_row, own_row) > 0.99
    assert embedder.embed([BROTHER]) == [pytest.approx(row) for row in here.embed([BROTHER])]
    assert embedder.embed([]) == []
    here.close()


def test_many_ask_at_once_and_each_gets_its_own(embedder: EmbedderApart):
    texts = [f"The boat number {n} brought salt from Ostrey." for n in range(12)]
    alone = [embedder.embed([text])[0] for text in texts]
    with ThreadPoolExecutor(12) as pool:
        together = list(pool.map(lambda text: embedder.embed([text])[0], texts))
    assert together == alone


def test_one_that_was_killed_comes_back(embedder: EmbedderApart, monkeypatch):
    monkeypatch.setattr(apart, "FIRST_RETRY", 0.0)
    before = embedder.embed([BROTHER])
    first = embedder.pid
    assert first
    os.kill(first, signal.SIGKILL)
    until(lambda: embedder.pid is None)

    def answers() -> bool:
        try:
            return embedder.embed([BROTHER]) == before
        except ModelUnavailable:
            return False

    until(answers)
    assert embedder.pid != first


def test_who_waits_is_told_when_it_dies(embedder: EmbedderApart):
    embedder.embed([BROTHER])
    assert embedder.pid
    os.kill(embedder.pid, signal.SIGSTOP)
    with ThreadPoolExecutor(1) as pool:
        asked = pool.submit(embedder.embed, ["What of the boats?"])
        until(lambda: bool(embedder._waiting))
        os.kill(embedder.pid, signal.SIGKILL)
        with pytest.raises(ModelUnavailable):
            asked.result(60)


def test_one_that_hangs_with_its_pipe_full_is_ended(embedder: EmbedderApart, monkeypatch):
    embedder.embed([BROTHER])
    monkeypatch.setattr(apart, "ANSWER_SECONDS", 0.2)
    assert embedder.pid
    os.kill(embedder.pid, signal.SIGSTOP)
    with ThreadPoolExecutor(1) as pool:
        index = pool.submit(embedder.later.embed, ["All the boats of Ostrey. " * 20_000])
        until(embedder._sending.locked)
        with pytest.raises(ModelUnavailable, match="was ended"):
            embedder.embed(["What of the boats?"])
        with pytest.raises(ModelUnavailable):
            index.result(60)


def test_one_that_hangs_keeps_nobody_from_closing_it(embedder: EmbedderApart):
    embedder.embed([BROTHER])
    assert embedder.pid
    os.kill(embedder.pid, signal.SIGSTOP)
    with ThreadPoolExecutor(1) as pool:
        index = pool.submit(embedder.later.embed, ["All the boats of Ostrey. " * 20_000])
        until(embedder._sending.locked)
        embedder.close()
        with pytest.raises(ModelUnavailable):
            index.result(60)


def test_one_that_nobody_asks_anything_is_ended_when_it_hangs(embedder: EmbedderApart, monkeypatch):
    embedder.embed([BROTHER])
    monkeypatch.setattr(apart, "ANSWER_SECONDS", 0.1)
    monkeypatch.setattr(apart, "SILENT_SECONDS", 0.2)
    assert embedder.pid
    os.kill(embedder.pid, signal.SIGSTOP)
    with pytest.raises(ModelUnavailable, match="was ended"):
        embedder.later.embed(["All the boats of Ostrey."])


AMID = (
    'import json, sys; head = {"id": json.loads(sys.stdin.readline())["id"], "shape": [2, 384]}; '
    'print(json.dumps(head)); print("no more than that", end="", flush=True)'
)


@pytest.mark.parametrize("program", [AMID, "print('Hello'); import time; time.sleep(3600)"])
def test_who_waits_is_told_when_it_dies_amid_an_answer_or_gives_none(
    embedder: EmbedderApart, monkeypatch, program: str
):
    monkeypatch.setattr(apart, "_COMMAND", (sys.executable, "-c", program))
    with pytest.raises(ModelUnavailable, match="ended"):
        embedder.later.embed(["A boat.", "Another."])


def test_it_goes_on_after_texts_that_it_breaks_on(embedder: EmbedderApart, monkeypatch):
    assert embedder.embed(["a \ud800 b"]) == embedder.embed(["a ? b"])
    monkeypatch.setattr(apart, "writable", lambda text: text)
    with pytest.raises(ModelFailed, match="TypeError"):
        embedder.embed(["a \ud800 b"])
    assert embedder.embed([BROTHER])


def test_it_ends_with_the_process_that_asks():
    program = (
        "from keepsake.models.clients.apart import EmbedderApart\n"
        "embedder = EmbedderApart(); embedder.embed(['A boat.'])\n"
        "print(embedder.pid, flush=True); input()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program],
        cwd=REPOSITORY,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as game:
        assert game.stdout
        child = int(game.stdout.readline())
        assert psutil.pid_exists(child)
        game.kill()
    until(lambda: not psutil.pid_exists(child) or psutil.Process(child).status() == "zombie")


def test_a_question_comes_before_what_an_index_asks_for():
    index, question, second = (
        Request(True, 1, 1, []),
        Request(False, 2, 2, []),
        Request(False, 3, 3, []),
    )
    assert sorted([second, index, question]) == [question, second, index]
