"""Whatever happens, every memory 1 … N is in exactly one tier."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path

import frontmatter
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from game.mind import archive as archive_module
from game.mind.errors import CompactionError
from game.mind.integrity import check
from game.mind.memory import CompactReason
from game.mind.records import Tier
from tests.mind.lives import SMALL, Life, covered, live

sizes = st.integers(1, 6)


class Lives(RuleBasedStateMachine):
    """Random lives with crashes, failing models, changed sizes and edited summaries."""

    def __init__(self):
        super().__init__()
        self.scratch = tempfile.TemporaryDirectory()
        self.lines = archive_module.SEGMENT_LINES
        archive_module.SEGMENT_LINES = 7
        self.life = Life(Path(self.scratch.name) / "Mira")
        self.told = 0

    @initialize()
    def born(self):
        self.memory = self.life.open()

    def teardown(self):
        self.memory.close()
        archive_module.SEGMENT_LINES = self.lines
        self.scratch.cleanup()

    @rule(count=st.integers(1, 9))
    def things_happen(self, count):
        live(self.memory, count)
        self.told += count

    @rule(times=st.integers(1, 3))
    def something_repeats(self, times):
        self.memory.append("Tick.")
        before = self.memory.status().total
        for _ in range(times):
            self.memory.append("Tick.")
        self.told = self.memory.status().total
        assert self.told == before

    @rule(reason=st.sampled_from(CompactReason))
    def compact(self, reason):
        before = self.memory.context()
        try:
            self.memory.compact(reason)
        except CompactionError:
            assert self.memory.context() == before

    @rule(seconds=st.integers(1, 4000))
    def turns_pass(self, seconds):
        self.life.clock.advance(seconds)
        if reason := self.memory.next_turn():
            self.compact(reason)

    @rule(failing=st.sets(st.sampled_from(Tier)))
    def the_model_fails(self, failing):
        self.life.summarizer.failing = failing

    @rule(immediate=sizes, recent=sizes)
    def sizes_change(self, immediate, recent):
        self.life.config = replace(SMALL, immediate_window=immediate, recent_window=recent)

    @rule()
    def restart(self):
        before = self.memory.context()
        self.memory.close()
        self.memory = self.life.open()
        assert self.memory.context() == before

    @rule(torn=st.binary(min_size=1, max_size=30).filter(lambda b: b"\n" not in b))
    def crash_in_the_middle_of_a_line(self, torn):
        before = self.memory.context()
        self.memory.close()
        segments = sorted((self.life.folder / "archive").glob("0*.jsonl"))
        with segments[-1].open("ab") as file:
            file.write(b'{"type":"memory","n":' + torn)
        self.memory = self.life.open()
        assert self.memory.context() == before

    @rule()
    def crash_between_commit_and_files(self):
        self.memory.close()
        for path in (self.life.folder / "summaries").glob("*.md"):
            path.unlink()
        self.memory = self.life.open()

    @rule(tier=st.sampled_from(Tier), text=st.sampled_from(["I met Tom.", "I lost the key."]))
    def a_person_edits(self, tier, text):
        path = self.memory.summaries.path(tier)
        if path.exists():
            post = frontmatter.load(path)
            post.content = text
            path.write_text(frontmatter.dumps(post))
            self.memory.adopt_edits()
            context = self.memory.context()
            summary = context.longterm if tier is Tier.LONGTERM else context.recent
            assert summary.text == text

    @invariant()
    def every_memory_is_in_exactly_one_tier(self):
        if hasattr(self, "memory"):
            assert self.memory.status().total == self.told
            assert covered(self.memory.context()) == list(range(1, self.told + 1))

    @invariant()
    def the_archive_is_whole(self):
        if hasattr(self, "memory"):
            report = check(self.memory.archive, self.memory.context(), self.memory.summaries)
            assert report.problems == ()
            numbers = [m.number for m in self.memory.archive.read(1, self.told)]
            assert numbers == list(range(1, self.told + 1))


Lives.TestCase.settings = settings(
    max_examples=60,
    stateful_step_count=40,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
TestLives = Lives.TestCase
