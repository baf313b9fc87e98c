"""The supervisor and the real llama.cpp child."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import httpx
import psutil
import pytest

from game.child.serving import Watched
from game.child.supervisor import Patience
from game.llm.clients.openai import OpenAIModel
from game.llm.embedded import weights
from game.llm.embedded.gguf import ModelInfo
from game.llm.embedded.supervisor import Embedded, EmbeddedModel
from game.llm.profiles import DIALOGUE, LLAMA_CPP
from game.llm.wrappers import Retry
from game.mind.errors import ModelMissing, ModelRejected
from game.mind.ports import GenerationRequest
from game.paths import Places
from tests.llm.conftest import runs, until

PATIENT = Patience(first_retry=1.0, last_retry=2.0, start=300, hang=300, steady=30)
"""Long enough that what a look has found can be read before the next start hides it."""


def share_weights(of: Embedded, home: Places) -> None:
    """Spare the test a second and 250 MB: the same weights under another home."""
    home.models.mkdir(parents=True)
    (home.models / weights.NAME).hardlink_to(of._places.models / weights.NAME)


@pytest.fixture
def own(embedded: Embedded, home: Places) -> Iterator[Embedded]:
    """A supervisor of the test's own, with no child yet."""
    share_weights(embedded, home)
    supervisor = Embedded(home, grace=1.0, patience=PATIENT)
    yield supervisor
    supervisor.stop()


@pytest.fixture
def model(embedded: Embedded) -> Iterator[OpenAIModel]:
    model = OpenAIModel(embedded.address, kind=LLAMA_CPP, time_limit=300)
    yield model
    model.close()


def test_it_writes_in_character(model: OpenAIModel):
    prompt = (
        'Tom says, "Good morning!"\n~Mira> say Good morning, Tom!\n'
        'Tom says, "How is the mill today?"\n~Mira> say'
    )
    # Without a seed, for then it is asked again when it says nothing, as in the game.
    answer = Retry(model).generate(GenerationRequest(prompt, max_tokens=30, stop=("\n",)))
    assert answer.text.strip()
    assert answer.model == "gemma-3-270m-q4_k_m"
    assert answer.prompt_tokens > 20
    assert 0 < answer.completion_tokens <= 30


def test_a_seed_makes_it_repeatable(model: OpenAIModel):
    request = GenerationRequest("Once upon a time", max_tokens=12, temperature=0.9, seed=11)
    # The first finds its prompt in no cache, and is computed in other batches than the rest.
    _, second, third = [model.generate(request).text for _ in range(3)]
    assert second == third


def test_a_grammar_and_a_schema_hold_the_answer(model: OpenAIModel):
    request = GenerationRequest("The way is", max_tokens=8, grammar='root ::= "north" | "south"')
    assert model.generate(request).text in ("north", "south")
    schema = {
        "type": "object",
        "properties": {"verb": {"enum": ["say", "go"]}},
        "required": ["verb"],
        "additionalProperties": False,
    }
    # Blanks without end are JSON as well, so a small model that may choose freely loses itself in
    # them now and then; what is most likely is none.
    request = GenerationRequest("As JSON: ", max_tokens=200, temperature=0.0, json_schema=schema)
    assert json.loads(model.generate(request).text)["verb"] in ("say", "go")


def test_tokens_are_counted_by_the_model(model: OpenAIModel):
    assert model.count_tokens(["Good morning", ""]) == [2, 0]


def test_a_prompt_beyond_the_context_is_refused(model: OpenAIModel):
    with pytest.raises(ModelRejected, match="exceeds the available context"):
        model.generate(GenerationRequest("word " * 9000, max_tokens=1))


def test_agents_who_take_turns_keep_their_prompts(model: OpenAIModel):
    """Seven agents on six slots; each prompt grows at its end and has a changing tail."""
    heads = [f"You are agent {i}. " + f"Number {i} likes salt and rain. " * 25 for i in range(7)]
    evaluated = total = 0
    for turn in range(3):
        for i in range(7):
            heads[i] += f'Tom says, "This is turn {turn}."\n'
            prompt = f"{heads[i]}It is hour {turn}, and the rain falls.\n~A>"
            answer = model.generate(
                GenerationRequest(prompt, max_tokens=2, grammar='root ::= " say"')
            )
            if turn:
                evaluated += answer.prompt_tokens - answer.cached_tokens
                total += answer.prompt_tokens
    assert evaluated / total < 0.20


def test_it_listens_on_loopback_only_and_tells_no_prompts(embedded: Embedded):
    assert embedded.pid is not None
    connections = psutil.Process(embedded.pid).net_connections("tcp")
    listening = {c.laddr.ip for c in connections if c.status == psutil.CONN_LISTEN}
    assert listening == {"127.0.0.1"}
    assert httpx.get(f"{embedded.address}/slots", trust_env=False).status_code == 501
    assert psutil.Process(embedded.pid).nice() >= 5


def test_a_killed_child_is_started_again(own: Embedded):
    until(own.watch)
    first = own.pid
    assert first is not None
    os.kill(first, signal.SIGKILL)
    until(lambda: own.pid is None)
    assert not own.watch()
    assert "ended with status -9" in str(own.problem)
    until(own.watch)
    assert own.starts == 2
    assert own.pid != first
    assert own.problem is None


def test_another_supervisor_adopts_the_child_and_ends_it(own: Embedded, home: Places):
    until(own.watch)
    after_reload = Embedded(home, patience=PATIENT)
    until(after_reload.watch)
    assert (after_reload.pid, after_reload.starts) == (own.pid, 0)
    after_reload.stop()
    assert after_reload.pid is None
    assert own.pid is None
    assert not after_reload.watch(), "a stopped supervisor starts nothing"


