"""What comes of what a player has just done."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from keepsake.agent.agent_log import logged
from keepsake.agent.runtime import running, runtime
from keepsake.agent.surroundings import identity_of, place_of, players_near
from keepsake.archive.privacy import WHISPER
from keepsake.archive.records import MemoryKind
from keepsake.contrib.evennia.minds import mind_of
from keepsake.language.heard import DEED
from keepsake.ports import SystemClock
from world.almanac import almanac_now
from world.deed.conditions import CONDITIONS, DeedScene
from world.deed.effects import EFFECTS, tell
from world.deed.progress import (
    DeedStep,
    WorldDeed,
    all_deeds,
    days_of,
    is_done,
    is_over,
    keep_record,
    note,
    progress,
    records,
)
from world.tags import id_of

_DAILY = frozenset({"take", "move", "others"})
"""Effects of a step of several days that come of each of them, and not of the last alone."""


def happened(player: Any, said: str = "", *, to: Any = None, how: str = "say") -> None:
    """See what comes of what a player has just done; a deed that breaks off breaks nothing else.

    Where an agent has come, it is seen what comes of that for the players there.

    Args:
        player: Whoever came here, spoke, took or gave something.
        said: What they said, or played.
        to: To whom they said it; None for all in the room.
        how: ``say``, ``whisper`` or ``pose``.
    """
    if player.is_agent:
        for each in players_near(player):
            happened(each)
        return
    if not player.has_account or player.location is None:
        return
    with logged(f"{player.key}: A deed broke off"):
        clock = runtime().clock if running() else SystemClock()
        scene = DeedScene(player, said, to, how, almanac_now(clock))
        mine, world = progress(player), records()
        for deed in all_deeds():
            if not is_over(deed, mine.get(deed.id, {}), world.get(deed.id, {})):
                _follow(deed, scene, mine.get(deed.id, {}))


def _follow(deed: WorldDeed, scene: DeedScene, mine: dict[str, Any]) -> None:
    """Take the steps of one deed whose time has come, in their order."""
    for step in deed.steps.values():
        times = [time for each in mine.get("steps", {}).values() for time in each]
        scene.last = datetime.fromisoformat(max(times)) if times else None
        scene.partners = []
        again = _has_lost(step, mine, scene)
        may = (again or _is_open(deed, step, mine, scene)) and _is_meant(step, scene)
        if may and all(CONDITIONS[name](scene, value) for name, value in step.when.items()):
            if again:
                tell(scene.player, step.then.get("you", ""))
                EFFECTS["make"](deed, step, scene, [scene.player])
                continue
            _take(deed, step, scene)
            mine = progress(scene.player)[deed.id]
            if mine["end"]:
                return


def _is_open(deed: WorldDeed, step: DeedStep, mine: Mapping[str, Any], scene: DeedScene) -> bool:
    before = all(is_done(deed.steps[each], mine) for each in step.after)
    today = f"{scene.now.moment:%Y-%m-%d}" in days_of(step, mine)
    return before and not today and not is_done(step, mine)


def _is_meant(step: DeedStep, scene: DeedScene) -> bool:
    """Whether the words may be meant for it: a talk with somebody whom it does not name is not."""
    to = scene.to
    named = "tell" in step.when or (to is not None and id_of(to) in step.when.get("near", ()))
    return "words" not in step.when or to is None or not to.is_agent or named


def _has_lost(step: DeedStep, mine: Mapping[str, Any], scene: DeedScene) -> bool:
    """Whether they have no more what they were given for it: they may ask for it again."""
    made = step.then.get("make", ())
    return is_done(step, mine) and any(not scene.has(scene.player, each) for each in made)


def _take(deed: WorldDeed, step: DeedStep, scene: DeedScene) -> None:
    party = [scene.player, *scene.partners]
    for player in party:
        note(deed, step, player, scene.now.moment)
    if not is_done(step, progress(scene.player)[deed.id]):
        tell(scene.player, step.then.get("each", ""))
        for name in step.then:
            if name in _DAILY:
                EFFECTS[name](deed, step, scene, party)
        return
    if step.end:
        names, keys = [p.key for p in party], [identity_of(p) for p in party]
        keep_record(deed.id, end=step.id, who=names, keys=keys, at=scene.now.moment.isoformat())
    _quote(step, scene)
    for name in step.then:
        if name in EFFECTS:
            EFFECTS[name](deed, step, scene, party)
    _answer(step, scene, party)


def _quote(step: DeedStep, scene: DeedScene) -> None:
    """Whom the step is told or given to keeps what it says there, as it was told, as its own."""
    persons = {step.when.get("tell"), *step.when.get("give", {}).values()} & {*scene.people}
    words = " ".join(step.then.get("you", "").split('"')[1::2])
    for person in persons if words and len(persons) == 1 else ():
        if (mind := mind_of(agent := scene.people[person])) is not None:
            how = f"{WHISPER} {scene.player.key} =" if scene.how == WHISPER else "say"
            mind.memory.remember(
                f"{how} {words}",
                MemoryKind.ACT,
                place=place_of(agent),
                event=DEED,
                to=scene.player.key,
                to_id=identity_of(scene.player),
            )


def _answer(step: DeedStep, scene: DeedScene, party: list[Any]) -> None:
    """Whom the step tells of have answered with it; what a model would say comes on top of it."""
    words = "words" in step.when
    for person in {*step.then.get("memory", ()), *step.then.get("says", ())} & {*scene.people}:
        if (mind := mind_of(scene.people[person])) is not None:
            for player in party:
                mind.thinker.answered(identity_of(player), words=words)
