"""Keeps the summaries in the vault the same as the tiers, and takes over people's edits."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from keepsake.archive.records import Position, Summary, Tier
from keepsake.compaction.dependencies import MemoryParts
from keepsake.errors import ArchiveUnwritable
from keepsake.events.types import MemoryChange
from keepsake.summaries.files import SummaryFile, SummaryFolder


class VaultCopies:
    """The two summary files of one memory."""

    def __init__(self, folder: SummaryFolder, parts: MemoryParts) -> None:
        self._folder, self._parts, self._tiers = folder, parts, parts.tiers
        self._log = parts.log
        self.in_step = threading.Lock()
        """Held from a commit until the files have followed it."""

    def keep_version(self, summary: Summary, position: Position) -> None:
        """Keep a version that a later rung made shorter as a time-stamped file."""
        with self._only_logged("A longer version of the summary"):
            self._folder.keep_version(summary, self._tiers.state.standing, position)

    def write_both(self, position: Position | None, *, keep: bool = False) -> None:
        """Put both summaries into their files, and take away the file of one that is not."""
        for tier in Tier:
            self._follow(tier, position, keep=keep)

    def _follow(self, tier: Tier, position: Position | None, *, keep: bool = False) -> None:
        """Make the file what the tier is.

        The archive has the summary already, so in a vault that cannot be written only the copy
        for people is lost; the next start writes it.
        """
        state, step = self._tiers.state, self._tiers.step
        summary, number = state.summary(tier), state.standing
        with self._only_logged(str(self._folder.path(tier))):
            if summary is None:
                notes = self._folder.remove(tier, step)
            else:
                notes = self._folder.write(summary, number, position, step=step, keep=keep)
            for note in notes:
                self._log(note)
                self._edited(tier, 0, note)

    @contextmanager
    def _only_logged(self, what: str) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            self._log(f"{what} could not be written: {error}")

    def adopt_edits(self) -> list[str]:
        """Take over what a person changed; see :meth:`CascadeMemory.adopt_edits`."""
        notes = []
        for tier in Tier:
            try:
                note = self._adopt_edit(tier, self._folder.read(tier))
            except ValueError as error:
                note = _left_alone(error)
            if note:
                self._log(note)
                notes.append(note)
        return notes

    def mend(self) -> None:
        """Take over edits, and write again what a crash, or a person, took from the vault."""
        # Each file is read once: its front matter is most of what opening an agent costs.
        for tier in Tier:
            try:
                file = self._folder.read(tier)
                if note := self._adopt_edit(tier, file):
                    self._log(note)
                gone = self._tiers.state.summary(tier) is None
                if gone or file is None or file.step != self._tiers.step:
                    self._follow(tier, None, keep=True)
            except ValueError as error:
                self._log(_left_alone(error))
            except ArchiveUnwritable as error:
                self._log(f"{self._folder.path(tier).name} could not be mended: {error}")

    def _adopt_edit(self, tier: Tier, file: SummaryFile | None) -> str | None:
        with self._parts.lock:
            tiers, summary = self._tiers, self._tiers.state.summary(tier)
            if file is None or summary is None or not file.edited:
                return None
            if file.step != tiers.step or not file.text:
                return f"{file.path} was edited, but is empty or belongs to another compaction"
            if file.text == summary.text.strip():
                return None
            now = self._parts.outside.clock.now()
            position = self._parts.archive.append(
                {"type": "edit", "tier": tier.value, "text": file.text, "t": now.isoformat()}
            )
            tiers.state = tiers.state.edited(tier, file.text, now)
        self._edited(tier, len(file.text))
        self._follow(tier, position)
        return f"{file.path.name} was edited by hand and adopted ({len(file.text)} chars)"

    def _edited(self, tier: Tier, size: int, problem: str = "") -> None:
        """Tell of an edit: how many characters it has now, or why it was not taken over."""
        change = MemoryChange(
            agent=self._parts.agent,
            op="edit",
            n=self._tiers.state.standing,
            of=tier.value,
            size=size,
            by="hand",
            problem=problem,
        )
        self._parts.outside.tell(change)


def _left_alone(error: ValueError) -> str:
    return f"{error}; left alone, the archive's own text is used"
