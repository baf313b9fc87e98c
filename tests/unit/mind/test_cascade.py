"""Compaction by count: when it runs, what it summarises, and what failures leave unchanged."""

from __future__ import annotations

import errno

import frontmatter
import pytest

from keepsake.archive.summaries import EDITED, Tier
from keepsake.errors import CompactionError
from keepsake.events.values import CompactionOutcome, CompactReason
from keepsake.memory.config import CompactionConfig
from keepsake.memory.integrity import check
from keepsake.memory.summary_files import MOST_LENGTH
from tests.log_lines import LogLines
from tests.memories import did
from tests.unit.mind.fake_agent import add, add_talk, compact, covered, due

COUNT = CompactReason.COUNT
MANUAL = CompactReason.MANUAL
BY_HAND = "I met Tom, who is a baker."


def compacted(memory, *counts):
    """Add each count of memories and compact; return the last result."""
    for count in counts:
        add(memory, count)
        result = compact(memory, COUNT)
    return result


def edit(agent, name, body):
    path = agent.folder / "summaries" / name
    post = frontmatter.load(path)
    post.content = body
    path.write_text(frontmatter.dumps(post))
    return path


def test_default_windows_compact_at_129_193_and_257_memories(agent, logged):
    agent.config = CompactionConfig(immediate_window=64, recent_window=64, min_saving_tokens=0)
    memory = agent.open()
    numbers = []
    for _ in range(3):
        while not due(memory):
            add_talk(memory, 1)
        numbers.append(memory.tiers.last_number)
        compact(memory, COUNT)
    context = memory.context()
    assert numbers == [129, 193, 257]
    assert (context.longterm.first, context.longterm.last) == (1, 129)
    assert (context.recent.first, context.recent.last) == (130, 193)
    assert len(context.window) == 64
    for line in (
        "Starting compaction (129 memories, 64 imm",
        "Compaction complete (first summary)",
        "Short-term summary updated (",
        "Long-term summary updated (",
        "Compaction complete (waterfall)",
    ):
        assert logged.having(f"INFO compaction Mira: {line}"), logged.lines
    memory.close()


@pytest.mark.parametrize(
    ("tokens", "share", "reason"),
    [
        (4000, 0.59, None),
        (4000, 0.61, COUNT),
        (6000, 0.72, None),
        (6000, 0.74, COUNT),
        (8000, 0.79, None),
        (8000, 0.81, COUNT),
        (32_000, 0.79, None),
        (32_000, 0.81, COUNT),
    ],
)
def test_a_compaction_by_count_waits_until_the_prompt_is_well_filled(agent, tokens, share, reason):
    """So much that there is no room for fifty more memories; in a large prompt, 80 %."""
    agent.config = CompactionConfig(min_saving_tokens=0).fitted(tokens)
    memory = agent.open()
    add(memory, 130)
    load = memory.load()
    memory.window.overhead = int(share * load.budget) - load.summaries - load.window
    assert due(memory) is reason
    memory.window.overhead = None
    assert due(memory) is COUNT, "before the first prompt the count alone decides"
    memory.close()


@pytest.mark.parametrize(
    ("tokens", "overhead", "least", "most"),
    [(4000, 500, 64, 64), (8000, 1000, 64, 64), (8000, 2000, 33, 63), (8000, 3500, 32, 32)],
)
def test_a_compaction_by_count_makes_a_larger_step_in_a_larger_budget(
    agent, tokens, overhead, least, most
):
    """Below the low mark, so far that half of the immediate window stays."""
    agent.config = CompactionConfig(min_saving_tokens=0).fitted(tokens)
    memory = agent.open()
    memory.window.overhead = overhead
    add_talk(memory, 130)
    while due(memory) is not COUNT:
        add_talk(memory, 1)
    assert least <= compact(memory, COUNT).kept <= most
    memory.close()


