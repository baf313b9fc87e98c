"""What a check of ``keepsake doctor`` found."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing looked at."""

    subject: str  # what was looked at
    well: bool  # whether it is as it should be
    what: str  # what was seen
    cure: str = ""  # what to do about it; empty when all is well
