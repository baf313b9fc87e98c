"""Why a candidate was found, for people to read."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import cached_property
from typing import overload

from keepsake.recall.ranking.candidates import CandidateList

BY_WORDS = "words: "
"""The prefix of a reason that lists the question's words in a document."""


class Reasons(Sequence[str]):
    """The reasons why a candidate was found, for people to read; found when they are read.

    Args:
        among: The candidates.
        place: Which of them it is.
        given: The places of those that got something for a question before them.
    """

    def __init__(self, among: CandidateList, place: int, given: Collection[int]) -> None:
        self._among = among
        self._place = place
        self._given = given

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[str, ...]: ...
    def __getitem__(self, index: int | slice) -> str | tuple[str, ...]:
        return self._all[index]

    def __len__(self) -> int:
        return len(self._all)

    def __repr__(self) -> str:
        return repr(self._all)

    @cached_property
    def _all(self) -> tuple[str, ...]:
        among = self._among
        question = among.question
        document = among.documents[self._place]
        matched = among.matched(self._place)
        found = [f"{BY_WORDS}{', '.join(matched)}"] if matched else []
        asker = question.asker
        is_named = among.traits[self._place].speaker in question.names
        if is_named or (asker is not None and document.is_by(asker)):
            found.append(f"said by {document.speaker}")
        if any(start <= document.time < end for start, end in question.times):
            found.append(f"{document.time.astimezone():%-d %B %Y}")
        if likes := among.likes[self._place]:
            found.append(f"meaning {max(likes.values()):.2f}")
        helped = (other for other in among.beside.get(self._place, ()) if self._is_helped_by(other))
        if (first := next(helped, None)) is not None:
            found.append(f"next to memory {among.documents[first].first}")
        return tuple(found)

    def _is_helped_by(self, other: int) -> bool:
        """Whether a neighbour raised the score: a question before it, or other words asked for."""
        if self._place in self._given and self._among.traits[other].asks:
            return True
        own = self._among.matched(self._place)
        return any(term not in own for term in self._among.matched(other))
