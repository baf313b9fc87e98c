"""A running world with llama.cpp is reloaded and killed."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from contextlib import suppress

import pytest

from keepsake.cli import processes
from keepsake.cli.processes import Component
from tests.slow.cli.conftest import Copy
from tests.slow.e2e.players import Player
from tests.slow.e2e.running import running
from tests.unit.llm.conftest import until
from tests.weights import WEIGHTS, put_weights


@pytest.fixture(scope="module")
def copy(tmp_path_factory, tables) -> Iterator[Copy]:
    folder = tmp_path_factory.mktemp("evening")
    put_weights(folder / "home" / "models")
    other = f"## other\n**provider**: embedded\n**model_file**: {WEIGHTS}\n\n"
    served = ("llm.md", "## embedder\n", f"{other}## embedder\n")
    with running(folder, tables, changes=[served]) as made:
        yield made


def archive_lines(copy: Copy, name: str) -> list[dict]:
    """The archive's complete lines; the world may be writing another one."""
    segments = sorted((copy.here.agents / name / "archive").glob("0*.jsonl"))
    texts = (path.read_text().rpartition("\n")[0] for path in segments)
    return [json.loads(line) for text in texts for line in text.splitlines()]


def model_server(copy: Copy) -> int:
    """The id of the model server's process. It starts a little later than the world."""
    return until(lambda: processes.newest(copy.here, Component.MODEL)).pid


def test_after_a_reload_and_a_crash_nothing_is_missing(copy):
    model = model_server(copy)
    before = archive_lines(copy, "Mira")
    assert copy.keepsake("reload").returncode == 0
    assert model_server(copy) == model
    assert archive_lines(copy, "Mira")[: len(before)] == before
    builder = Player.admin(copy)
    builder.see("The Kettle")
    # Her schedule may have taken her out of the inn.
    builder.type("@tel Mira = #2", "Mira is already at The Kettle|Teleported")
    builder.type("say Remember the number seven hundred and four.", "You say")
    for each in processes.running(copy.here):
        with suppress(ProcessLookupError):  # one may end by itself when another is gone
            if each.component is not Component.MODEL:
                os.kill(each.pid, signal.SIGKILL)
    builder.line.close()
    assert copy.keepsake("start").returncode == 0
    after = archive_lines(copy, "Mira")
    assert after[: len(before)] == before
    said = 'Admin says, "Remember the number seven hundred and four."'
    assert said in [line.get("text") for line in after]
    builder = Player.admin(copy)
    builder.see("The Kettle")
    builder.type("@memory-status Mira", r"Integrity:\s+whole")
    builder.leave()
