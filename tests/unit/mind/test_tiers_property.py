"""Whatever happens, every memory 1 … N is in exactly one tier, and nothing is stuck."""

from __future__ import annotations

import errno
import os
import tempfile
import threading
from dataclasses import dataclass, replace
from pathlib import Path

import frontmatter
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from keepsake.archive import history
from keepsake.archive import log as archive_module
from keepsake.archive.integrity import check
from keepsake.archive.records import MemoryKind, Tier
from keepsake.errors import ArchiveUnwritable, CompactionError, CompactionRunning
from keepsake.memory.types import CompactReason, MemoryContext
from tests.unit.mind.fake_agent import SMALL, FakeAgent, add, add_look, add_talk, clear, covered

sizes = st.integers(1, 6)
RULES = (
    "Ann told you: never open the cellar door (memory 2)",
    "You promised Tom: to bring the ladder back (memory 3)",
)


APPEND = archive_module.AppendedFile.append


def no_space(*_: object, **__: object) -> None:
    """What the system says to a write when there is no room left."""
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@dataclass(frozen=True)
class Tiers:
    """What an undoing has to bring back."""

    longterm: str
    recent: str
    summarised: int

    @classmethod
    def of(cls, context: MemoryContext, cleared: int) -> Tiers:
        longterm, recent = context.longterm, context.recent
        return cls(
            longterm.text if longterm else "",
            recent.text if recent else "",
            recent.last if recent else cleared,
        )


