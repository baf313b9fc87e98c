"""Random events: every memory 1 … N is always in exactly one tier, and compaction never stalls."""

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

from keepsake.archive import log as archive_module
from keepsake.archive.summaries import Tier
from keepsake.errors import ArchiveUnwritable, CompactionError, CompactionRunning
from keepsake.events.values import CompactReason
from keepsake.memory import history
from keepsake.memory.integrity import check
from keepsake.memory.plan import LEAST_VERBATIM
from keepsake.memory.summary_text import has_words
from keepsake.memory.types import MemoryContext
from tests.memories import did, seen
from tests.unit.mind.fake_agent import (
    SMALL,
    FakeAgent,
    add,
    add_look,
    add_talk,
    clear,
    compact,
    covered,
    due,
)
from tests.unit.mind.test_flood import shown_fits

sizes = st.integers(1, 6)
RULES = (
    "Ann told you: never open the cellar door (memory 2)",
    "You promised Tom: to bring the ladder back (memory 3)",
)

APPEND = archive_module.AppendedFile.append


def no_space(*_: object, **__: object) -> None:
    """Fail as a write to a full disk does."""
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@dataclass(frozen=True)
class UndoState:
    """What an undo must restore."""

    longterm: str
    recent: str
    summarised: int

    @classmethod
    def of(cls, context: MemoryContext, cleared: int) -> UndoState:
        longterm = context.longterm
        recent = context.recent
        return cls(
            longterm.text if longterm else "",
            recent.text if recent else "",
            recent.last if recent else cleared,
        )


