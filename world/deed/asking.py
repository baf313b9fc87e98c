"""What a player must do for a thing that a deed makes, when they ask somebody for it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from keepsake.contrib.evennia.wording import counted
from keepsake.language.perception import names
from world.deed.effects import carried
from world.deed.files import MadeThing, WorldDeed
from world.deed.progress import (
    DEEDS,
    THING_NAMES,
    days_of,
    is_done,
    is_over,
    progress,
    records,
)
from world.source import find, id_of


def needed_for(agent: Any, words: str, player: Any) -> dict[str, str]:
    """Return the deeds that an agent takes part in and whose things the words name.

    Returns:
        What the agent cannot do by itself, and what ``deeds`` tells the player about it, except
        for things that the player carries already:
        ``{"give comb of heather honey to Tom": "You must tell the bees …"}``.
    """
    done = progress(player)
    world = records()
    found: dict[str, str] = {}
    for deed in DEEDS.values():
        mine = done.get(deed.id, {})
        if is_over(deed, mine, world.get(deed.id, {})) or id_of(agent) not in _people_of(deed):
            continue
        if hint := hint_of(deed, mine):
            wanted = (each for each in _named(deed, words) if not carried(player, each.id))
            found |= {f"give {each.name} to {player.key}": hint for each in wanted}
    return found


def wished_by(agent: Any) -> tuple[str, ...]:
    """Return the names of the things that an agent waits for: what a deed says to give it.

    Things of deeds that are over for the whole world are no longer waited for.
    """
    me = id_of(agent)
    world = records()
    found: dict[str, None] = {}
    for deed in DEEDS.values():
        if is_over(deed, {}, world.get(deed.id, {})):
            continue
        wanted = {t for step in deed.steps.values() for t, to in step.when.give.items() if to == me}
        found.update(dict.fromkeys(filter(None, (_name_of(deed, thing) for thing in wanted))))
    return tuple(found)


def _name_of(deed: WorldDeed, thing: str) -> str:
    """Return the name of a thing of the world, or of one that a deed makes; empty for none."""
    made = deed.things.get(thing)
    if made is not None:
        return made.name
    if thing not in THING_NAMES and (existing := find("thing", thing)) is not None:
        THING_NAMES[thing] = str(existing.key)
    return THING_NAMES.get(thing, "")


def hint_of(deed: WorldDeed, mine: Mapping[str, Any]) -> str:
    """Return what a player is told of a deed that is not done; may be empty.

    Args:
        mine: The player's progress in it; empty if it is not begun.
    """
    times = mine.get("steps") or {}
    newest = sorted((max(when), name) for name, when in times.items() if name in deed.steps)
    steps = [deed.steps[name] for _, name in newest]
    hints = [step.hint for step in steps if step.hint and is_done(step, mine)]
    hint = hints[-1] if hints else deed.hint
    if steps and not is_done(steps[-1], mine):
        days = len(days_of(steps[-1], mine))
        hint = f"{hint} (Done on {counted(days, 'day')} of {steps[-1].days}.)"
    return hint


def _named(deed: WorldDeed, words: str) -> Iterator[MadeThing]:
    """Yield the things that the deed makes and the words name."""
    for thing in deed.things.values():
        if any(names(words, each) for each in (thing.name, *thing.aliases)):
            yield thing


def _people_of(deed: WorldDeed) -> set[str]:
    """Return the ids of the people who have a part in a deed."""
    found: set[str] = set()
    for step in deed.steps.values():
        found.update(step.memory, step.says, step.standing, step.when.near, {step.when.tell})
        found.update(step.when.give.values())
    return found - {""}  # a step that nobody is told; an agent of no file has no id either
