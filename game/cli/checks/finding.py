"""What a check of ``keepsake doctor`` found."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing looked at.

    Attributes:
        subject: What was looked at.
        well: Whether it is as it should be.
        what: What was seen.
        cure: What to do about it; empty when all is well.
    """

    subject: str
    well: bool
    what: str
    cure: str = ""
