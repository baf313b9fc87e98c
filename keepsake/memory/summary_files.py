"""The summaries as markdown in the vault, for people to read and to mend.

``recent.md`` and ``longterm.md`` hold what is valid now, ``recent-YYYYMMDD-HHMMSS.md`` and
``longterm-YYYYMMDD-HHMMSS.md`` every summary there ever was. All are derived from the
archive: a lost one is written again. A body that a person changed is noticed by the digest
in the front matter.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import frontmatter
import yaml

from keepsake.archive.records import Position, Summary, Tier
from keepsake.books.files import create_beside, names_beside, replace_file
from keepsake.memory.strategy import TIER_NAMES


@dataclass(frozen=True, slots=True)
class SummaryFile:
    """A summary as it stands in the vault."""

    path: Path
    text: str
    step: int  # the compaction or undoing after which it was written
    edited: bool  # a person changed the body since


class SummaryFolder:
    """``vault/agents/<name>/summaries/`` of one agent."""

    def __init__(self, folder: Path, agent: str) -> None:
        self.folder = folder
        self.agent = agent

    def path(self, tier: Tier) -> Path:
        """Where the present summary of that tier stands."""
        return self.folder / f"{tier.value}.md"

    def replace(self, tier: Tier, text: str, step: int, page: str) -> str:
        """Put a page into the file of a tier, atomically; an empty page takes the file away.

        Returns:
            A note for the log, if a person's edit was kept under another name first; or empty.

        Raises:
            OSError: The vault cannot be written.
        """
        path, note = self.path(tier), ""
        try:
            there = self.read(tier)
            is_persons = there is not None and there.edited and there.text != text.strip()
        except ValueError:
            is_persons = True  # what cannot be read is a person's too
        if is_persons:
            names = names_beside(path.with_name(f"{path.stem}-edited-before-{step}.md"))
            aside = path.rename(next(name for name in names if not name.exists()))
            note = f"{path.name} had been edited meanwhile; kept as {aside.name}"
        if page:
            replace_file(path, page)
        else:
            path.unlink(missing_ok=True)
        return note

    def keep(self, summary: Summary, page: str) -> None:
        """Write a page as the time-stamped file of its version, which is never replaced.

        Raises:
            OSError: The vault cannot be written.
        """
        stamped = self.folder / f"{summary.tier.value}-{summary.time:%Y%m%d-%H%M%S}.md"
        end = f"---\n\n{summary.text.strip()}\n".encode("utf-8", "replace")
        # A start that mends the files must not double what lies there already.
        same = self.folder.glob(f"{stamped.stem}*.md")
        if not any(path.read_bytes().endswith(end) for path in same):
            create_beside(stamped, page)

    def read(self, tier: Tier) -> SummaryFile | None:
        """The summary as it stands in the vault; None if there is no file.

        Raises:
            ValueError: The file is there and cannot be read as markdown with front matter.
        """
        path = self.path(tier)
        try:
            post = frontmatter.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return None
        except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
            raise ValueError(f"{path} cannot be read: {error}") from error
        text = post.content.strip()
        step = post.get("step", post.get("compaction"))
        if not isinstance(step, int):
            raise ValueError(
                f"{path}: its front matter has no compaction number: remove the file, and it is "
                "written again at the next start"
            )
        return SummaryFile(path, text, step, edited=post.get("digest") != _digest(text))

    def edit(self, tier: Tier, text: str) -> None:
        """Put other words into the file, as a person would: the front matter tells that it was.

        Raises:
            OSError: It is not there, or cannot be written.
        """
        path = self.path(tier)
        post = frontmatter.loads(path.read_text(encoding="utf-8"))
        post.content = text.strip()
        replace_file(path, frontmatter.dumps(post, sort_keys=False) + "\n")

    def page(self, summary: Summary, compaction: int, position: Position | None, step: int) -> str:
        """A summary with its front matter; ``position`` is that of its line in the archive."""
        text = summary.text.strip()
        metadata: dict[str, Any] = {
            "agent": self.agent,
            "kind": f"{TIER_NAMES[summary.tier]} summary",
            "memory_range_start": summary.first,
            "memory_range_end": summary.last,
            "memories": summary.count,
            "tokens_before": summary.tokens_before,
            "tokens_after": summary.tokens_after,
            "model": summary.model,
            "time": summary.time.isoformat(timespec="seconds"),
            "compaction": compaction,
            "step": step,
            "digest": _digest(text),
        }
        if position is not None:
            metadata["archive"] = str(position)
        return frontmatter.dumps(frontmatter.Post(text, **metadata), sort_keys=False) + "\n"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:16]
