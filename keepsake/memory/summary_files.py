"""Summaries as markdown files in the vault, for people to read and to correct.

``recent.md`` and ``longterm.md`` hold the current summaries. ``recent-YYYYMMDD-HHMMSS.md`` and
``longterm-YYYYMMDD-HHMMSS.md`` hold every version. All are derived from the archive: if the file
of a current summary is lost, it is written again. The digest in the front matter shows whether a
person changed the body.
"""

from __future__ import annotations

import hashlib
import re
import threading
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import frontmatter
import yaml

from keepsake import regular_files
from keepsake.archive.line_types import LineType
from keepsake.archive.summaries import Tier
from keepsake.archive.tiers import SummaryState, Tiers, TierView
from keepsake.books.files import free_name
from keepsake.errors import ArchiveUnwritable, KeepsakeError
from keepsake.events.types import MemoryChange
from keepsake.events.values import Author, MemoryOp
from keepsake.files import replace_file
from keepsake.json_lines import Record
from keepsake.logs import Subsystem, get_logger
from keepsake.memory.summary_text import has_words
from keepsake.memory.window import MemoryHost

log = get_logger(Subsystem.COMPACTION)

_STEP = re.compile(r"^step: (\d+)$", re.M)
_DIGEST = re.compile(r"^digest: '?([0-9a-f]{16})'?$", re.M)
"""The lines of the front matter that say whether a file is as it was written."""
MOST_LENGTH = 250_000
"""The most characters of an edited summary with its front matter: more than the page for edits
takes. Its tokens are counted on the reactor, so a file that was saved there by mistake would hold
up the game."""
_KINDS = {Tier.RECENT: "short-term summary", Tier.LONGTERM: "long-term summary"}


@dataclass(frozen=True, slots=True)
class SummaryFile:
    """The file of a summary in the vault."""

    path: Path
    text: str
    step: int  # the compaction or undo after which it was written
    edited: bool  # whether a person changed the body afterwards


class SummaryFolder:
    """The folder ``vault/agents/<name>/summaries/`` of one agent."""

    def __init__(self, folder: Path, agent: str) -> None:
        self.folder = folder
        self.agent = agent

    def path(self, tier: Tier) -> Path:
        """Return the path of the current summary of that tier."""
        return self.folder / f"{tier.value}.md"

    def read(self, tier: Tier) -> SummaryFile | None:
        """Read the file of the current summary of that tier; None if there is no file.

        Raises:
            ValueError: The file exists and cannot be read as markdown with front matter; or it was
                changed, and is too long or holds zero bytes, as after a crash of the machine.
        """
        path = self.path(tier)
        try:
            source = regular_files.read_text(path)
            if (unchanged := _as_written(path, source)) is not None:
                return unchanged
            if "\0" in source:
                raise ValueError(f"{path} cannot be read: it holds zero bytes, as after a crash")
            if len(source) > MOST_LENGTH:
                raise ValueError(f"{path} cannot be read: it is too long for a summary")
            post = frontmatter.loads(source)
        except FileNotFoundError:
            return None
        except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
            reason = getattr(error, "strerror", None) or error
            raise ValueError(f"{path} cannot be read: {reason}") from error
        text = post.content.strip()
        step = post.get("step", post.get("compaction"))
        if not isinstance(step, int):
            raise ValueError(f"{path}: its front matter has no compaction number")
        return SummaryFile(path, text, step, edited=post.get("digest") != _digest(text))

    def write(self, tier: Tier, state: SummaryState, step: int, *, keep: bool = False) -> str:
        """Write the summary of a tier to its file, or delete the file if there is no summary.

        Args:
            step: The compaction or undo that led to ``state``.
            keep: Whether to write a time-stamped file of this version, too.

        Returns:
            A note for the log if a person's edit, or a summary that the archive has lost, was kept
            under another name first; else empty.

        Raises:
            OSError: The vault cannot be written.
        """
        path = self.path(tier)
        summary = state.summary(tier)
        text = summary.text.strip() if summary else ""
        note = self._set_aside(tier, text, step)
        if summary is None:
            path.unlink(missing_ok=True)
            return note
        metadata: dict[str, Any] = {
            "agent": self.agent,
            "kind": _KINDS[tier],
            "memory_range_start": summary.first,
            "memory_range_end": summary.last,
            "tokens_before": summary.tokens_before,
            "tokens_after": summary.tokens_after,
            "model": summary.model,
            "time": summary.time.isoformat(timespec="seconds"),
            "compaction": state.standing,
            "step": step,
            "digest": _digest(text),
        }
        page = frontmatter.dumps(frontmatter.Post(text, **metadata), sort_keys=False) + "\n"
        replace_file(path, page)
        if keep:
            name = f"{tier.value}-{summary.time:%Y%m%d-%H%M%S}.md"
            replace_file(free_name(self.folder / name), page)
        return note

    def _set_aside(self, tier: Tier, text: str, step: int) -> str:
        """Give a file that may not be overwritten another name; return what the log says of that.

        That is a person's edit, and a summary of a later step than the archive has.

        Args:
            text: What will be written.
            step: The compaction or undo that led to it.
        """
        path = self.path(tier)
        try:
            there = self.read(tier)
            is_persons = there is not None and there.edited and there.text not in ("", text)
            is_ahead = there is not None and there.step > step and there.text != text
        except ValueError:
            is_persons = path.stat().st_size > 0  # a file that cannot be read is a person's too
            is_ahead = False
        if not (is_persons or is_ahead):
            return ""
        aside = path.rename(free_name(path.with_name(f"{path.stem}-edited-before-{step}.md")))
        if is_ahead:
            why = "is newer than the archive, which has lost lines: restore it from a backup"
            note = f"{path.name} {why}; kept as {aside.name}"
            log.warning(note, agent=self.agent)
        else:
            note = f"{path.name} had been edited meanwhile; kept as {aside.name}"
            log.info(note, agent=self.agent)
        return note


