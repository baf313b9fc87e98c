"""The wheel for programs that are no game: its size, and the examples of its page."""

from __future__ import annotations

import os
import shutil

import pytest

from tests.doc_blocks import blocks
from tests.fakes.model_server import FakeModelServer
from tests.slow.wheel.game import install, run

MOST_MB = 60
EXAMPLES = blocks("library.md", "python")
[ON_FRONT_PAGE] = blocks("../README.md", "python")


@pytest.fixture(scope="module")
def programs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("library")
    yield install(folder)
    shutil.rmtree(folder)


@pytest.fixture
def environ():
    ours = ("KEEPSAKE_", "PYTHON", "DJANGO_")
    kept = {name: each for name, each in os.environ.items() if not name.startswith(ours)}
    with FakeModelServer(script=lambda _: "She drowned. I am sorry.") as model:
        model.kind = "ollama"
        model.models = ["qwen3.5:4b"]
        yield kept | {"OLLAMA_HOST": model.address, "PYTHONDONTWRITEBYTECODE": "1"}


def test_the_core_is_small(programs):
    paths = (programs.parent / "lib").rglob("*")
    size = sum(each.stat().st_size for each in paths if each.is_file() and not each.is_symlink())
    assert size < MOST_MB * 1_000_000


def test_the_examples_of_both_pages_run_and_remember_over_a_restart(programs, environ, tmp_path):
    said = ""
    for number, example in enumerate([*EXAMPLES, EXAMPLES[0], ON_FRONT_PAGE]):
        path = tmp_path / f"example{number}.py"
        path.write_text(example, encoding="utf-8")
        said += run([programs / "python", path.name], tmp_path, env=environ)
    assert said.endswith("She drowned. I am sorry.\n")
    assert said.count('1 Anneke says to you, "My sister Liesbet drowned') == 2


def test_what_an_extra_installs_is_named(programs, environ, tmp_path):
    told = run([programs / "keepsake", "serve", "memories"], tmp_path, fails=True, env=environ)
    assert 'pip install "evennia-keepsake[serve]"' in told
    program = 'from keepsake import Memory; Memory("mira", embedder="embedded")'
    told = run([programs / "python", "-c", program], tmp_path, fails=True, env=environ)
    assert 'pip install "evennia-keepsake[vectors]"' in told
