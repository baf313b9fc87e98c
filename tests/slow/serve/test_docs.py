"""The examples of docs/other-programs.md run as they are."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.doc_blocks import blocks
from tests.free_ports import free_base
from tests.slow.serve.conftest import environ
from tests.unit.llm.conftest import until

PAGE = "other-programs.md"
START, CURL = blocks(PAGE, "bash")
BOT, MCP, MCP_HTTP = blocks(PAGE, "python")
JAVASCRIPT, _ = blocks(PAGE, "javascript")
PORT = "8765"


def run(example, folder, port, command=("bash", "-e")):
    environment = environ() | {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "KEEPSAKE": f"http://127.0.0.1:{port}",
    }
    done = subprocess.run(
        [*command],
        input=example.replace(PORT, str(port)),
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def started(tmp_path, model):
    """Start the service as the page says, with another port and model."""
    model.script = lambda prompt: "It was good bread." if "loaf?" in prompt else "Liesbet."
    port = free_base()
    *before, serve = START.strip().splitlines()
    run("\n".join(before), tmp_path, port)
    serve = serve.replace(PORT, str(port)).replace(
        "ollama:qwen3.5:4b", f"openai:fake@{model.address}"
    )
    command = serve.removeprefix("keepsake ").split()
    with subprocess.Popen(
        [sys.executable, "-m", "keepsake", *command], cwd=tmp_path, env=environ()
    ) as process:
        health = f"http://127.0.0.1:{port}/health"
        until(lambda: subprocess.run(["curl", "-sf", health], check=False).returncode == 0)
        yield tmp_path, port
        process.terminate()


def test_the_examples_of_the_page_run(started):
    folder, port = started
    said = run(CURL, folder, port)
    assert '"number":1' in said
    assert "Liesbet drowned" in said
    assert "event: answer" in said
    assert "Liesbet." in run(BOT, folder, port, (sys.executable, "-"))
    assert "The tide turns at nine." in run(MCP, folder, port, (sys.executable, "-"))
    assert "The ferry is blue." in run(MCP_HTTP, folder, port, (sys.executable, "-"))
    if shutil.which("node"):
        assert "It was good bread." in run(JAVASCRIPT, folder, port, ("node", "-"))
