"""Is everything there, once, and the same in the vault? A check that trusts nothing."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

from keepsake.archive.log import Archive
from keepsake.archive.records import Summary, Tier
from keepsake.memory.summary_files import SummaryFolder
from keepsake.memory.types import MemoryContext


@dataclass(frozen=True, slots=True)
class IntegrityReport:
    """What a check found."""

    lines: int
    memories: int
    problems: tuple[str, ...]

    @property
    def whole(self) -> bool:
        """Whether nothing is wrong."""
        return not self.problems


def check(
    archive: Archive, context: MemoryContext, summaries: SummaryFolder, *, cascade: bool = True
) -> IntegrityReport:
    """Read the whole archive and compare; takes about a second per 200,000 memories.

    ``context``: The tiers, taken before the call: memories that arrive during the check are not
    missed.
    ``cascade``: Whether the tiers are to cover every memory; a sliding window does not.
    """
    lines, numbers, cleared, problems = _read(archive)
    last = context.recent.last if context.recent else 0
    total = context.window[-1].number if context.window else last
    problems += numbering_problems(numbers)
    if numbers and total and numbers[-1] < total:
        problems.append(f"the archive ends at memory {numbers[-1]}, the window at {total}")
    if cascade:
        problems += tier_problems(context, first=cleared + 1)
    problems += _file_problems(context, summaries)
    return IntegrityReport(lines, len(numbers), tuple(problems))


def numbering_problems(numbers: Iterable[int], first: int = 1) -> list[str]:
    """Where the numbers 1, 2, 3 … miss one or double one; ``first`` is the one to begin with."""
    problems = []
    expected = first
    for number in numbers:
        if number > expected:
            problems.append(f"memories {expected}-{number - 1} are missing from the archive")
        elif number < expected:
            problems.append(f"memory {number} stands twice in the archive")
        expected = max(expected, number + 1)
    return problems


def tier_problems(context: MemoryContext, first: int = 1) -> list[str]:
    """Where the tiers leave a gap or overlap; ``first`` is the memory that they begin with."""
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


def _read(archive: Archive) -> tuple[int, list[int], int, list[str]]:
    """How many lines, the memories' numbers, up to where they were cleared, and problems."""
    lines, numbers, cleared, problems = 0, [], 0, []
    for position, record in archive.forwards():
        lines += 1
        if record is None:
            problems.append(f"the archive line {position} cannot be read")
            continue
        try:
            match record.get("type"):
                case "memory":
                    numbers.append(int(record["n"]))
                case "clear":
                    cleared = int(record["n"])
        except (KeyError, TypeError, ValueError):
            problems.append(f"the archive line {position} lacks its number")
    return lines, numbers, cleared, problems


def _file_problems(context: MemoryContext, summaries: SummaryFolder) -> list[str]:
    tiers = ((Tier.LONGTERM, context.longterm), (Tier.RECENT, context.recent))
    found = (_file_problem(tier, summary, summaries) for tier, summary in tiers)
    return [problem for problem in found if problem]


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
