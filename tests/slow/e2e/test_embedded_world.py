"""A newcomer's evening in a real world, over telnet: rules answer, llama.cpp runs beside it.

The tests share one world and follow each other: a first evening, two compactions, a
restart, and what is still there the next day.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import frontmatter
import pytest

from keepsake.cli import processes
from keepsake.cli.processes import Component
from tests.slow.cli.conftest import Copy
from tests.slow.e2e.players import Player, chat_until, wait_for
from tests.slow.e2e.running import running
from tests.unit.llm.conftest import until
from tests.weights import WEIGHTS, put_weights

_TIERS = ("recent", "longterm")


@pytest.fixture(scope="module")
def copy(tmp_path_factory, tables) -> Iterator[Copy]:
    folder = tmp_path_factory.mktemp("evening")
    put_weights(folder / "home" / "models")
    other = f"## other\n**provider**: embedded\n**model_file**: {WEIGHTS}\n\n"
    served = ("llm.md", "## embedder\n", f"{other}## embedder\n")
    with running(folder, tables, changes=[served]) as made:
        yield made


def archive_lines(copy: Copy, name: str) -> list[dict]:
    segments = sorted((copy.here.agents / name / "archive").glob("0*.jsonl"))
    return [json.loads(line) for path in segments for line in path.read_text().splitlines()]


def bring_mira(copy: Copy) -> None:
    """Her day may have taken her out of the inn."""
    builder = Player.admin(copy)
    builder.see("The Kettle")
    builder.type("@tel Mira = #2", "Mira is already at The Kettle|Teleported")
    builder.leave()


def both_summaries(folder: Path) -> frontmatter.Post:
    """Wait until the files of the last compaction are written; the short-term one.

    They are replaced one after the other, and more may have been said than two compactions.
    """

    def are_of_one() -> bool:
        recent, longterm = (frontmatter.load(folder / f"{name}.md") for name in _TIERS)
        assert longterm["memory_range_start"] == 1
        return recent["memory_range_start"] == longterm["memory_range_end"] + 1

    until(are_of_one)
    return frontmatter.load(folder / "recent.md")


def model_server(copy: Copy) -> int:
    """The model server's process, as soon as there is one: it starts beside the world."""
    until(lambda: processes.one(copy.here, Component.MODEL))
    found = processes.one(copy.here, Component.MODEL)
    assert found is not None
    return found.pid


def test_a_newcomer_is_answered_from_memory(copy):
    assert "The agents' model: none (rules answer players" in copy.notes["first start"]
    tamsin = Player.new(copy, "Tamsin")
    tamsin.see("The Kettle")
    bring_mira(copy)
    tamsin.type("talk mira I mend nets in Merrow.", "You say to Mira", "Mira says to you")
    tamsin.type("talk mira Where do I mend nets?", "Mira says .*mend nets in Merrow")
    wait_for(copy.here.agents_log, r"\[Thinker\] Mira: addressed -> say You told me: 'I mend nets")
    tamsin.leave()


def test_two_compactions_with_shrunken_windows(copy):
    builder = Player.admin(copy)
    builder.see("The Kettle")
    builder.type("@agent/pause Mira", "paused")
    bring_mira(copy)
    config = copy.here.config / "memory_compaction.md"
    config.write_text(config.read_text().replace("window**: 64", "window**: 6"))
    summaries = copy.here.agents / "Mira" / "summaries"
    chat_until(lambda: len(list(summaries.glob("recent-*.md"))) > 1, builder)
    log = wait_for(copy.here.agents_log, r"\[Memory\] Mira: Compaction complete \(waterfall\)")
    stayed = re.findall(r"\[Memory\] Mira: Starting compaction \(\d+ memories, (\d+) imm", log)
    # More than the window where somebody still waits for an answer.
    assert stayed
    assert min(map(int, stayed)) >= 6
    assert re.search(r"\[Memory\] Mira: Short-term summary updated \(\d+ chars\)", log)
    assert re.search(r"\[Memory\] Mira: Long-term summary updated \(\d+ chars\)", log)
    assert "[Memory] Mira: Compaction complete (first summary)" in log
    recent = both_summaries(summaries)
    assert len(recent.content) > 20
    shown = builder.type("@memory-status Mira", "Integrity:")
    assert "whole" in shown
    builder.leave()


def test_after_a_reload_and_a_crash_nothing_is_missing(copy):
    model = model_server(copy)
    before = archive_lines(copy, "Mira")
    assert copy.keepsake("reload").returncode == 0
    assert model_server(copy) == model
    assert archive_lines(copy, "Mira")[: len(before)] == before
    builder = Player.admin(copy)
    builder.see("The Kettle")
    builder.type("say Remember the number seven hundred and four.", "You say")
    for each in processes.running(copy.here):
        if each.component is not Component.MODEL:
            processes.psutil.Process(each.pid).kill()
    builder.line.close()
    assert copy.keepsake("start").returncode == 0
    after = archive_lines(copy, "Mira")
    assert after[: len(before)] == before
    said = 'Admin says, "Remember the number seven hundred and four."'
    assert said in [line.get("text") for line in after]
    builder = Player.admin(copy)
    builder.see("The Kettle")
    assert "whole" in builder.type("@memory-status Mira", "Integrity:")
    builder.leave()
