"""Facts of the moment that stand in a conversation, each where a prompt first told it.

A chat prompt does not tell in every turn where the character is, what it carries, whom it knows and
what it means to do. It tells each such fact once, and again when it has changed. The fact then
stands in the conversation, behind the memory that was the newest at that time. So the next prompt
begins like the one before, and a model server reads only what is new.

A fact that rests on private words never stands in the conversation: another turn, with other
listeners, shows it too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from keepsake.prompt.sections import PromptLine


@dataclass(frozen=True, slots=True)
class Statement:
    """A fact as a prompt told it.

    Attributes:
        after: The number of the memory behind which it stands; 0 for the beginning.
        about: What it tells of: ``place: The Kettle``, ``carried``. A later statement about the
            same replaces it.
        lines: Its lines, each with its section.
        place: The place that it describes; empty for none.
    """

    after: int
    about: str
    lines: tuple[PromptLine, ...]
    place: str = ""

    def says(self, other: Statement) -> bool:
        """Whether it tells the same about the same, wherever it stands."""
        return self.about == other.about and self.lines == other.lines


@dataclass(frozen=True, slots=True)
class Stated:
    """What stands in the conversation of one agent, from the prompts that were sent.

    Attributes:
        statements: In the order in which they were told.
        seen: The newest memory of the last prompt. What is new stands behind it.
    """

    statements: tuple[Statement, ...] = ()
    seen: int = 0

    def behind(self, first: int) -> Stated:
        """Return what a window shows that begins with the memory ``first``."""
        kept = tuple(each for each in self.statements if each.after >= first - 1)
        return self if kept == self.statements else Stated(kept, self.seen)

    def without(self, lost: Sequence[Statement]) -> Stated:
        """Return what stands without some statements."""
        return Stated(tuple(each for each in self.statements if each not in lost), self.seen)

    def lacks(self, now: Iterable[Statement]) -> tuple[Statement, ...]:
        """Return those of ``now`` that are not what was told last about the same."""
        last = {each.about: each for each in self.statements}
        return tuple(
            each for each in now if each.about not in last or not last[each.about].says(each)
        )

    def with_new(
        self,
        now: Sequence[Statement],
        newest: int,
        fits: Callable[[Sequence[Statement]], bool],
    ) -> Stated:
        """Return what stands after a prompt that tells what is so ``now``.

        Args:
            now: All facts of the moment.
            newest: The newest memory of the prompt.
            fits: Returns whether statements may stand. If they may not, those go that no longer
                hold: facts that have changed, and places where the character is no more.
        """
        kept = self.statements
        if not fits(kept):
            kept = tuple(each for each in kept if any(each.says(fact) for fact in now))
        before = Stated(kept, self.seen)
        return Stated((*kept, *before.lacks(now)), max(newest, self.seen))


NOTHING_STATED = Stated()