def test_a_child_that_hangs_is_replaced(own: Embedded):
    until(own.watch)
    first = own.pid
    assert first is not None
    os.kill(first, signal.SIGSTOP)
    own._patience = replace(PATIENT, hang=1.0)
    until(lambda: not own.watch())
    assert "gave no answer for 1 s" in str(own.problem)
    assert not psutil.pid_exists(first)
    own._patience = PATIENT
    until(own.watch)


def copy_of_weights(home: Places, name: str) -> Path:
    """The same weights, as if they were somebody's own file."""
    path = home.models / name
    path.hardlink_to(home.models / weights.NAME)
    return path


def served(own: Embedded) -> str:
    """The file that the child was told to serve."""
    assert own.pid is not None
    words = psutil.Process(own.pid).cmdline()
    return Path(words[words.index("--model") + 1]).name


def test_another_file_replaces_the_child_also_after_a_reload(own: Embedded, home: Places):
    until(own.watch)
    copy_of_weights(home, "mine.gguf")
    after_reload = Embedded(home, patience=PATIENT)
    after_reload.use("mine.gguf", 2048)
    until(lambda: after_reload.watch() and served(after_reload) == "mine.gguf")
    until(after_reload.watch)
    answer = httpx.get(f"{own.address}/props", trust_env=False).json()
    assert answer["model_alias"] == "mine"
    assert answer["default_generation_settings"]["n_ctx"] == 2048
    assert after_reload.capabilities.format == DIALOGUE
    after_reload.stop()


def test_a_file_that_cannot_be_served_leaves_the_one_before(own: Embedded, home: Places):
    until(own.watch)
    first = own.pid
    own.use("absent.gguf")
    assert isinstance(own.refused, ModelMissing)
    assert "keepsake model list" in str(own.refused)
    (home.models / "page.gguf").write_text("<html>not found</html>" * 9)
    own.use("page.gguf")
    assert "no GGUF file" in str(own.refused)
    assert own.watch()
    assert own.pid == first
    own.use("")
    assert own.refused is None


def test_a_file_is_found_once_it_has_come(own: Embedded, home: Places):
    own.use("mine.gguf")
    assert not own.watch()
    assert own.starts == 0
    assert "mine.gguf" in str(own.problem)
    copy_of_weights(home, "mine.gguf")
    own._next_start = 0.0
    own.use("mine.gguf")
    until(own.watch)
    assert served(own) == "mine.gguf"


def test_large_models_share_less_context():
    def pool(cache_bytes: int) -> int:
        info = ModelInfo("", "", "", 32768, cache_bytes, window=False)
        return EmbeddedModel(None, info, 8192).pool

    assert pool(12_288) == pool(28_672) == 24_576  # 0.5B and 1.5B
    assert pool(147_456) == 8192  # 4B: one prompt, 1.2 GB


def test_one_that_is_not_wanted_is_put_away(own: Embedded):
    until(own.watch)
    assert not own.watch(wanted=False)
    assert own.pid is None
    until(own.watch)


def test_a_port_in_use_is_named_with_its_cure(own: Embedded, home: Places):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", home.ports.model))
        taken.listen()
        own.watch()
        until(lambda: own.pid is None)
        assert not own.watch()
        assert f"Port {home.ports.model}" in str(own.problem)
        assert "KEEPSAKE_PORT_BASE" in str(own.problem)


def test_restarts_come_later_each_time(own: Embedded, home: Places):
    (home.models / weights.NAME).unlink()
    (home.models / weights.NAME).write_bytes(b"no weights at all")
    own._patience = replace(PATIENT, first_retry=10.0, last_retry=10.0)
    own.watch()
    until(lambda: own.pid is None)
    own.watch()
    assert "could not load the model" in own.log_file.read_text()
    starts = own.starts
    own.watch()
    assert own.starts == starts, "it must wait before it tries again"
    until(lambda: own.watch() or own.starts > starts)


def test_the_pid_file_of_a_stranger_is_not_believed(own: Embedded, home: Places):
    home.home.mkdir(exist_ok=True)
    own.pid_file.write_text(f"{os.getpid()}\n")
    assert own.pid is None
    own.stop()
    own.pid_file.write_text("nonsense")
    assert own.pid is None


_LAUNCH = """
import sys, time
from pathlib import Path
from game.llm.embedded.supervisor import Embedded
from game.paths import Places, Ports
home = Path(sys.argv[1])
supervisor = Embedded(Places(home, home, Ports(int(sys.argv[2]))), grace=1.0)
while not supervisor.watch():
    time.sleep(0.05)
print(supervisor.pid, flush=True)
time.sleep(600)
"""


def test_it_ends_by_itself_when_the_game_is_killed(embedded: Embedded, home: Places):
    share_weights(embedded, home)
    game = subprocess.Popen(
        [sys.executable, "-c", _LAUNCH, str(home.home), str(home.ports.base)],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert game.stdout is not None
    with game.stdout:
        pid = int(game.stdout.readline())
    game.kill()
    game.wait()
    until(lambda: Embedded(home).pid is None and not runs(pid))


def test_who_is_watched(tmp_path: Path):
    sleeper = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    file = tmp_path / "portal.pid"
    watched = Watched((), (file,))
    assert not watched.alive()
    file.write_text(f"{sleeper.pid}\n")
    assert watched.alive()
    assert Watched((sleeper.pid,), ()).alive()
    sleeper.kill()
    until(lambda: not watched.alive())  # a zombie does not count as alive
    sleeper.wait()
    assert not watched.alive()
