"""What a player has begun and done."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from evennia.utils.utils import iter_to_str

from commands.base import PlayerCommand
from keepsake.contrib.evennia.wording import counted
from world.deed.progress import (
    WorldDeed,
    all_deeds,
    days_of,
    is_done,
    is_over,
    progress,
    records,
)

MOST_RUMOURS = 4
"""Deeds not begun of which a hint is shown."""


class CmdDeeds(PlayerCommand):
    """See what you have begun and done here, and what is talked of in the village.

    Usage:
      deeds

    A deed is something that somebody here will remember, and that leaves its
    mark on a place or on a person. Nothing tells you the way: look, ask, carry
    things about, and mind the hour and the tide. Some take two of you, some
    take days, and some can end in more than one way, of which the village gets
    one.
    """

    key = "deeds"
    aliases = ("quests", "score")
    help_category = "The world"

    def act(self) -> None:
        """Show all four lists, each if there is anything in it."""
        parts = (
            ("You have begun", self._begun()),
            ("You have done", self._done()),
            ("Done by others", _of_others(self.caller.key)),
            ("Talked of in the village", self._rumours()),
        )
        shown = [f"|w{title}|n\n{text}" for title, lines in parts if (text := "\n".join(lines))]
        self.msg(text=("\n\n".join(shown) or "Nothing is talked of.", {"type": "deeds"}))

    def _begun(self) -> Iterator[str]:
        for deed, mine, over in self._all():
            if mine and not over:
                yield f"  |c{deed.name}|n\n    {_newest_hint(deed, mine)}"

    def _done(self) -> Iterator[str]:
        for deed, mine, _ in self._all():
            if end := mine.get("end"):
                hint = deed.steps[end].hint if end in deed.steps else ""
                yield f"  |c{deed.name}|n\n    {hint}".rstrip()

    def _rumours(self) -> Iterator[str]:
        waiting = [d for d, mine, over in self._all() if d.hint and not mine and not over]
        first = self.caller.id % max(len(waiting), 1)  # not all are told the same
        told = [*waiting[first:], *waiting[:first]][:MOST_RUMOURS]
        yield from (f"  {deed.hint}" for deed in told)

    def _all(self) -> Iterator[tuple[WorldDeed, dict[str, Any], bool]]:
        done, world = progress(self.caller), records()
        for deed in all_deeds():
            mine = done.get(deed.id, {})
            yield deed, mine, is_over(deed, mine, world.get(deed.id, {}))


def _newest_hint(deed: WorldDeed, mine: dict[str, Any]) -> str:
    times = mine.get("steps") or {}
    newest = sorted((max(when), name) for name, when in times.items() if name in deed.steps)
    steps = [deed.steps[name] for _, name in newest]
    hints = [step.hint for step in steps if step.hint and is_done(step, mine)]
    hint = hints[-1] if hints else deed.hint
    if steps and not is_done(steps[-1], mine):
        days = len(days_of(steps[-1], mine))
        hint = f"{hint} (Done on {counted(days, 'day')} of {steps[-1].days}.)"
    return hint


def _of_others(me: str) -> Iterator[str]:
    world = records()
    for deed in all_deeds():
        who = world.get(deed.id, {}).get("who", ())
        if deed.once and who and me not in who:
            yield f"  |c{deed.name}|n, by {iter_to_str(who)}"