def _as_written(path: Path, source: str) -> SummaryFile | None:
    """Return the file if nobody has changed it since it was written; quick.

    It does without parsing the front matter, which would be most of the cost of opening an agent.
    """
    front, fence, body = source.partition("\n---\n")
    step = _STEP.search(front)
    digest = _DIGEST.search(front)
    if not (fence and step and digest):
        return None
    text = body.strip()
    if digest[1] != _digest(text):
        return None
    return SummaryFile(path, text, int(step[1]), edited=False)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:16]


class VaultCopies:
    """Keeps the two files of one memory equal to its tiers, and adopts people's edits.

    The archive already has the summaries. If the vault cannot be written, only the copies for
    people are missing; the next start writes them.
    """

    def __init__(self, folder: SummaryFolder, tiers: Tiers, host: MemoryHost) -> None:
        self._folder = folder
        self._tiers = tiers
        self._host = host
        self.in_step = threading.Lock()
        """Held from a commit until the files are written."""

    def write(self, tier: Tier, *, keep: bool = False) -> None:
        """Write the current summary of a tier to its file; see :meth:`SummaryFolder.write`."""
        tiers = self._tiers
        folder = self._folder
        try:
            note = folder.write(tier, tiers.state, tiers.step, keep=keep)
        except OSError as error:
            note = ""
            told = f"{folder.path(tier)} could not be written"
            log.error(told, agent=folder.agent, exc_info=error)
        if note:
            self._emit(tier, 0, note)

    def adopt_edits(self, *, mend: bool = False) -> list[str]:
        """Adopt a person's edits; see :meth:`AgentMemory.adopt_edits`.

        Args:
            mend: Whether to also restore files that a crash or a person removed from the vault.
        """
        notes = []
        # Each file is read once: parsing its front matter is most of the cost of opening an agent.
        for tier in Tier:
            try:
                file = self._folder.read(tier)
                note = self._adopt_edit(tier, file) if file is not None and file.edited else ""
                gone = self._tiers.state.summary(tier) is None
                if mend and (gone or file is None or file.step != self._tiers.step):
                    self.write(tier)
            except ValueError as error:
                note = f"{error}; the archive's own text is used"
                self.write(tier)
            except ArchiveUnwritable as error:
                if not mend:
                    raise
                note = f"{self._folder.path(tier).name} could not be mended: {error}"
            if note:
                log.info(note, agent=self._folder.agent)
                notes.append(note)
        return notes

    def edit(self, tier: Tier, text: str, was: str) -> str:
        """Replace the text of a summary; see :meth:`AgentMemory.edit_summary`."""
        summary = self._tiers.state.summary(tier)
        if summary is None:
            raise KeepsakeError(f"There is no {_KINDS[tier]}", "Wait for a compaction")
        if summary.text.strip() != was.strip():
            raise KeepsakeError(
                f"The {_KINDS[tier]} has changed meanwhile", "Load the page again, then edit it"
            )
        clean = text.strip()
        if not has_words(clean):
            raise KeepsakeError("A summary needs words", "Undo the compaction to be rid of it")
        file = SummaryFile(self._folder.path(tier), clean, self._tiers.step, edited=True)
        return self._adopt_edit(tier, file) or "Nothing was changed"

    def _adopt_edit(self, tier: Tier, file: SummaryFile) -> str:
        summary = self._tiers.state.summary(tier)
        if summary is None or file.text == summary.text.strip():
            return ""
        now = self._host.clock.now().isoformat()

        def line(tiers: TierView) -> Record | None:
            if file.step != tiers.step or not has_words(file.text):
                return None
            return {"type": LineType.EDIT, "tier": tier.value, "text": file.text, "t": now}

        after = self._tiers.write(line).state.summary(tier)
        adopted = after is not None and after.text == file.text
        # A version of the edit stays beside the file: the next compaction replaces the file.
        self.write(tier, keep=adopted)
        if not adopted:
            return f"{file.path} was edited, but is empty or belongs to another compaction"
        self._emit(tier, len(file.text))
        return f"{file.path.name} was edited by hand and adopted ({len(file.text)} chars)"

    def _emit(self, tier: Tier, size: int, problem: str = "") -> None:
        """Emit the event of an edit: its length in characters, or why it was not adopted."""
        agent = self._folder.agent
        number = self._tiers.state.standing
        change = MemoryChange(
            agent=agent, op=MemoryOp.EDIT, n=number, of=tier.value, size=size, by=Author.HAND
        )
        self._host.emit(replace(change, problem=problem))
