"""``keepsake model`` with a fake hub."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from keepsake.cli import models
from keepsake.models import fetching
from keepsake.models.profiles import Profiles, load
from keepsake.paths import REPOSITORY, prepare
from tests.fakes.hub import FakeHub
from tests.slow.cli.conftest import Copy
from tests.slow.cli.test_fetching import DATA, FILE, REPO, SHA

SHIPPED_FILE = REPOSITORY / "vault" / "config" / "models.md"


def listed(copy: Copy) -> dict[str, str]:
    done = copy.keepsake("model", "list")
    assert done.returncode == 0, done.stderr
    rows = [line for line in done.stdout.splitlines() if line.strip() and ": " not in line]
    return {line.split()[0]: line for line in rows}


@pytest.fixture
def tiny(copy: Copy) -> Iterator[Copy]:
    """A copy whose catalogue has the model ``tiny``, which a fake hub has."""
    prepare(copy.here)
    (copy.here.config / "models.md").write_text(
        f"{SHIPPED_FILE.read_text()}\n## tiny\n**repo**: {REPO}\n**file**: {FILE}\n"
        f"**size**: {len(DATA)}\n**licence**: MIT\n"
    )
    with FakeHub(REPO, FILE, DATA) as hub:
        own = {"HF_ENDPOINT": hub.address, "HF_HOME": str(copy.here.home / "hf")}
        copy.environ.update(own)
        yield copy


def test_a_model_that_is_not_here_is_listed_and_cannot_be_used(tiny: Copy):
    assert "in use" not in listed(tiny)["tiny"]
    assert "model: none (rules answer players" in tiny.keepsake("model", "list").stdout
    refused = tiny.keepsake("model", "use", "tiny")
    assert refused.returncode == 1
    assert "keepsake model get tiny" in refused.stderr


def test_a_model_is_fetched_and_used_at_once(tiny: Copy):
    got = tiny.keepsake("model", "get", "tiny")
    assert got.returncode == 0, got.stderr
    assert "licence: MIT" in got.stdout
    assert "no sha256" in got.stdout
    assert SHA in got.stdout
    assert "in use" in listed(tiny)["tiny"], "`auto` takes it"


def test_a_model_is_chosen_and_left_to_auto_again(tiny: Copy):
    assert tiny.keepsake("model", "get", "tiny").returncode == 0
    path = tiny.here.config / "llm.md"
    assert tiny.keepsake("model", "use", "tiny").returncode == 0
    profile = load(path)["agent"]
    assert (profile.provider, profile.model_file) == ("embedded", FILE)
    assert profile.form == "auto"
    beside = f"**provider**: embedded\n**model_file**: {FILE}\n_auto, embedded"
    assert beside in path.read_text(), "above the sentence that explains both"
    assert "in use" in listed(tiny)["tiny"]
    assert tiny.keepsake("model", "use", "auto").returncode == 0
    assert load(path)["agent"].provider == "auto"
    assert "in use" in listed(tiny)["tiny"], "which was fetched"


def test_a_start_names_each_model_that_may_be_fetched_and_from_where(
    copy: Copy, monkeypatch: pytest.MonkeyPatch
):
    nothing = Profiles(copy.here.config / "llm.md")
    nothing.detects = True
    monkeypatch.setattr(models, "detected_profiles", lambda *_: nothing)
    shown = models.before_start(copy.here, "")
    found = fetching.models_to_fetch(SHIPPED_FILE)
    assert len(found) == 2
    for source, model in found.items():
        assert f"{model.name} (" in shown
        assert f"from the {source}" in shown
    assert ", or if that fails " in shown


@pytest.mark.parametrize(
    ("provider", "said"),
    [
        ("olama", "line 3: provider: "),
        ("embedded\n**model_file**: gone.gguf", "gone.gguf cannot be read"),
    ],
)
def test_a_start_says_what_is_wrong_with_the_model_of_the_settings(
    copy: Copy, capsys: pytest.CaptureFixture[str], provider: str, said: str
):
    prepare(copy.here)
    (copy.here.config / "llm.md").write_text(
        f"## agent\n\n**provider**: {provider}\n\n## summarizer\n\n**provider**: none\n"
    )
    assert not models.before_start(copy.here, "none")
    shown = " ".join(capsys.readouterr().out.split())
    assert "It cannot be used as it is set: " in shown
    assert said in shown
