"""The world beside somebody's own Ollama: a server that speaks its protocol and records."""

from __future__ import annotations

import itertools
import shutil
import time
from collections.abc import Iterator

import pytest

from game.cli import processes
from game.paths import REPOSITORY
from tests.cli.conftest import Copy, make_copy
from tests.e2e.players import Player, wait_for
from tests.fakes.model_server import FakeModelServer

_LLM = """\
## agent
**provider**: ollama
**model**: comma
**stop**: ["\\n"]
**time_limit**: 5

## summarizer
**provider**: ollama
**model**: comma
**time_limit**: 5
"""
_SUMMARY = "I met Ada, who counts boats, and I told her about the ferry."


_times = itertools.count(1)


def script(prompt: str) -> str:
    """What a good base model might go on with."""
    if prompt.endswith("> ") and "# Memories:" in prompt:
        return _SUMMARY
    return f" say The ferry leaves at {next(_times)} sharp. | somebody asked\n~Mira> go north"


@pytest.fixture(scope="module")
def fake() -> Iterator[FakeModelServer]:
    with FakeModelServer(models=["comma"], script=script) as server:
        yield server


@pytest.fixture(scope="module")
def copy(tmp_path_factory, fake) -> Iterator[Copy]:
    made = make_copy(tmp_path_factory.mktemp("ollama"), OLLAMA_HOST=fake.address)
    config = made.here.config
    shutil.copytree(REPOSITORY / "vault" / "config", config)
    (config / "llm.md").write_text(_LLM)
    sizes = config / "memory_compaction.md"
    sizes.write_text(sizes.read_text().replace("window**: 64", "window**: 5"))
    started = made.keepsake("start")
    assert started.returncode == 0, started.stderr
    yield made
    made.keepsake("stop")
    assert processes.running(made.here) == []


def test_no_embedded_model_is_started(copy):
    assert not [p for p in processes.running(copy.here) if "model" in p.component]


def test_ollama_is_asked_raw_and_the_first_line_of_its_answer_is_acted_out(copy, fake):
    ada = Player.new(copy, "Ada")
    ada.see('Mira says to you, "The ferry leaves at')
    call = fake.calls("/api/generate")[0]
    assert call.body["model"] == "comma"
    assert call.body["raw"] is True
    assert call.body["prompt"].endswith("~Mira>")
    assert call.body["keep_alive"]
    assert "somebody asked" not in ada.line.text
    ada.leave()


def test_summaries_come_from_the_model_without_the_acting_stop(copy, fake):
    ada = Player.back(copy, "Ada")
    ada.see("The Kettle")
    for number in range(25):
        ada.type(f"say I count {number} boats today.", "You say")
        if "# Memories:" in "".join(fake.prompts()):
            break
    log = wait_for(copy.here.agents_log, r"\[Memory\] Mira: Compaction complete")
    assert f"Short-term summary updated ({len(_SUMMARY)} chars)" in log
    asked = [c for c in fake.calls("/api/generate") if "# Memories:" in c.body["prompt"]]
    assert "\n" not in asked[0].body["options"].get("stop", [])
    assert (copy.here.agents / "Mira" / "summaries" / "recent.md").read_text().count(_SUMMARY) == 1
    ada.leave()


def test_without_the_server_the_world_stays_up_and_says_so(copy, fake):
    ada = Player.back(copy, "Ada")
    ada.see("The Kettle")
    port = fake.port
    fake.close()
    ada.type("talk mira Are you there?", "far away", seconds=60)
    ada.type("look", "The Kettle")
    builder = Player.admin(copy)
    builder.see("The Kettle")
    shown = builder.type("@llm-status", "Last error|Health")
    assert "ollama" in shown
    with FakeModelServer(port, models=["comma"], script=script):
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            ada.type(f"talk mira Hello again at {time.monotonic():.0f}?")
            time.sleep(3)
            ada.line._read()
            if "ferry leaves" in ada.line.text:
                break
        else:
            raise AssertionError("Mira never came back")
    ada.leave()
    builder.leave()
