"""Which lines about typed words mean them, and which do not, as somebody says who read them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from keepsake.tracing.typed.gathering import Line
from keepsake.tracing.typed.strands import Strand


@dataclass(frozen=True, slots=True)
class LineChoice:
    """Lines that were chosen by hand, or by a model that read them.

    Attributes:
        meant: These are about what was typed, whatever words they have.
        other: These are about something else.
    """

    meant: Collection[Line] = ()
    other: Collection[Line] = ()

    def of(self, about: Sequence[Strand]) -> Sequence[Strand]:
        """Return strands as they were chosen; the others stay as they are."""
        if not self.meant and not self.other:
            return about
        return [self._chosen(each) for each in about]

    def _chosen(self, strand: Strand) -> Strand:
        """Return a strand as it was chosen: it may have more lines than it had then."""
        if strand.has_any(self.other):
            return replace(strand, likely=False, refused=True)
        return replace(strand, likely=True) if strand.has_any(self.meant) else strand


AS_FOUND = LineChoice()
