"""Taking the newest compaction back: one more line in the archive.

The archive still has everything, so the summaries of before are read from it and the
memories stand word for word again. The line is the commit point, as for a compaction.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

from game.mind.archive.history import PastCompaction
from game.mind.archive.log import Archive
from game.mind.archive.records import Memory
from game.mind.archive.tier_lines import TakenBack
from game.mind.archive.tiers import Tiers
from game.mind.compaction.costs import TokenCounter
from game.mind.errors import ArchiveUnwritable, CompactionError
from game.mind.memory import Undone
from game.mind.ports import Clock
from game.mind.summaries.copies import VaultCopies


class Undoing:
    """Takes compactions of one memory back; the caller sees to it that none runs.

    Args:
        tiers: What is changed.
        lock: Guards the tiers.
        archive: Gets the line.
        copies: The files in the vault.
        scale: Weighs.
        clock: The present time.
        log: Takes one line for people.
    """

    def __init__(
        self,
        tiers: Tiers,
        lock: threading.Lock,
        archive: Archive,
        *,
        copies: VaultCopies,
        scale: TokenCounter,
        clock: Clock,
        log: Callable[[str], None],
    ) -> None:
        self._tiers, self._lock, self._archive = tiers, lock, archive
        self._copies, self._scale = copies, scale
        self._clock, self._log = clock, log

    def undo(self, past: Sequence[PastCompaction]) -> Undone:
        """Take the last of ``past`` back, which are those that stand.

        Raises:
            CompactionError: There is none.
            ArchiveUnwritable: It could not be archived; nothing was changed.
        """
        if not past:
            raise CompactionError(*self._why_none())
        last = past[-1]
        window = self._brought_back(last.before.summarised)
        with self._copies.in_step:
            with self._lock:
                tokens_before = self._weighed()
                back = self._taken_back(past)
                position = self._archive.append(back.to_record())
                self._tiers.undone(back, window)
                tokens_after = self._weighed()
            self._sync()
            self._copies.write_both(position)
        restored = (window[0].number, window[-1].number) if window else None
        detail = _detail(restored)
        self._log(f"Compaction {last.number} was taken back: {detail}")
        left = len(past) - 1
        return Undone(last.number, detail, restored, tokens_before, tokens_after, left, position)

    def _why_none(self) -> tuple[str, str]:
        if self._tiers.compactions and self._tiers.cleared and not self._tiers.standing:
            return (
                "what the compactions made was cleared from the prompt, so none can be taken back",
                "The archive still has every memory",
            )
        return "there is no compaction to take back", ""

    def _brought_back(self, summarised: int) -> list[Memory]:
        """The memories that stand word for word again, when S is ``summarised``."""
        now = self._tiers.summarised
        return self._archive.read(summarised + 1, now) if summarised < now else []

    def _taken_back(self, past: Sequence[PastCompaction]) -> TakenBack:
        last, tiers = past[-1], self._tiers
        again = past[-2] if len(past) > 1 else None
        return TakenBack(
            number=last.number,
            longterm=last.before.longterm,
            recent=last.before.recent,
            summarised=last.before.summarised,
            standing=last.before.standing,
            compactions=tiers.compactions,
            step=tiers.step + 1,
            total=tiers.last_number,
            time=self._clock.now(),
            last_compaction=again.time if again else None,
            verdict=again.verdict if again else None,
            rate=again.rate if again else None,
        )

    def _weighed(self) -> int:
        tiers, scale = self._tiers, self._scale
        return scale.summaries(tiers.longterm, tiers.recent) + scale.memories(tiers.window)

    def _sync(self) -> None:
        # The operating system has the line already; the background sync tries again.
        try:
            self._archive.sync()
        except ArchiveUnwritable as error:
            self._log(str(error))


def _detail(restored: tuple[int, int] | None) -> str:
    if restored is None:
        return "the summaries of before stand again"
    return f"memories {restored[0]}-{restored[1]} stand word for word again"
