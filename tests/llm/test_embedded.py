"""The real llama.cpp child; what every child has in common is in ``test_child.py``."""

from __future__ import annotations

import json
import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path

import httpx
import psutil
import pytest

from keepsake.child.supervisor import Patience
from keepsake.errors import ModelMissing, PromptTooLong
from keepsake.models.asking import PatientModel
from keepsake.models.clients.openai import OpenAIModel
from keepsake.models.embedded import weights
from keepsake.models.embedded.gguf import ModelInfo
from keepsake.models.embedded.supervisor import Embedded, EmbeddedModel
from keepsake.models.profiles import DIALOGUE, LLAMA_CPP
from keepsake.paths import Places
from keepsake.ports import GenerationRequest
from tests.llm.conftest import until


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
    answer = PatientModel(model, 60).generate(
        GenerationRequest(prompt, max_tokens=30, stop=("\n",))
    )
    assert answer.text.strip()
    assert answer.model == "gemma-3-270m-q4_k_m"
    assert answer.prompt_tokens > 20
    assert 0 < answer.completion_tokens <= 30


def test_it_streams_and_tells_how_long_it_read(model: OpenAIModel):
    heard: list[str] = []
    prompt = "The mill stands by the water, and the miller counts his sacks. " * 9
    request = GenerationRequest(prompt, max_tokens=12, seed=3, on_text=heard.append)
    answer = model.generate(request)
    assert len(heard) > 1
    assert "".join(heard) == answer.text
    assert answer.prompt_tokens > 100
    assert 0 < answer.evaluation_seconds < 60
    assert model.lessons.rate > 0


def test_a_seed_makes_it_repeatable(model: OpenAIModel):
    request = GenerationRequest("Once upon a time", max_tokens=12, temperature=0.9, seed=11)
    # The first finds its prompt in no cache, and is computed in other batches than the rest.
    _, second, third = [model.generate(request).text for _ in range(3)]
    assert second == third


def test_a_schema_holds_the_answer(model: OpenAIModel):
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


def test_a_prompt_beyond_the_context_is_refused(model: OpenAIModel):
    with pytest.raises(PromptTooLong, match="exceeds the available context") as caught:
        model.generate(GenerationRequest("word " * 9000, max_tokens=1))
    assert caught.value.limit == 8192


def test_agents_who_take_turns_keep_their_prompts(model: OpenAIModel):
    """Seven agents on six slots; each prompt grows at its end and has a changing tail."""
    heads = [f"You are agent {i}. " + f"Number {i} likes salt and rain. " * 5 for i in range(7)]
    evaluated = total = 0
    for turn in range(2):
        for i in range(7):
            heads[i] += f'Tom says, "This is turn {turn}."\n'
            prompt = f"{heads[i]}It is hour {turn}, and the rain falls.\n~A>"
            request = GenerationRequest(prompt, max_tokens=1, json_schema={"enum": ["say"]})
            answer = model.generate(request)
            if turn:
                evaluated += answer.prompt_tokens - answer.cached_tokens
                total += answer.prompt_tokens
    assert evaluated / total < 0.4, "all of it, if their prompts were lost"


def test_it_listens_on_loopback_only_and_tells_no_prompts(embedded: Embedded):
    assert embedded.pid is not None
    connections = psutil.Process(embedded.pid).net_connections("tcp")
    listening = {c.laddr.ip for c in connections if c.status == psutil.CONN_LISTEN}
    assert listening == {"127.0.0.1"}
    assert httpx.get(f"{embedded.address}/slots", trust_env=False).status_code == 501
    assert psutil.Process(embedded.pid).nice() >= 5


def served(own: Embedded) -> str:
    """The file that the child was told to serve."""
    assert own.pid is not None
    words = psutil.Process(own.pid).cmdline()
    return Path(words[words.index("--model") + 1]).name


def test_a_killed_child_comes_back_with_another_file(embedded: Embedded, home: Places):
    home.models.mkdir(parents=True)
    weights_file = embedded._places.models / weights.NAME
    (home.models / weights.NAME).hardlink_to(weights_file)
    own = Embedded(home, grace=1.0)
    try:
        until(own.watch)
        first = own.pid
        assert first is not None
        own.use("absent.gguf")  # leaves the one before
        assert isinstance(own.refused, ModelMissing)
        assert "keepsake model list" in str(own.refused)
        (home.models / "page.gguf").write_text("<html>not found</html>" * 9)
        own.use("page.gguf")
        assert "no GGUF file" in str(own.refused)
        until(own.watch)
        assert own.pid == first
        (home.models / "mine.gguf").hardlink_to(weights_file)
        own.use("mine.gguf", 2048)
        assert own.refused is None
        os.kill(first, signal.SIGKILL)
        until(lambda: own.pid is None)
        until(lambda: own.watch() and served(own) == "mine.gguf")
        answer = httpx.get(f"{own.address}/props", trust_env=False).json()
        assert answer["model_alias"] == "mine"
        assert answer["default_generation_settings"]["n_ctx"] == 2048
        assert own.capabilities.form == DIALOGUE
    finally:
        own.stop()


def test_a_file_is_found_once_it_has_come_and_one_that_is_none_says_why(home: Places):
    own = Embedded(home, patience=Patience(first_retry=60))
    own.use("mine.gguf")
    assert not own.watch()
    assert own.starts == 0
    assert "mine.gguf" in str(own.problem)
    home.models.mkdir(parents=True)
    (home.models / weights.NAME).write_bytes(b"no weights at all")
    own.use("")
    own._next_start = 0.0
    own.watch()
    until(lambda: own.pid is None)
    own.watch()
    assert "could not load the model" in own.log_file.read_text()
    own.stop()


def test_while_a_file_is_read_nobody_takes_the_shipped_one_for_it(home: Places):
    home.models.mkdir(parents=True)
    os.mkfifo(home.models / "slow.gguf")  # read when somebody writes into it
    own, served = Embedded(home), threading.Event()

    def use_and_serve() -> None:
        own.use("slow.gguf")
        served.set()

    readers = [threading.Thread(target=use_and_serve) for _ in range(2)]
    for reader in readers:
        reader.start()
    assert not served.wait(0.5)
    with (home.models / "slow.gguf").open("wb"):
        pass
    for reader in readers:
        reader.join()
    assert own.refused is not None
    assert "slow.gguf" in str(own.refused)


def test_large_models_share_less_context():
    def pool(cache_bytes: int) -> int:
        info = ModelInfo("", "", "", 32768, cache_bytes, window=False)
        return EmbeddedModel(None, info, 8192).pool

    assert pool(12_288) == pool(28_672) == 24_576  # 0.5B and 1.5B
    assert pool(147_456) == 8192  # 4B: one prompt, 1.2 GB
