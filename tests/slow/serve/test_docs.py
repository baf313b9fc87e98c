"""The examples of docs/other-programs.md run as they are, from the wheel in an empty folder."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.doc_blocks import blocks
from tests.free_ports import free_base
from tests.slow.serve.conftest import environ
from tests.slow.wheel.game import install
from tests.unit.llm.conftest import until

PAGE = "other-programs.md"
START, CURL = blocks(PAGE, "bash")
BOT, MCP, MCP_HTTP = blocks(PAGE, "python")
JAVASCRIPT, _ = blocks(PAGE, "javascript")
PORT = "8765"
BASH = ("bash", "-e")
PYTHON = ("python", "-")


@pytest.fixture(scope="module")
def programs(tmp_path_factory):
    """Install the wheel as the page says; return the folder of its programs."""
    folder = tmp_path_factory.mktemp("wheel")
    yield install(folder, "[serve]")
    shutil.rmtree(folder)


class Page:
    """Runs the examples in a folder, with another port than the page's."""

    def __init__(self, folder: Path, programs: Path) -> None:
        self.folder = folder
        self.port = free_base()
        self.environ = environ() | {
            "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
            "KEEPSAKE": f"http://127.0.0.1:{self.port}",
        }

    def run(self, example: str, *command: str) -> str:
        """Run an example; return what it prints."""
        done = subprocess.run(
            [*command],
            input=example.replace(PORT, str(self.port)),
            cwd=self.folder,
            env=self.environ,
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout


@pytest.fixture
def page(tmp_path, model, programs):
    """Start the service as the page says, with another model."""
    model.script = lambda prompt: "It was good bread." if "loaf?" in prompt else "Liesbet."
    page = Page(tmp_path, programs)
    *before, serve = START.strip().splitlines()
    page.run("\n".join(before), *BASH)
    serve = serve.replace(PORT, str(page.port)).replace(
        "ollama:qwen3.5:4b", f"openai:fake@{model.address}"
    )
    with subprocess.Popen(
        ["bash", "-ec", f"exec {serve}"], cwd=tmp_path, env=page.environ
    ) as process:
        health = f"{page.environ['KEEPSAKE']}/health"
        until(lambda: subprocess.run(["curl", "-sf", health], check=False).returncode == 0)
        yield page
        process.terminate()


def test_the_examples_of_the_page_run(page, programs):
    where = page.run("import keepsake; print(keepsake.__file__)", *PYTHON)
    assert where.startswith(str(programs.parent))
    said = page.run(CURL, *BASH)
    assert '"number":1' in said
    assert "Liesbet drowned" in said
    assert "event: answer" in said
    assert "Liesbet." in page.run(BOT, *PYTHON)
    assert "The tide turns at nine." in page.run(MCP, *PYTHON)
    assert "The ferry is blue." in page.run(MCP_HTTP, *PYTHON)
    if shutil.which("node"):
        assert "It was good bread." in page.run(JAVASCRIPT, "node", "-")
