"""The cascade: what is summarised when, what a failure leaves alone, what survives."""

from __future__ import annotations

import errno

import frontmatter
import pytest

from keepsake.archive.integrity import check
from keepsake.archive.records import MemoryKind, Tier
from keepsake.errors import CompactionError
from keepsake.memory.config import CompactionConfig
from keepsake.memory.types import CompactReason, Outcome
from tests.unit.mind.fake_agent import add, covered

COUNT, MANUAL = CompactReason.COUNT, CompactReason.MANUAL
BY_HAND = "I met Tom, who is a baker."


def compacted(memory, *counts):
    """Live so many memories and compact, again and again; the last result."""
    for count in counts:
        add(memory, count)
        result = memory.compact(COUNT)
    return result


def edit(agent, name, body):
    path = agent.folder / "summaries" / name
    post = frontmatter.load(path)
    post.content = body
    path.write_text(frontmatter.dumps(post))
    return path


def test_default_sizes_compact_at_129_193_257(agent):
    agent.config = CompactionConfig(immediate_window=64, recent_window=64, min_saving_tokens=0)
    memory = agent.open()
    due = []
    for _ in range(3):
        while not memory.next_turn():
            add(memory, 1)
        due.append(memory.tiers.last_number)
        memory.compact(COUNT)
    context = memory.context()
    assert due == [129, 193, 257]
    assert (context.longterm.first, context.longterm.last) == (1, 129)
    assert (context.recent.first, context.recent.last) == (130, 193)
    assert len(context.window) == 64
    told = "\n".join(line.removeprefix("[Memory] Mira: ") for line in agent.log)
    for line in (
        "Starting compaction (129 memories, 64 imm",
        "Compaction complete (first summary)",
        "Short-term summary updated (",
        "Long-term summary updated (",
        "Compaction complete (waterfall)",
    ):
        assert line in told, told
    memory.close()


def test_the_old_short_term_summary_flows_into_the_long_term_one(agent, memory):
    sources = agent.summarizer.sources
    memory.append("say good evening", MemoryKind.ACT, reason="he looks cold")
    assert compacted(memory, 7).outcome is Outcome.FIRST
    assert [source.tier for source in sources] == [Tier.RECENT]
    own = 'You say, "good evening" (your reason: he looks cold)'
    assert sources[0].lines[:2] == (own, "Thing 2 happened.")
    first = memory.context()
    assert (first.longterm, first.recent.first, first.recent.last) == (None, 1, 4)
    assert compacted(memory, 3).outcome is Outcome.WATERFALL
    assert next(s for s in sources if s.tier is Tier.LONGTERM).lines == (first.recent.text,)
    before = memory.context()
    compacted(memory, 3)
    longterm = [s for s in sources if s.tier is Tier.LONGTERM][-1]
    assert longterm.lines == (before.longterm.text.strip(), before.recent.text)
    assert covered(memory.context()) == list(range(1, 15))


@pytest.mark.parametrize("tier", list(Tier))
def test_a_failed_call_changes_nothing_and_backs_off(agent, memory, tier):
    compacted(memory, 8)
    add(memory, 3)
    before = memory.context()
    agent.summarizer.failing = {tier}
    with pytest.raises(CompactionError, match="does not answer"):
        memory.compact(COUNT)
    assert memory.context() == before
    assert memory.next_turn() is None
    agent.clock.advance(31)
    assert memory.next_turn() is COUNT
    with pytest.raises(CompactionError):
        memory.compact(COUNT)
    agent.clock.advance(31)
    assert memory.next_turn() is None, "the second wait is longer than the first"
    agent.clock.advance(31)
    agent.summarizer.failing = set()
    compacted(memory, 2)
    assert covered(memory.context()) == list(range(1, 14))
    assert memory.compactor.failures == 0


@pytest.mark.parametrize("call", ["_datasync", "AppendedFile.append"])
def test_what_the_disk_refuses_is_not_compacted(memory, monkeypatch, call):
    """Else a power cut may take the memories, and leave a summary of them."""
    add(memory, 8)
    before = memory.context()

    def refuse(*_, **__):
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(f"keepsake.json_lines.{call}", refuse)
    with pytest.raises(CompactionError, match="cannot be written"):
        memory.compact(COUNT)
    assert memory.context() == before
    monkeypatch.undo()
    memory.compact(COUNT)
    assert memory.context().recent


def test_files_in_the_vault(agent, memory):
    compacted(memory, 8, 3)
    folder = agent.folder / "summaries"
    post = frontmatter.load(folder / "recent.md")
    assert post.content == memory.context().recent.text
    assert (post["memory_range_start"], post["memory_range_end"]) == (5, 7)
    assert (post["kind"], post["model"]) == ("short-term summary", "scripted")
    assert post["tokens_before"] > post["tokens_after"] > 0
    assert frontmatter.load(folder / "longterm.md")["memory_range_end"] == 4
    names = [path.name for path in sorted(folder.glob("recent-[0-9]*.md"))]
    assert names == ["recent-20260501-120000-2.md", "recent-20260501-120000.md"], "of one second"


# -- summaries that people edit


def test_an_edited_summary_is_adopted_and_flows_on(agent):
    memory = agent.open()
    compacted(memory, 8)
    path = edit(agent, "recent.md", BY_HAND)  # by an editor with marks of its own
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n"))
    memory.adopt_edits()
    assert memory.context().recent.text == BY_HAND
    assert covered(memory.context()) == list(range(1, 9))
    memory.close()
    memory = agent.open()
    assert memory.context().recent.text == BY_HAND
    assert check(memory.archive, memory.context(), memory.summaries).whole
    edit(agent, "recent.md", f"{BY_HAND} He sings.")
    compacted(memory, 3)
    longterm = next(s for s in agent.summarizer.sources if s.tier is Tier.LONGTERM)
    assert longterm.lines == (f"{BY_HAND} He sings.",)
    memory.close()


def test_an_edit_that_a_crash_left_behind_is_not_of_the_next_summary(agent, memory):
    """The process ended when the compaction stood in the archive, and not in the file yet."""
    compacted(memory, 8)
    path = edit(agent, "recent.md", BY_HAND)
    behind = path.read_text()
    compacted(memory, 3)
    before = memory.context()
    memory.close()
    path.write_text(behind)
    memory = agent.open()
    assert memory.context() == before
    assert frontmatter.load(path).content == before.recent.text
    (aside,) = path.parent.glob("recent-edited-before-*.md")
    assert aside.read_text() == behind
    memory.close()


@pytest.mark.parametrize("garbage", ["", "---\n: [\n---\nhello", "no front matter", b"\xff\xfe"])
def test_a_malformed_summary_file_is_set_aside_and_written_again(agent, memory, garbage):
    compacted(memory, 8)
    path = agent.folder / "summaries" / "recent.md"
    data = garbage if isinstance(garbage, bytes) else garbage.encode()
    path.write_bytes(data)
    before, there = memory.context(), [] if not data else [data]
    assert any("recent.md" in note for note in memory.adopt_edits())
    assert memory.context() == before
    assert memory.check().whole
    asides = path.parent.glob("recent-edited-before-*.md")
    assert [each.read_bytes() for each in asides] == there
    assert not memory.adopt_edits()
