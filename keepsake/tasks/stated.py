"""Facts of the moment that stand in a conversation, each where a prompt first told it.

A chat prompt does not tell in every turn where the character is, what it carries, whom it knows and
what it means to do. It tells each such fact once, and again when it has changed. Of a place it then
tells only the sentences that are new, such as those about the weather. The fact stands in the
conversation from then on, behind the memory that was the newest at that time. So the next prompt
begins like the one before, and a model server reads only what is new.

A fact that rests on private words never stands in the conversation: another turn, with other
listeners, shows it too. The private words themselves may stand there, as the numbers of their
memories: as long as each next prompt may show them too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from keepsake.prompt.sections import PromptLine


@dataclass(frozen=True, slots=True)
class Statement:
    """A fact as a prompt told it.

    Attributes:
        after: The number of the memory behind which it stands; 0 for the beginning.
        about: What it tells of: ``surroundings: The Kettle``. A later statement about the same
            replaces it, except for its parts.
        lines: Its lines, each with its section.
        place: The place that it describes; empty for none.
        parts: What it tells besides, which holds whatever is told later: quotes of a person.
        whole: If the lines tell only what has changed since the statement before it about the same,
            what they would be without that one; else empty.
    """

    after: int
    about: str
    lines: tuple[PromptLine, ...]
    place: str = ""
    parts: frozenset[str] = frozenset()
    whole: tuple[PromptLine, ...] = ()

    @property
    def fact(self) -> tuple[PromptLine, ...]:
        """All that holds according to it, and to the statements that it completes."""
        return self.whole or self.lines

    def says(self, other: Statement) -> bool:
        """Whether it tells the same about the same, wherever it stands."""
        return self.about == other.about and self.fact == other.fact


@dataclass(frozen=True, slots=True)
class Confided:
    """Private words that a prompt told, of which its window shows only that they were said.

    Attributes:
        after: The number of the memory behind which they stand.
        numbers: The memories that hold them, oldest first.
    """

    after: int
    numbers: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Stated:
    """What stands in the conversation of one agent, from the prompts that were sent.

    Attributes:
        statements: In the order in which they were told.
        seen: The newest memory of the last prompt. What is new stands behind it.
        confided: The private words that the last prompt told, in the order in which they were told.
        asides_through: The memory up to which the window of the last prompt had no asides, and the
            number of the newest compaction then; zeros if it had them all.
    """

    statements: tuple[Statement, ...] = ()
    seen: int = 0
    confided: tuple[Confided, ...] = ()
    asides_through: tuple[int, int] = (0, 0)

    @property
    def parts(self) -> frozenset[str]:
        """The parts of all statements."""
        return frozenset(part for each in self.statements for part in each.parts)

    def behind(self, first: int) -> Stated:
        """Return what a window shows that begins with the memory ``first``."""
        return self._only(lambda each: each.after >= first - 1)

    def without(self, lost: Sequence[Statement]) -> Stated:
        """Return what stands without some statements."""
        return self._only(lambda each: each not in lost)

    def among(self, now: Sequence[Statement]) -> Stated:
        """Return what stands of the facts that hold ``now``."""
        return self._only(lambda each: any(map(each.says, now)))

    def lacks(self, fact: Statement) -> bool:
        """Whether a fact is not what was told last about the same."""
        last = self.last(fact.about)
        return last is None or not last.says(fact)

    def last(self, about: str) -> Statement | None:
        """Return what was told last about something; None if nothing stands of it."""
        return next((each for each in reversed(self.statements) if each.about == about), None)

    def with_new(self, facts: Iterable[Statement], newest: int) -> Stated:
        """Return what stands after a prompt that told ``facts`` anew.

        ``newest``: The newest memory of that prompt.
        """
        statements = (*self.statements, *facts)
        return replace(self, statements=statements, seen=max(newest, self.seen))

    def _only(self, stays: Callable[[Statement], bool]) -> Stated:
        """Return the statements that stay, without changes of what does not."""
        kept = list[Statement]()
        lost = set[str]()
        for each in self.statements:
            if stays(each) and not (each.whole and each.about in lost):
                kept.append(each)
                lost.discard(each.about)
            else:
                lost.add(each.about)
        return replace(self, statements=tuple(kept))


NOTHING_STATED = Stated()
