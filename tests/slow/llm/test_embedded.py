"""The llama.cpp child process, its supervisor, its files and weights."""

from __future__ import annotations

import argparse
import json
import os
import re
import signal
from collections.abc import Iterator
from pathlib import Path

import httpx
import psutil
import pytest

from keepsake.errors import PromptTooLong
from keepsake.models.catalogue import load_catalogue
from keepsake.models.local import embedded as embeddeds
from keepsake.models.local.embedded import Embedded, require_gguf
from keepsake.models.openai import OpenAIModel
from keepsake.models.profiles import DIALOGUE, LLAMA_CPP, ModelProfile
from keepsake.paths import REPOSITORY, Places
from keepsake.ports import Generation, GenerationRequest
from tests.unit.llm.conftest import places_in, until
from tests.weights import WEIGHTS, put_weights

WORDS = {"type": "string", "minLength": 60}
"""With this schema every answer begins with a quotation mark, whatever the model would say:
without it, a model may answer with a blank or at once end its answer."""


@pytest.fixture(scope="module")
def embedded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Embedded]:
    """The embedded model, running."""
    here = places_in(tmp_path_factory.mktemp("embedded"))
    put_weights(here.models)
    server = Embedded(here)
    server.use(WEIGHTS)
    try:
        until(server.watch)
        yield server
    finally:
        server.stop()


@pytest.fixture
def model(embedded: Embedded) -> OpenAIModel:
    return OpenAIModel(ModelProfile("agent", time_limit=300), embedded.address, kind=LLAMA_CPP)


def test_it_streams_and_reports_tokens_speed_and_capabilities(model: OpenAIModel):
    model.check()
    assert (model.capabilities.form, model.capabilities.context) == (DIALOGUE, 8192)
    heard: list[str] = []
    prompt = "The mill stands by the water, and the miller counts his sacks. " * 9
    request = GenerationRequest(prompt, max_tokens=12, json_schema=WORDS, on_text=heard.append)
    answer = model.generate(request)
    assert len(heard) > 1
    assert "".join(heard) == answer.text
    assert f"{answer.model}.gguf" == WEIGHTS
    assert answer.prompt_tokens > 100
    assert 0 < answer.completion_tokens <= 12
    assert model.capabilities.rate > 0


def test_answers_follow_a_schema_and_too_long_prompts_are_refused(model: OpenAIModel):
    schema = {
        "type": "object",
        "properties": {"verb": {"enum": ["say", "go"]}},
        "required": ["verb"],
        "additionalProperties": False,
    }
    # Without these properties a small model may write blanks without end, which are valid JSON.
    request = GenerationRequest("As JSON: ", max_tokens=200, temperature=0.0, json_schema=schema)
    assert json.loads(model.generate(request).text)["verb"] in ("say", "go")
    with pytest.raises(PromptTooLong, match="exceeds the available context"):
        model.generate(GenerationRequest("word " * 9000, max_tokens=1))


def test_it_listens_on_loopback_only_and_shows_no_prompts(embedded: Embedded):
    assert embedded.pid is not None
    connections = psutil.Process(embedded.pid).net_connections("tcp")
    listening = {c.laddr.ip for c in connections if c.status == psutil.CONN_LISTEN}
    assert listening == {"127.0.0.1"}
    assert httpx.get(f"{embedded.address}/slots", trust_env=False, timeout=300).status_code == 501
    process = psutil.Process(embedded.pid)
    assert process.nice() == psutil.Process().nice(), "players wait for it"
    assert process.environ()["OMP_WAIT_POLICY"] == "PASSIVE"


@pytest.fixture
def own(embedded: Embedded, home: Places) -> Iterator[Embedded]:
    """A supervisor without a child, in a home with the weights."""
    home.models.mkdir(parents=True)
    (home.models / WEIGHTS).hardlink_to(embedded._places.models / WEIGHTS)
    supervisor = Embedded(home)
    supervisor.use(WEIGHTS)
    yield supervisor
    supervisor.stop()


@pytest.fixture
def running(own: Embedded) -> Embedded:
    """A supervisor with a child of its own."""
    until(own.watch)
    return own


