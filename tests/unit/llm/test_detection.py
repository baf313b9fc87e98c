"""Which model ``provider: auto`` finds, depending on the servers and files that exist."""

from __future__ import annotations

import json
import os
import shutil
import threading
from pathlib import Path
from unittest.mock import patch

import pytest

from keepsake.models import detection
from keepsake.models.detection import Detection
from keepsake.models.embedders import load_embedder
from keepsake.models.profiles import EMBEDDED, NOTHING_FOUND, FoundModel, Profiles
from keepsake.paths import REPOSITORY, Places
from tests.fakes.model_server import FakeModelServer, Reply, llm_page
from tests.unit.llm.conftest import Owner, running_gateway, until

SHIPPED = REPOSITORY / "vault" / "config"
NO_OLLAMA = {"OLLAMA_HOST": "127.0.0.1:9"}
GIB = 1 << 30


@pytest.fixture
def models(tmp_path: Path) -> Path:
    (tmp_path / "models").mkdir()
    return tmp_path / "models"


def gguf(models: Path, name: str, size: int = 4096, magic: bytes = b"GGUF") -> None:
    with (models / name).open("wb") as file:
        file.write(magic)
        file.truncate(size)  # a sparse file


def tags(fake: FakeModelServer, **sizes: int) -> None:
    rows = [{"name": name.replace("__", ":"), "size": size} for name, size in sizes.items()]
    fake.always("/api/tags", Reply(raw=json.dumps({"models": rows}).encode()))


def find(models: Path, environ: dict[str, str]) -> detection.FoundModel:
    with patch.dict(os.environ, environ):
        return Detection(models, SHIPPED / "models.md").find()


def test_the_largest_chat_model_that_fits_in_memory_is_chosen(fake, models, monkeypatch):
    monkeypatch.setattr(detection, "_memory", lambda: 8 * GIB)
    tags(fake, gemma3__4b=3 * GIB, qwen3__4b=3 * GIB, llama3__text=5 * GIB, mixtral=26 * GIB)
    found = find(models, {"OLLAMA_HOST": fake.address})
    assert (found.provider, found.model, found.host) == ("ollama", "qwen3:4b", fake.address)
    assert "OLLAMA_HOST names" in found.why
    tags(fake, qwen3__4b=3 * GIB, qwen2_coder=6 * GIB, llama3__8b=5 * GIB)
    assert find(models, {"OLLAMA_HOST": fake.address}).model == "llama3:8b"
    tags(fake, **{"bge-m3": GIB, "nomic-embed-text": GIB})
    assert find(models, {"OLLAMA_HOST": fake.address}) == NOTHING_FOUND, "neither is a chat model"


def test_a_server_named_in_the_environment_comes_first(fake, models):
    gguf(models, "qwen3-4b.gguf")
    environ = NO_OLLAMA | {"KEEPSAKE_OPENAI_HOST": fake.address}
    found = find(models, environ)
    assert (found.provider, found.model) == ("openai", "fake"), "the model that the server lists"
    found = find(models, environ | {"KEEPSAKE_OPENAI_MODEL": "mine"})
    assert (found.model, found.host) == ("mine", fake.address)
    found = find(models, NO_OLLAMA | {"KEEPSAKE_OPENAI_HOST": f"{fake.address}/v1/"})
    assert (found.model, found.host) == ("fake", fake.address), "as clients of OpenAI's write it"
    assert find(models, NO_OLLAMA | {"KEEPSAKE_OPENAI_HOST": "127.0.0.1:9"}).provider == "embedded"


def test_the_best_readable_model_file_is_chosen(models):
    assert find(models, NO_OLLAMA) == NOTHING_FOUND
    gguf(models, "gemma-3-270m-q4_k_m.gguf")  # shipped with earlier versions
    gguf(models, "broken.gguf", magic=b"GGU?")
    assert find(models, NO_OLLAMA) == NOTHING_FOUND
    gguf(models, "qwen2.5-coder-1.5b-instruct-q4_k_m.gguf")
    found = find(models, NO_OLLAMA)
    assert found.model_file.startswith("qwen2.5-coder-1.5b")
    assert not found.writes, "it continues dialogues but does not follow instructions"
    gguf(models, "qwen3-4b-q4_k_m.gguf")
    assert find(models, NO_OLLAMA).model_file == "qwen3-4b-q4_k_m.gguf"


