"""Integrity check: every memory exists exactly once, and the vault's files match the archive."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise

from keepsake.archive.line_types import LineType
from keepsake.archive.log import Archive
from keepsake.archive.summaries import Summary, Tier
from keepsake.memory.summary_files import SummaryFolder
from keepsake.memory.types import MemoryContext


@dataclass(frozen=True, slots=True)
class IntegrityReport:
    """The result of a check."""

    lines: int
    memories: int
    problems: tuple[str, ...]
    newest: int = 0  # the number of the last memory in the archive
    cleared: int = 0  # the last memory that was cleared from the prompt

    @property
    def whole(self) -> bool:
        """Whether the check found no problem."""
        return not self.problems


def check(archive: Archive, context: MemoryContext, summaries: SummaryFolder) -> IntegrityReport:
    """Check the whole archive with :func:`check_lines`, and compare it with tiers and files.

    ``context``: The tiers, read before the call, so that memories that arrive during the check do
    not count as missing.
    """
    read = check_lines(archive)
    last = context.recent.last if context.recent else 0
    total = context.window[-1].number if context.window else last
    problems = list(read.problems)
    if read.newest and total and read.newest < total:
        problems.append(f"the archive ends at memory {read.newest}, the window at {total}")
    problems += tier_problems(context, first=read.cleared + 1)
    tiers = ((Tier.LONGTERM, context.longterm), (Tier.RECENT, context.recent))
    problems += filter(None, (_file_problem(*each, summaries) for each in tiers))
    return replace(read, problems=tuple(problems))


def check_lines(archive: Archive) -> IntegrityReport:
    """Check that every line is readable and no memory is missing: a second per 200,000 memories."""
    lines = 0
    memories = 0
    newest = 0
    cleared = 0
    problems = list[str]()
    expected = 1
    for position, record in archive.forwards():
        lines += 1
        if record is None:
            problems.append(f"the archive line {position} cannot be read")
            continue
        if (kind := record.get("type")) not in (LineType.MEMORY, LineType.CLEAR):
            continue
        try:
            number = int(record["n"])
        except (KeyError, TypeError, ValueError):
            problems.append(f"the archive line {position} has no number")
            continue
        if kind == LineType.CLEAR:
            cleared = number
            continue
        if number > expected:
            problems.append(f"memories {expected}-{number - 1} are missing from the archive")
        elif number < expected:
            problems.append(f"memory {number} is in the archive twice")
        newest = number
        memories = memories + 1
        expected = max(expected, number + 1)
    return IntegrityReport(lines, memories, tuple(problems), newest, cleared)


def tier_problems(context: MemoryContext, first: int = 1) -> list[str]:
    """Return gaps and overlaps of the tiers, which should begin with memory ``first``."""
    problems = []
    spans = [
        (summary.tier.value, summary.first, summary.last)
        for summary in (context.longterm, context.recent)
        if summary
    ]
    spans += [("window", memory.number, memory.number) for memory in context.window]
    if spans and spans[0][1] != first:
        problems.append(f"the tiers begin at memory {spans[0][1]}, not at {first}")
    for (left, _, end), (right, start, _) in pairwise(spans):
        if start != end + 1:
            problems.append(f"{left} ends at memory {end}, but {right} begins at {start}")
    if context.longterm and not context.recent:
        problems.append("there is a long-term summary but no short-term one")
    return problems


def _file_problem(tier: Tier, summary: Summary | None, summaries: SummaryFolder) -> str | None:
    try:
        file = summaries.read(tier)
    except ValueError as error:
        return str(error)
    if summary is None:
        return f"{file.path.name} exists, but there is no such summary" if file else None
    if file is None:
        return f"{summaries.path(tier).name} is missing; the next start writes it again"
    if file.text != summary.text.strip():
        return f"{file.path.name} differs from the archive"
    return None