@pytest.fixture
def after_reload(running: Embedded, home: Places) -> Iterator[Embedded]:
    """Another supervisor in the same home, as after a reload of the world."""
    supervisor = Embedded(home)
    supervisor.use(WEIGHTS)
    until(supervisor.watch)
    yield supervisor
    supervisor.stop()


def test_a_child_is_adopted_after_a_reload_and_stopped(running: Embedded, after_reload: Embedded):
    assert after_reload.pid == running.pid
    after_reload.stop()
    until(lambda: running.pid is None)  # its other threads may outlive the zombie briefly
    assert not after_reload.watch(), "a stopped supervisor starts nothing"


def test_the_model_stays_if_another_one_cannot_be_used(running: Embedded, home: Places):
    first = running.pid
    running.use("absent.gguf")
    assert "keepsake model list" in str(running.refused)
    (home.models / "page.gguf").write_text("<html>not found</html>" * 9)
    running.use("page.gguf")
    assert re.search("not a GGUF file.*keepsake model get", str(running.refused))
    assert running.watch()
    assert running.pid == first


def test_an_adopted_child_is_replaced_for_another_model(after_reload: Embedded, home: Places):
    first = after_reload.pid
    (home.models / "mine.gguf").hardlink_to(home.models / WEIGHTS)
    after_reload.use("mine.gguf", 2048)
    assert after_reload.refused is None
    assert not after_reload.ready.is_set(), "the previous model must not answer for the new one"
    until(lambda: after_reload.watch() and after_reload.pid != first)
    answer = httpx.get(f"{after_reload.address}/props", trust_env=False, timeout=300).json()
    assert answer["model_alias"] == "mine"
    assert answer["default_generation_settings"]["n_ctx"] == 2048


def test_a_killed_child_is_started_again_with_the_same_model(running: Embedded, home: Places):
    (home.models / "mine.gguf").hardlink_to(home.models / WEIGHTS)
    first = running.pid
    running.use("mine.gguf", 2048)
    until(lambda: running.watch() and running.pid != first)
    assert running.pid is not None
    os.kill(running.pid, signal.SIGKILL)
    until(lambda: running.pid is None)
    until(running.watch)
    answer = httpx.get(f"{running.address}/props", trust_env=False, timeout=300).json()
    assert answer["model_alias"] == "mine"
    assert answer["default_generation_settings"]["n_ctx"] == 2048


def test_only_the_model_with_a_tuned_voice_is_served_with_it(tmp_path: Path):
    import xllamacpp  # noqa: PLC0415 - it has no stubs, and takes a second

    (named,) = {each.name for each in embeddeds.VOICES.glob("*.gguf")}
    known = load_catalogue(REPOSITORY / "vault/config/models.md").models.values()
    assert named in {Path(each.file).name for each in known}
    voice = embeddeds.VOICES / named
    assert require_gguf(voice) <= 12_000_000
    assert b"qwen2" in voice.read_bytes()[:200]
    for name in (named, "other.gguf"):
        (tmp_path / name).write_bytes(b"GGUF")
        asked = argparse.Namespace(model=tmp_path / name, port=1, context=256, pool=256)
        given = embeddeds._parameters(
            asked, xllamacpp.CommonParams(), xllamacpp.CommonAdapterLoraInfo
        )
        assert [each.path for each in given.lora_adapters] == [str(voice)] * (name == named)


def test_players_wait_for_it_so_it_has_the_priority_of_the_game(embedded: Embedded):
    assert embedded.pid is not None
    assert psutil.Process(embedded.pid).nice() == psutil.Process().nice()


def test_more_agents_than_slots_keep_their_prompts(model: OpenAIModel):
    """Each agent's prompt is read once, however many others were asked in between."""

    def ask(agent: int, more: str) -> Generation:
        prompt = f"You are person {agent}, who keeps {agent} boats. " * 4 + more
        key = f"agent-{agent}"
        request = GenerationRequest(prompt, max_tokens=1, json_schema=WORDS, cache_key=key)
        return model.generate(request)

    agents = range(embeddeds.SLOTS + 2)
    for agent in agents:
        ask(agent, "It is morning.")
    again = [ask(agent, "It is evening.") for agent in agents]
    assert all(each.cached_tokens > 0.8 * each.prompt_tokens for each in again)