def test_one_prompt_with_much_besides_memories_starts_no_compaction(agent):
    """A whisper with many private words is followed by open words again."""
    agent.config = CompactionConfig(min_saving_tokens=0).fitted(8000)
    memory = agent.open()
    add(memory, 130)
    load = memory.load()
    of_memory = load.summaries + load.window
    for overhead, reason in ((2000, None), (6200, None), (2000, None), (6200, None), (6100, COUNT)):
        memory.report_prompt(of_memory + overhead)
        assert due(memory) is reason, overhead
    memory.close()


@pytest.mark.parametrize("share", [0.7, 0.87])
def test_a_compaction_waits_for_a_pause_of_the_talk(memory, share):
    add(memory, 8)
    load = memory.load()
    of_memory = load.summaries + load.window
    memory.window.overhead = int(share * load.budget) - of_memory
    assert memory.may_be_due()
    assert memory.may_be_due(in_talk=True) is None
    memory.window.overhead = int(0.92 * load.budget) - of_memory
    assert memory.may_be_due(in_talk=True), "unless a thought would soon have to wait for it"


def test_the_old_short_term_summary_is_merged_into_the_long_term_one(agent, memory):
    sources = agent.summarizer.sources
    memory.append(did("say good evening"), reason="he looks cold")
    assert compacted(memory, 7).outcome is CompactionOutcome.FIRST
    assert [source.tier for source in sources] == [Tier.RECENT]
    own = 'You say, "good evening" (your reason: he looks cold)'
    assert sources[0].lines[:2] == (own, "Thing 2 happened.")
    first = memory.context()
    assert (first.longterm, first.recent.first, first.recent.last) == (None, 1, 4)
    assert compacted(memory, 3).outcome is CompactionOutcome.WATERFALL
    assert next(s for s in sources if s.tier is Tier.LONGTERM).lines == (first.recent.text,)
    before = memory.context()
    compacted(memory, 3)
    longterm = [s for s in sources if s.tier is Tier.LONGTERM][-1]
    assert longterm.lines == (before.longterm.text.strip(), before.recent.text)
    assert covered(memory.context()) == list(range(1, 15))


@pytest.mark.parametrize("tier", list(Tier))
def test_a_failed_model_call_changes_nothing_and_is_retried_later(agent, memory, tier):
    compacted(memory, 8)
    add(memory, 3)
    before = memory.context()
    agent.summarizer.failing = {tier}
    with pytest.raises(CompactionError, match="does not answer"):
        compact(memory, COUNT)
    assert memory.context() == before
    assert due(memory) is None
    agent.clock.advance(31)
    assert due(memory) is COUNT
    with pytest.raises(CompactionError):
        compact(memory, COUNT)
    agent.clock.advance(31)
    assert due(memory) is None, "the second wait is longer than the first"
    agent.clock.advance(31)
    agent.summarizer.failing = set()
    compacted(memory, 2)
    assert covered(memory.context()) == list(range(1, 14))
    assert memory.compactor.failures == 0


@pytest.mark.parametrize("call", ["_datasync", "AppendedFile.append"])
def test_memories_that_cannot_be_synced_are_not_compacted(memory, monkeypatch, call):
    """Otherwise a power failure could lose the memories and keep a summary of them."""
    add(memory, 8)
    before = memory.context()

    def refuse(*_, **__):
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(f"keepsake.json_lines.{call}", refuse)
    with pytest.raises(CompactionError, match="cannot be written"):
        compact(memory, COUNT)
    assert memory.context() == before
    monkeypatch.undo()
    compact(memory, COUNT)
    assert memory.context().recent


def test_summaries_and_their_versions_are_files_in_the_vault(agent, memory):
    compacted(memory, 8, 3)
    folder = agent.folder / "summaries"
    post = frontmatter.load(folder / "recent.md")
    assert post.content == memory.context().recent.text
    assert (post["memory_range_start"], post["memory_range_end"]) == (5, 7)
    assert (post["kind"], post["model"]) == ("short-term summary", "scripted")
    assert post["tokens_before"] > post["tokens_after"] > 0
    assert frontmatter.load(folder / "longterm.md")["memory_range_end"] == 4
    names = [path.name for path in sorted(folder.glob("recent-[0-9]*.md"))]
    assert names == ["recent-20260501-120000-2.md", "recent-20260501-120000.md"], "in one second"