class MemoryMachine(RuleBasedStateMachine):
    """The memory of an agent, with every trigger of compaction and every failure."""

    def __init__(self):
        super().__init__()
        self.scratch = tempfile.TemporaryDirectory()
        self.lines = archive_module.SEGMENT_LINES
        archive_module.SEGMENT_LINES = 7
        self.agent = FakeAgent(Path(self.scratch.name) / "Mira")
        self.scores = [1]
        self.asleep = False
        self.agent.more = {"importance": self.importance}
        self.total = 0
        self.cleared = 0
        self.undo_states: list[UndoState] = []
        self.full_disk = False

    @initialize()
    def open_memory(self):
        self.memory = self.agent.open()

    def teardown(self):
        self.free_disk()
        self.memory.close()
        archive_module.SEGMENT_LINES = self.lines
        self.scratch.cleanup()

    # -- events

    def append_by(self, action):
        """Append by ``action``. On a full disk it must fail and change nothing."""
        if not self.full_disk:
            action()
            self.total = self.memory.tiers.last_number
            return
        with pytest.raises(ArchiveUnwritable):
            action()
        assert self.memory.tiers.last_number == self.total

    @rule(count=st.integers(1, 9))
    def events_happen(self, count):
        self.append_by(lambda: add(self.memory, count))

    @rule(count=st.integers(1, 12), words=st.integers(5, 60))
    def people_talk(self, count, words):
        self.append_by(lambda: add_talk(self.memory, count, words))

    @rule(place=st.sampled_from(["Mill", "Ferry"]), words=st.integers(1, 200))
    def the_agent_looks(self, place, words):
        self.append_by(lambda: add_look(self.memory, place, words))

    @rule(who=st.sampled_from(["Tom", "Ann"]), answers=st.booleans())
    def somebody_asks(self, who, answers):
        line = f'{who} says to you, "Mira, where is the key of the mill?"'
        self.append_by(lambda: self.memory.append(seen(line, who)))
        if answers:
            line = f"say to {who} It hangs on the nail."
            self.append_by(lambda: self.memory.append(did(line), reason="he waits"))

    @precondition(lambda self: not self.full_disk)
    @rule(times=st.integers(1, 3))
    def an_event_repeats(self, times):
        self.memory.append(seen("Tick."))
        before = self.memory.tiers.last_number
        for _ in range(times):
            self.memory.append(seen("Tick."))
        self.total = self.memory.tiers.last_number
        assert self.total == before

    # -- compactions

    @rule(reason=st.sampled_from(CompactReason))
    def compaction_for_any_reason(self, reason):
        self.compact(reason)

    def compact(self, reason):
        before = self.memory.context()
        config = self.agent.config
        least = min(max(config.preserve_memories, LEAST_VERBATIM), len(before.window))
        no_room = self.memory.no_room()
        made = self.memory.tiers.compactions
        try:
            result = compact(self.memory, reason)
        except CompactionError:
            after = self.memory.context()
            assert (after.longterm, after.recent) == (before.longterm, before.recent)
            assert after.window == before.window
            assert self.memory.tiers.compactions == made
            return None
        assert no_room is None
        assert len(self.memory.context().window) >= least, "the newest memories stay"
        self.record_compaction(before, made)
        assert (self.memory.tiers.compactions > made) == bool(result.number)
        return result

    def record_compaction(self, before, made):
        if self.memory.tiers.compactions > made:
            self.undo_states.append(UndoState.of(before, self.cleared))

    @rule(seconds=st.integers(1, 4000))
    def time_passes(self, seconds):
        self.agent.clock.advance(seconds)
        if reason := due(self.memory, asleep=self.asleep):
            before = self.memory.load().used
            result = self.compact(reason)
            may_fail = self.agent.summarizer.failing or self.full_disk
            # Masking old results may be enough. Then nothing is summarised.
            gained = result is None or result.number or self.memory.load().used < before
            assert gained, f"{reason} was called for nothing"
            assert result is not None or may_fail

    @rule()
    def a_thought_begins(self):
        if reason := self.memory.before_thought():
            before = self.memory.load()
            result = self.compact(reason)
            if not self.full_disk and before.overhead <= before.budget // 4:
                assert result is not None
                assert shown_fits(self.memory)

    @rule()
    def a_compaction_is_undone(self):
        if self.full_disk or not self.undo_states:
            with pytest.raises(CompactionError):
                self.memory.undo()
            return
        undone = self.memory.undo()
        assert undone.left == len(self.undo_states) - 1
        assert UndoState.of(self.memory.context(), self.cleared) == self.undo_states.pop()
        assert due(self.memory, asleep=self.asleep) is None, "what a person undid stays undone"

    @precondition(lambda self: not self.full_disk)
    @rule()
    def the_prompt_is_cleared(self):
        self.memory = clear(self.agent, self.memory)
        self.cleared = self.total
        self.undo_states = []

    @precondition(lambda self: not self.full_disk)
    @rule(count=st.integers(1, 5))
    def two_compactions_at_once(self, count):
        scripted = self.agent.summarizer
        scripted.gate = threading.Event()
        before = self.memory.context()
        made = self.memory.tiers.compactions
        scripted.entered.clear()
        first = threading.Thread(target=self.compact_quietly)
        first.start()
        while first.is_alive() and not scripted.entered.wait(0.01):
            pass
        if first.is_alive():
            with pytest.raises(CompactionRunning):
                compact(self.memory, CompactReason.HIGH)
            with pytest.raises(CompactionRunning):
                self.memory.undo()
            assert due(self.memory, asleep=self.asleep) is None
            add(self.memory, count)
            self.total += count
        scripted.gate.set()
        first.join()
        scripted.gate = None
        self.record_compaction(before, made)

    def compact_quietly(self):
        try:
            compact(self.memory, CompactReason.MANUAL)
        except CompactionError:
            return

    # -- changes and failures

    def importance(self, memory):
        """Return the current importance of a memory."""
        return self.scores[memory.number % len(self.scores)]

    @rule(scores=st.lists(st.sampled_from([1, 5, 7, 8, 10]), min_size=1, max_size=5))
    def importance_changes(self, scores):
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
    def constraints_and_sleep_change(self, constraints, asleep):
        self.agent.constraints = constraints
        self.asleep = asleep

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
        before = self.memory.context()
        last = self.memory.tiers.state.standing
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
        """The files are lost, or older than the last compaction or undo."""
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

    # -- invariants

    @invariant()
    def every_memory_is_in_exactly_one_tier(self):
        if hasattr(self, "memory"):
            assert self.memory.tiers.last_number == self.total
            expected = list(range(self.cleared + 1, self.total + 1))
            assert covered(self.memory.context()) == expected

    @invariant()
    def every_summary_has_words(self):
        if hasattr(self, "memory"):
            assert all(has_words(each.text) for each in self.memory.context().summaries)

    @invariant()
    def only_the_window_is_shown(self):
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
            numbers = [m.number for m in self.memory.archive.read(1, self.total)]
            assert numbers == list(range(1, self.total + 1))
            assert len(history.undoable(self.memory.archive)) == len(self.undo_states)


MemoryMachine.TestCase.settings = settings(
    max_examples=40,
    stateful_step_count=40,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
TestMemoryMachine = MemoryMachine.TestCase