@pytest.mark.parametrize(
    "body", [b"", b"[]", b'{"models": 3}', b'{"models": [3, {}]}', b"[" * 9999]
)
def test_a_malformed_list_of_models_counts_as_empty(fake, models, body):
    fake.always("/api/tags", Reply(raw=body))
    fake.always("/v1/models", Reply(raw=body))
    environ = {"OLLAMA_HOST": fake.address, "KEEPSAKE_OPENAI_HOST": fake.address}
    assert find(models, environ) == NOTHING_FOUND


def test_a_list_that_comes_in_drops_holds_no_start(fake, models, monkeypatch):
    monkeypatch.setattr(detection, "QUERY_SECONDS", 0.3)
    listed = json.dumps({"models": [{"name": "qwen3:4b", "size": 5}]}).encode()
    fake.always("/api/tags", Reply(raw=b" " * 100 + listed, drip=0.05))
    assert find(models, {"OLLAMA_HOST": fake.address}) == NOTHING_FOUND
    fake.always("/api/tags", Reply(raw=listed))
    monkeypatch.setattr(detection, "QUERY_SECONDS", 60.0)
    assert find(models, {"OLLAMA_HOST": fake.address}).model == "qwen3:4b"


def test_a_server_that_is_briefly_unreachable_is_kept(models, monkeypatch):
    now = [100.0]
    with FakeModelServer(models=["qwen3:8b"]) as fake:
        monkeypatch.setenv("OLLAMA_HOST", fake.address)
        auto = Detection(models, SHIPPED / "models.md", lambda: now[0])
        assert auto.find().model == "qwen3:8b"
    now[0] += detection.KEEP_SECONDS - 1
    assert auto.find().model == "qwen3:8b"
    now[0] += 2
    assert auto.find() == NOTHING_FOUND


def test_without_a_model_the_line_says_how_to_get_one():
    profiles = Profiles(SHIPPED / "llm.md")
    assert [profiles.get(name).provider for name in ("agent", "summarizer")] == ["none"] * 2
    assert "keepsake model list" in profiles.agent_model_line


def test_auto_fills_the_profiles(models, fake):
    profiles = Profiles(SHIPPED / "llm.md")
    tags(fake, qwen3__8b=5)
    profiles.use(find(models, {"OLLAMA_HOST": fake.address}))
    assert [profiles.get(name).model for name in ("agent", "summarizer")] == ["qwen3:8b"] * 2
    assert profiles.agent_model_line.startswith("qwen3:8b (OLLAMA_HOST names")


def test_auto_fills_the_embedder(models, fake):
    profiles = Profiles(SHIPPED / "llm.md")
    tags(fake, qwen3__8b=5, **{"all-minilm": 1, "bge-m3": 1})
    profiles.use(find(models, {"OLLAMA_HOST": fake.address}))
    embedder = load_embedder(SHIPPED / "llm.md", profiles.found)
    assert embedder.model_name == "ollama:bge-m3"
    fake.models = ["bge-m3"]
    assert len(embedder.embed(["Wo wohnt der Fischer?"])) == 1
    assert fake.calls("/v1/embeddings")[-1].body["model"] == "bge-m3"


def test_auto_takes_the_file_of_the_other_profile_because_there_is_one_embedded_server(tmp_path):
    path = tmp_path / "llm.md"
    other = "provider=embedded model_file=x.gguf"
    path.write_text(llm_page(agent="provider=auto", summarizer=other))
    own = Profiles(path)
    own.use(FoundModel(EMBEDDED, "the best file", model_file="y.gguf"))
    assert own.get("agent").model_file == "x.gguf"
    assert own.agent_model_line == "x.gguf (as llm.md says)"


def test_models_come_and_go_without_a_restart(home: Places, owner: Owner, fake, monkeypatch):
    monkeypatch.setattr(detection, "KEEP_SECONDS", 0)
    shutil.copy(SHIPPED / "models.md", home.config / "models.md")
    page = llm_page(agent="provider=auto", summarizer="provider=none")
    (home.config / "llm.md").write_text(page)
    fake.models = []
    with running_gateway(home, owner, {"OLLAMA_HOST": fake.address}) as gateway:
        assert gateway.profiles.get("agent").provider == "none"
        fake.models = ["qwen3:8b"]
        until(lambda: gateway.profiles.get("agent").model == "qwen3:8b")
        assert [each.provider for each in owner.call(gateway.used_servers)] == ["ollama"]
        answered = threading.Event()
        gateway.on_ready = answered.set
        fake.models = []
        until(lambda: gateway.profiles.get("agent").provider == "none")
        assert answered.wait(300), "waiting agents are told, so that rules can answer"