class Lives(RuleBasedStateMachine):
    """Random lives with every trigger and every failure."""

    def __init__(self):
        super().__init__()
        self.scratch = tempfile.TemporaryDirectory()
        self.lines = archive_module.SEGMENT_LINES
        archive_module.SEGMENT_LINES = 7
        self.agent = FakeAgent(Path(self.scratch.name) / "Mira")
        self.scores = [1]
        self.agent.more = {"importance": self.judged}
        self.told = self.cleared = 0
        self.before: list[Tiers] = []
        self.full_disk = False

    @initialize()
    def born(self):
        self.memory = self.agent.open()

    def teardown(self):
        self.free_disk()
        self.memory.close()
        archive_module.SEGMENT_LINES = self.lines
        self.scratch.cleanup()

    # -- what happens

    def lived(self, happen):
        """Have something happen; on a full disk it is refused before it has."""
        if not self.full_disk:
            happen()
            self.told = self.memory.tiers.last_number
            return
        with pytest.raises(ArchiveUnwritable):
            happen()
        assert self.memory.tiers.last_number == self.told

    @rule(count=st.integers(1, 9))
    def things_happen(self, count):
        self.lived(lambda: add(self.memory, count))

    @rule(count=st.integers(1, 12), words=st.integers(5, 60))
    def people_talk(self, count, words):
        self.lived(lambda: add_talk(self.memory, count, words))

    @rule(place=st.sampled_from(["Mill", "Ferry"]), words=st.integers(1, 200))
    def she_looks(self, place, words):
        self.lived(lambda: add_look(self.memory, place, words))

    @rule(who=st.sampled_from(["Tom", "Ann"]), answers=st.booleans())
    def somebody_asks(self, who, answers):
        line = f'{who} says to you, "Mira, where is the key of the mill?"'
        self.lived(lambda: self.memory.append(line, source=who))
        if answers:
            line = f"say to {who} It hangs on the nail."
            self.lived(lambda: self.memory.append(line, MemoryKind.ACT, reason="he waits"))

    @precondition(lambda self: not self.full_disk)
    @rule(times=st.integers(1, 3))
    def something_repeats(self, times):
        self.memory.append("Tick.")
        before = self.memory.tiers.last_number
        for _ in range(times):
            self.memory.append("Tick.")
        self.told = self.memory.tiers.last_number
        assert self.told == before

    # -- compactions

    @rule(reason=st.sampled_from(CompactReason))
    def somebody_or_something_compacts(self, reason):
        self.compact(reason)

    def compact(self, reason):
        before, made = self.memory.context(), self.memory.tiers.compactions
        try:
            result = self.memory.compact(reason)
        except CompactionError:
            after = self.memory.context()
            assert (after.longterm, after.recent) == (before.longterm, before.recent)
            assert after.window == before.window
            assert self.memory.tiers.compactions == made
            return None
        self.count_in(before, made)
        assert (self.memory.tiers.compactions > made) == bool(result.number)
        return result

    def count_in(self, before, made):
        if self.memory.tiers.compactions > made:
            self.before.append(Tiers.of(before, self.cleared))

    @rule(seconds=st.integers(1, 4000))
    def turns_pass(self, seconds):
        self.agent.clock.advance(seconds)
        if reason := self.memory.next_turn():
            before = self.memory.load().used
            result = self.compact(reason)
            works = self.agent.summarizer.failing or self.full_disk
            # To mask what agents looked at may be enough: then nothing is summarised.
            gained = result is None or result.number or self.memory.load().used < before
            assert gained, f"{reason} was called for nothing"
            assert result is not None or works

    @rule()
    def she_thinks(self):
        if reason := self.memory.before_thought():
            before = self.memory.load()
            result = self.compact(reason)
            after = self.memory.load()
            if not self.full_disk and before.overhead <= before.budget // 2:
                assert result is not None
                assert after.used <= after.budget

    @rule()
    def a_compaction_is_taken_back(self):
        if self.full_disk or not self.before:
            with pytest.raises(CompactionError):
                self.memory.undo()
            return
        undone = self.memory.undo()
        assert undone.left == len(self.before) - 1
        assert Tiers.of(self.memory.context(), self.cleared) == self.before.pop()
        load = self.memory.load()
        held = load.used <= load.budget and self.agent.config.recent_window >= 1
        assert self.memory.next_turn() is None or not held, "what a person took back stays so"

    @precondition(lambda self: not self.full_disk)
    @rule()
    def the_prompt_is_cleared(self):
        self.memory = clear(self.agent, self.memory)
        self.cleared, self.before = self.told, []

    @precondition(lambda self: not self.full_disk)
    @rule(count=st.integers(1, 5))
    def two_at_once(self, count):
        scripted = self.agent.summarizer
        scripted.gate, before = threading.Event(), self.memory.context()
        made = self.memory.tiers.compactions
        scripted.entered.clear()
        first = threading.Thread(target=self.compact_quietly)
        first.start()
        while first.is_alive() and not scripted.entered.wait(0.01):
            pass
        if first.is_alive():
            with pytest.raises(CompactionRunning):
                self.memory.compact(CompactReason.HIGH)
            with pytest.raises(CompactionRunning):
                self.memory.undo()
            assert self.memory.next_turn() is None
            add(self.memory, count)
            self.told += count
        scripted.gate.set()
        first.join()
        scripted.gate = None
        self.count_in(before, made)

    def compact_quietly(self):
        try:
            self.memory.compact(CompactReason.MANUAL)
        except CompactionError:
            return

    # -- what changes and what fails

    def judged(self, memory):
        """How much it matters, as those say who judge just now."""
        return self.scores[memory.number % len(self.scores)]

    @rule(scores=st.lists(st.sampled_from([1, 5, 7, 8, 10]), min_size=1, max_size=5))
    def they_judge_otherwise(self, scores):
        self.scores = scores

    @rule(failing=st.sets(st.sampled_from(Tier)), bad=st.booleans())
    def the_model_fails(self, failing, bad):
        self.agent.summarizer.failing = failing
        self.agent.summarizer.bad = bad

    @rule(immediate=sizes, recent=sizes)
    def sizes_change(self, immediate, recent):
        self.agent.config = replace(
            self.agent.config, immediate_window=immediate, recent_window=recent
        )

    @rule(
        budget=st.sampled_from([300, 500, 1000, 4000]),
        low=st.sampled_from([0.3, 0.6]),
        high=st.sampled_from([0.65, 0.85]),
        preserve=st.integers(0, 20),
        longterm=st.sampled_from([50, 100, 600]),
    )
    def budget_changes(self, budget, low, high, preserve, longterm):
        self.agent.config = replace(
            SMALL,
            context_tokens=budget + 10,
            reserve_tokens=10,
            low=low,
            high=high,
            preserve_memories=preserve,
            longterm_tokens=longterm,
            min_saving_tokens=5,
        )

    @rule(share=st.sampled_from([0, 0.1, 0.5, 0.9, 1.2]))
    def the_rest_of_the_prompt_changes(self, share):
        self.memory.window.overhead = int(share * self.agent.config.budget)

    @rule(constraints=st.sampled_from([(), RULES]), asleep=st.booleans())
    def she_lives_otherwise(self, constraints, asleep):
        self.agent.constraints, self.agent.asleep = constraints, asleep

    @rule()
    def the_disk_fills(self):
        self.full_disk = True
        archive_module.AppendedFile.append = no_space

    @rule()
    def free_disk(self):
        self.full_disk = False
        archive_module.AppendedFile.append = APPEND

    @rule(torn=st.none() | st.from_regex(rb"[^\n}]{1,30}", fullmatch=True))
    def restart_or_crash_in_the_middle_of_a_line(self, torn):
        self.free_disk()
        before, last = self.memory.context(), self.memory.tiers.state.standing
        self.memory.close()
        if torn is not None:
            segments = sorted((self.agent.folder / "archive").glob("0*.jsonl"))
            with segments[-1].open("ab") as file:
                file.write(b'{"type":"memory","n":' + torn)
        self.memory = self.agent.open()
        after = self.memory.context()
        assert (after.longterm, after.recent) == (before.longterm, before.recent)
        assert after.window == before.window
        assert self.memory.tiers.state.standing == last

    @rule(lost=st.booleans())
    def crash_between_commit_and_files(self, lost):
        """The files are gone, or still those of before the last compaction or undoing."""
        self.free_disk()
        self.memory.close()
        for path in (self.agent.folder / "summaries").glob("*.md"):
            if lost:
                path.unlink()
            elif path.stem in ("recent", "longterm"):
                post = frontmatter.load(path)
                post["step"] -= 1
                path.write_text(frontmatter.dumps(post))
        self.memory = self.agent.open()

    @precondition(lambda self: not self.full_disk)
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

    # -- what always holds

    @invariant()
    def every_memory_is_in_exactly_one_tier(self):
        if hasattr(self, "memory"):
            assert self.memory.tiers.last_number == self.told
            expected = list(range(self.cleared + 1, self.told + 1))
            assert covered(self.memory.context()) == expected

    @invariant()
    def what_is_shown_is_of_the_window(self):
        if hasattr(self, "memory"):
            context = self.memory.context()
            numbers = [memory.number for memory in context.shown]
            assert numbers == sorted(set(numbers))
            assert set(numbers) <= {memory.number for memory in context.window}

    @invariant()
    def the_archive_is_whole(self):
        if hasattr(self, "memory"):
            report = check(self.memory.archive, self.memory.context(), self.memory.summaries)
            assert report.problems == ()
            numbers = [m.number for m in self.memory.archive.read(1, self.told)]
            assert numbers == list(range(1, self.told + 1))
            assert len(history.undoable(self.memory.archive)) == len(self.before)


Lives.TestCase.settings = settings(
    max_examples=40,
    stateful_step_count=40,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
TestLives = Lives.TestCase