# -- summaries that people edit


def test_an_edited_summary_is_adopted_and_used_in_the_next_compaction(agent):
    memory = agent.open()
    compacted(memory, 8)
    path = edit(agent, "recent.md", BY_HAND)  # with a byte order mark and CRLF
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


@pytest.mark.parametrize("name", ["recent", "longterm"])
def test_a_version_of_an_edit_is_kept_when_it_is_adopted(agent, memory, name):
    """The next compactions replace the file and, in the end, its text."""
    compacted(memory, 8, 3)
    agent.clock.advance(60)
    edit(agent, f"{name}.md", BY_HAND)
    add(memory, 40)
    compacted(memory, 3)
    folder = agent.folder / "summaries"
    versions = [frontmatter.load(path) for path in folder.glob(f"{name}-2*.md")]
    (kept,) = (each for each in versions if each.content == BY_HAND)
    assert kept["model"] == EDITED
    assert BY_HAND not in (folder / "recent.md").read_text()


def test_an_edit_that_leaves_no_words_is_not_adopted(agent, memory):
    compacted(memory, 8)
    before = memory.context().recent.text
    edit(agent, "recent.md", "…")
    (note,) = memory.adopt_edits()
    assert "is empty" in note
    assert memory.context().recent.text == before


def test_an_edit_of_a_replaced_summary_is_set_aside_after_a_crash(agent, memory):
    """The process died after it wrote the compaction to the archive, before it wrote the file."""
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
    before = memory.context()
    expected = [] if not data else [data]
    assert any("recent.md" in note for note in memory.adopt_edits())
    assert memory.context() == before
    assert memory.check().whole
    asides = path.parent.glob("recent-edited-before-*.md")
    assert [each.read_bytes() for each in asides] == expected
    assert not memory.adopt_edits()


@pytest.mark.parametrize(
    ("text", "why"), [("x\n" * (MOST_LENGTH // 2), "too long"), (f"{BY_HAND}\0\0", "zero bytes")]
)
def test_a_summary_that_nobody_can_have_meant_is_set_aside(agent, memory, text, why):
    """Another file was saved there, or the machine crashed while an editor wrote."""
    compacted(memory, 8)
    before = memory.context()
    path = edit(agent, "recent.md", text)
    (note,) = memory.adopt_edits()
    assert why in note
    assert memory.context() == before
    (aside,) = path.parent.glob("recent-edited-before-*.md")
    assert aside.stat().st_size > len(text)
    assert not memory.adopt_edits()


def test_such_a_summary_that_the_archive_has_already_is_left_as_it_is(agent, memory, monkeypatch):
    """An earlier version adopted it; its file was set aside again and again."""
    compacted(memory, 8)
    edit(agent, "recent.md", "x " * 40)
    memory.adopt_edits()
    monkeypatch.setattr("keepsake.memory.summary_files.MOST_LENGTH", 50)
    folder = agent.folder / "summaries"
    before = sorted(folder.iterdir())
    assert not memory.adopt_edits()
    assert sorted(folder.iterdir()) == before


def test_a_summary_that_the_archive_has_lost_is_kept_and_told(agent, memory):
    """The archive was emptied, or restored from a backup that is older than the summary."""
    compacted(memory, 8)
    path = agent.folder / "summaries" / "recent.md"
    written = path.read_text()
    memory.close()
    (archive,) = (agent.folder / "archive").glob("*.jsonl")
    archive.write_bytes(b"")
    with LogLines() as logged:
        memory = agent.open()
    assert logged.having("restore it from a backup")
    assert not path.exists()
    (aside,) = path.parent.glob("recent-edited-before-*.md")
    assert aside.read_text() == written
    memory.close()
