"""What was said in private, in the conversation of a chat prompt.

The window shows whispers without their words, whoever is answered. The words follow in those
prompts that may show them. In a private talk they stay where a prompt first told them, and the next
one adds what is new, so that it begins like the one before. A prompt with other listeners has none
of them, and the next one that may show them tells them anew at its end.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from keepsake.archive.privacy import is_private, is_redacted
from keepsake.archive.records import Memory
from keepsake.happening import Deed, Result
from keepsake.language.perception import for_prompt
from keepsake.tasks.conversation import NOTED, own_line
from keepsake.tasks.forms.facts import Mark, Render
from keepsake.tasks.scene import LONGEST_LINE, Scene
from keepsake.tasks.stated import Confided, Statement

CONFIDED = "confided"
"""The block of ``talk.md``, and its variable. A template without it tells them in its ``turn``."""
_REFILLED = 75
"""The share of the room that is filled, in percent, when the oldest lines give way to new ones. So
most prompts begin like the one before."""


@dataclass(frozen=True, slots=True)
class Confidences:
    """Makes the statements of a form.

    Attributes:
        mark: Marks variables.
        render: Renders a block.
        count: Counts the tokens of texts.
        room: The most tokens of all private words in a prompt.
    """

    mark: Mark
    render: Render
    count: Callable[[Sequence[str]], int]
    room: int

    def newest(self, window: Sequence[Memory]) -> tuple[str, ...]:
        """Return the newest private lines that there is room for, oldest first."""
        lines = _lines_of(window)
        return tuple(lines[number] for number in self._newest(lines, self.room))

    def stated(self, scene: Scene, lost: Collection[Statement]) -> dict[Confided, Statement]:
        """Return what a prompt tells, each part with where it stands, in order.

        Args:
            lost: Statements for which the window has no room.
        """
        lines = _lines_of(scene.window)
        standing = self._standing(scene, lines, lost)
        told = [number for each in standing for number in each.numbers]
        new = [number for number in lines if number not in told]
        if self.count([*lines.values()]) > self.room:  # the oldest have no room
            new = [number for number in new if told and number > told[0]]
            if not told or self.count([lines[number] for number in (*told, *new)]) > self.room:
                standing = ()
                new = self._newest(lines, self.room * _REFILLED // 100)
        if new:
            standing = (*standing, Confided(scene.window[-1].number, tuple(new)))
        return {each: self._statement(each, lines) for each in standing}

    def _standing(
        self, scene: Scene, lines: Mapping[int, str], lost: Collection[Statement]
    ) -> tuple[Confided, ...]:
        """Return what stands already; nothing if one of its parts may not, or not there."""
        first = scene.window[0].number if scene.window else 0
        for each in scene.stated.confided:
            may = lines.keys() >= set(each.numbers)
            if not may or each.after < first or self._statement(each, lines) in lost:
                return ()
        return scene.stated.confided

    def _newest(self, lines: Mapping[int, str], room: int) -> list[int]:
        """Return the newest lines that fit into ``room`` tokens, by memory, oldest first."""
        found = list[int]()
        for number, line in reversed([*lines.items()]):
            room -= self.count([line])
            if room < 0:
                break
            found.insert(0, number)
        return found

    def _statement(self, each: Confided, lines: Mapping[int, str]) -> Statement:
        shown = [for_prompt(lines[number], limit=LONGEST_LINE) for number in each.numbers]
        values: dict[str, Any] = {CONFIDED: shown}
        about = ", ".join(map(str, each.numbers))
        rendered = tuple(self.render(CONFIDED, self.mark(values)))
        return Statement(each.after, f"{CONFIDED}: {about}", rendered)


def _lines_of(window: Iterable[Memory]) -> dict[int, str]:
    """Return the private lines of a window, by memory, oldest first.

    Own deeds are left out: what came of them stands among the plans and promises, or here.
    """
    return {
        each.number: f"you: {own_line(each)}" if each.is_own else for_prompt(each.line)
        for each in window
        if is_private(each) and not is_redacted(each) and not _is_own_deed(each)
    }


def _is_own_deed(memory: Memory) -> bool:
    """Return whether a memory is a deed of the agent itself, or says that its books have changed.

    What a search has found, and why a deed was refused, stands nowhere else.
    """
    what = memory.what
    if isinstance(what, Result):
        return what.done and what.verb in NOTED
    return memory.is_own and isinstance(what, Deed)
