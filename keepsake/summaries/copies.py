"""Keeps the summaries in the vault the same as the tiers, and takes over people's edits."""

from __future__ import annotations

import threading
from dataclasses import replace

from keepsake.archive.records import Position, Summary, Tier
from keepsake.compaction.dependencies import MemoryParts
from keepsake.errors import ArchiveUnwritable
from keepsake.events.types import MemoryChange
from keepsake.memory.summary_files import SummaryFile, SummaryFolder


class VaultCopies:
    """The two summary files of one memory.

    The archive has the summaries already, so in a vault that cannot be written only the copies
    for people are lost; the next start writes them.
    """

    def __init__(self, folder: SummaryFolder, parts: MemoryParts) -> None:
        self._folder, self._parts, self._tiers = folder, parts, parts.tiers
        self.in_step = threading.Lock()
        """Held from a commit until the files have followed it."""

    def keep_version(self, summary: Summary, position: Position | None) -> None:
        """Keep a version that a later rung made shorter as a time-stamped file."""
        folder, number = self._folder, self._tiers.state.standing
        try:
            folder.keep(summary, folder.page(summary, number, position, number))
        except OSError as error:
            self._parts.log(f"A longer version of the summary could not be written: {error}")

    def write_both(self, position: Position | None, *, keep: bool = False) -> None:
        """Put both summaries into their files, and take away the file of one that is not."""
        for tier in Tier:
            self._write(tier, position, keep=keep)

    def _write(self, tier: Tier, position: Position | None, *, keep: bool = False) -> None:
        state, step, folder = self._tiers.state, self._tiers.step, self._folder
        summary = state.summary(tier)
        page = folder.page(summary, state.standing, position, step) if summary else ""
        try:
            if note := folder.replace(tier, summary.text if summary else "", step, page):
                self._parts.log(note)
                self._tell(tier, 0, note)
            if summary and keep:
                folder.keep(summary, page)
        except OSError as error:
            self._parts.log(f"{folder.path(tier)} could not be written: {error}")

    def adopt_edits(self, *, mend: bool = False) -> list[str]:
        """Take over what a person changed; see :meth:`CascadeMemory.adopt_edits`.

        Args:
            mend: Also write again what a crash, or a person, took from the vault.
        """
        notes = []
        # Each file is read once: its front matter is most of what opening an agent costs.
        for tier in Tier:
            try:
                file = self._folder.read(tier)
                note = self._adopt_edit(tier, file)
                gone = self._tiers.state.summary(tier) is None
                if mend and (gone or file is None or file.step != self._tiers.step):
                    self._write(tier, None, keep=True)
            except ValueError as error:
                note = f"{error}; left alone, the archive's own text is used"
            except ArchiveUnwritable as error:
                if not mend:
                    raise
                note = f"{self._folder.path(tier).name} could not be mended: {error}"
            if note:
                self._parts.log(note)
                notes.append(note)
        return notes

    def _adopt_edit(self, tier: Tier, file: SummaryFile | None) -> str:
        with self._parts.lock:
            tiers, summary = self._tiers, self._tiers.state.summary(tier)
            if file is None or summary is None or not file.edited:
                return ""
            if file.text == summary.text.strip():
                return ""
            if file.step != tiers.step or not file.text:
                return f"{file.path} was edited, but is empty or belongs to another compaction"
            now = self._parts.outside.clock.now()
            position = self._parts.archive.append(
                {"type": "edit", "tier": tier.value, "text": file.text, "t": now.isoformat()}
            )
            tiers.state = tiers.state.edited(tier, file.text, now)
        self._tell(tier, len(file.text))
        self._write(tier, position)
        return f"{file.path.name} was edited by hand and adopted ({len(file.text)} chars)"

    def _tell(self, tier: Tier, size: int, problem: str = "") -> None:
        """Tell of an edit: how many characters it has now, or why it was not taken over."""
        agent, number = self._parts.agent, self._tiers.state.standing
        change = MemoryChange(agent=agent, op="edit", n=number, of=tier.value, size=size, by="hand")
        self._parts.outside.tell(replace(change, problem=problem))
