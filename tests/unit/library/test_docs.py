"""The examples of docs/library.md run as they are, one after the other, twice."""

import os
import subprocess
import sys

import pytest

from tests.doc_blocks import blocks
from tests.fakes.model_server import FakeModelServer

EXAMPLES = blocks("library.md", "python")


@pytest.fixture
def ollama():
    with FakeModelServer(script=lambda _: "She drowned. I am sorry.") as running:
        running.kind = "ollama"
        running.models = ["qwen3.5:4b"]
        running.template = "{{ .Messages }}"
        yield running


def test_the_examples_of_the_page_run_and_remember_over_a_restart(tmp_path, ollama):
    environ = os.environ | {"OLLAMA_HOST": ollama.address}
    said = ""
    for number, example in enumerate([*EXAMPLES, EXAMPLES[0]]):
        path = tmp_path / f"example{number}.py"
        path.write_text(example, encoding="utf-8")
        command = [sys.executable, path.name]
        done = subprocess.run(
            command, cwd=tmp_path, env=environ, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, f"{example}\n{done.stderr}"
        said += done.stdout
    assert "She drowned. I am sorry." in said
    assert "discord:1234" in said
    assert "done:" in said
    assert said.count('1 Anneke says to you, "My sister Liesbet drowned') == 2
