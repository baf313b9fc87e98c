"""``keepsake model`` against a hub over the wire."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from keepsake.errors import ModelFailed, ModelMissing, ModelUnavailable
from keepsake.models import fetching
from keepsake.models.catalogue import CatalogueModel
from keepsake.models.profiles import load
from keepsake.paths import REPOSITORY, prepare
from tests.fakes.hub import COMMIT, FakeHub
from tests.slow.cli.conftest import Copy

REPO, FILE = "somebody/tiny-GGUF", "tiny-q4_k_m.gguf"
DATA = b"GGUF" + bytes(range(256)) * 4096
SHA = hashlib.sha256(DATA).hexdigest()
SHIPPED_FILE = REPOSITORY / "vault" / "config" / "models.md"


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeHub]:
    with FakeHub(REPO, FILE, DATA) as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.address)
        yield hub


@pytest.fixture(autouse=True)
def no_login(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))


def tiny(revision: str = COMMIT, sha256: str = SHA) -> CatalogueModel:
    return CatalogueModel(
        "tiny", "", REPO, FILE, revision, sha256, len(DATA), "MIT", "1 GB", "not measured"
    )


def files(models: Path) -> list[str]:
    return sorted(path.name for path in models.iterdir())


def test_a_file_is_fetched_whole_and_checked(hub: FakeHub, tmp_path: Path):
    found = fetching.fetch(tiny(), tmp_path)
    assert found == tmp_path / FILE
    assert found.read_bytes() == DATA
    assert files(tmp_path) == [FILE]
    found.unlink()
    (tmp_path / f".{FILE}.{SHA[:12]}.part").write_bytes(DATA[:500_000])
    hub.failing = 500
    with pytest.raises(ModelUnavailable, match=r"500.*is kept"):
        fetching.fetch(tiny(), tmp_path)
    hub.failing = 0
    assert fetching.fetch(tiny(), tmp_path).read_bytes() == DATA
    assert hub.ranges[-1] == "bytes=500000-"
    with pytest.raises(ModelMissing, match=r"no somebody/tiny-GGUF/tiny.*HF_TOKEN"):
        fetching.fetch(tiny("1" * 40), tmp_path / "empty")


def test_what_is_damaged_never_gets_its_name(hub: FakeHub, tmp_path: Path):
    hub.data = DATA[:-1] + b"!"  # and the hub says that it is the right one
    with pytest.raises(ModelFailed, match=r"has the SHA-256 .* in place of"):
        fetching.fetch(tiny(), tmp_path)
    assert files(tmp_path) == []
    hub.data = b"<html>" * 99
    hub.digest = hashlib.sha256(hub.data).hexdigest()
    with pytest.raises(ModelFailed, match="no GGUF file"):
        fetching.fetch(tiny(sha256=""), tmp_path)
    assert files(tmp_path) == []


def listed(copy: Copy) -> dict[str, str]:
    done = copy.keepsake("model", "list")
    assert done.returncode == 0, done.stderr
    rows = [line for line in done.stdout.splitlines() if line.strip() and ": " not in line]
    return {line.split()[0]: line for line in rows}


def test_from_the_list_to_the_agents(copy: Copy, hub: FakeHub):
    copy.environ["HF_ENDPOINT"] = hub.address
    prepare(copy.here)
    (copy.here.config / "models.md").write_text(
        f"{SHIPPED_FILE.read_text()}\n## tiny\n**repo**: {REPO}\n**file**: {FILE}\n"
        f"**size**: {len(DATA)}\n**licence**: MIT\n"
    )
    assert "in use" in listed(copy)["shipped"]
    assert "in use" not in listed(copy)["tiny"]
    refused = copy.keepsake("model", "use", "tiny")
    assert refused.returncode == 1
    assert "keepsake model get tiny" in refused.stderr
    got = copy.keepsake("model", "get", "tiny")
    assert got.returncode == 0, got.stderr
    assert "licence: MIT" in got.stdout
    assert "no sha256" in got.stdout
    assert SHA in got.stdout
    assert "in use" in listed(copy)["tiny"], "`auto` takes it at once"
    path = copy.here.config / "llm.md"
    assert copy.keepsake("model", "use", "tiny").returncode == 0
    profile = load(path)["agent"]
    assert (profile.provider, profile.model_file) == ("embedded", FILE)
    assert profile.form == "auto"
    assert "in use" in listed(copy)["tiny"]
    assert copy.keepsake("model", "use", "shipped").returncode == 0
    assert load(path)["agent"].model_file == ""
    assert copy.keepsake("model", "use", "auto").returncode == 0
    assert load(path)["agent"].provider == "auto"
    assert "in use" in listed(copy)["tiny"], "which was fetched"
