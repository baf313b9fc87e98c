"""A fact is told, much else happens, somebody asks: a real server, the real embedder."""

from __future__ import annotations

import shutil
import subprocess
import sys
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
**provider**: extractive
"""
FACT = "My brother Edwin mends nets in Ostrey, beside the salt house."
PAST = "RELATED PAST EXPERIENCES:\n"
_TALK = (
    *("Rain again tonight.", "The soup wants salt.", "That dog snores.", "Who painted the sign?"),
    *("My boots leak.", "The barley is late.", "Fine candles.", "Is the well deep?"),
    *("I counted nine crows.", "The miller sings.", "Cold hands.", "What a long road."),
)


@pytest.fixture(scope="module")
def fake() -> Iterator[FakeModelServer]:
    with FakeModelServer(models=["comma"], script=lambda _: " wait") as server:
        yield server


@pytest.fixture(scope="module")
def copy(tmp_path_factory, fake) -> Iterator[Copy]:
    made = make_copy(tmp_path_factory.mktemp("recall"), OLLAMA_HOST=fake.address)
    config = made.here.config
    shutil.copytree(REPOSITORY / "vault" / "config", config)
    (config / "llm.md").write_text(_LLM)
    for name, old, new in (
        ("memory_compaction.md", "window**: 64", "window**: 5"),
        ("thinking.md", "**insist**: yes", "**insist**: no"),
    ):
        path = config / name
        path.write_text(path.read_text().replace(old, new))
    started = made.keepsake("start")
    assert started.returncode == 0, started.stderr
    yield made
    made.keepsake("stop")
    assert processes.running(made.here) == []


def test_a_fact_told_long_ago_stands_in_the_prompt_when_it_is_asked_for(copy, fake):
    ada = Player.new(copy, "Ada")
    ada.see("The Kettle")
    ada.type(f"talk mira {FACT}", "You say")
    for round_, line in enumerate(_TALK * 2):
        ada.type(f"say {line} ({round_})", "You say")
    wait_for(copy.here.agents_log, r"\[Memory\] Mira: Compaction complete", times=3)
    ada.leave()

    again = Player.back(copy, "Ada")
    again.see("The Kettle")
    deadline = time.monotonic() + 90
    while True:
        asked_at = len(fake.prompts())
        again.type(f"talk mira Where does my sibling work? It is {time.monotonic():.0f}.")
        assert fake.wait_for_calls("/api/generate", asked_at + 1, 20)
        prompt = next((p for p in reversed(fake.prompts()) if "my sibling work" in p), "")
        if "mends nets in Ostrey" in prompt.partition(PAST)[2]:
            break
        assert time.monotonic() < deadline, prompt
        time.sleep(1)
    window = prompt.split("\n---\n")[1]
    assert FACT not in window, "it is recalled, not merely still there"
    assert "(memory " in prompt.partition(PAST)[2]
    again.leave()


def test_a_builder_sees_why_it_was_found(copy):
    builder = Player.admin(copy)
    builder.see("The Kettle")
    shown = builder.type("@recall Mira = Where does Edwin mend nets?", "why:")
    assert "mends nets in Ostrey" in shown
    assert "meaning" in shown
    assert "salt house" in builder.type("@memories Mira/summary 1", "salt house")
    builder.leave()


def test_after_a_reload_it_is_found_as_before(copy):
    done = copy.keepsake("reload")
    assert done.returncode == 0, done.stderr
    builder = Player.admin(copy)
    builder.see("The Kettle")
    deadline = time.monotonic() + 60
    while "meaning" not in (
        shown := builder.type("@recall Mira = whose kin is a fisherman's helper?", "why:")
    ):
        assert time.monotonic() < deadline, shown
        time.sleep(1)
    assert "mends nets in Ostrey" in shown
    builder.leave()


def test_while_the_index_is_made_anew_and_afterwards_it_is_found_as_before(copy):
    builder = Player.admin(copy)
    builder.see("The Kettle")
    command = [sys.executable, "-m", "game", "index", "rebuild"]
    with subprocess.Popen(
        command, cwd=REPOSITORY, env=copy.environ, stdout=subprocess.PIPE, text=True
    ) as rebuild:
        asked = 0
        while rebuild.poll() is None:
            shown = builder.type("@recall Mira = Where does Edwin mend nets?", "why:")
            assert "mends nets in Ostrey" in shown
            asked += 1
        assert rebuild.stdout is not None
        assert "made anew" in rebuild.stdout.read()
    assert rebuild.returncode == 0
    assert asked
    wait_for(copy.here.agents_log, r"\[Index\] Mira: made anew \(\d+ memories\)")
    shown = builder.type("@recall Mira = Where does Edwin mend nets?", "meaning")
    assert "mends nets in Ostrey" in shown
    assert "words: " in shown
    builder.leave()
