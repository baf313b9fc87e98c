"""Has agents live their days: they walk, work, meet and tell each other, by rule.

One call a minute for all of them (:func:`live`), on the reactor thread. What they have done is
read from their memories, so nothing else is kept. No thought comes of it: who perceives it
remembers it, as everything else.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from hashlib import blake2b
from itertools import combinations
from typing import Any

from keepsake.agent.agent_log import logged
from keepsake.agent.almanac import Almanac, almanac_now
from keepsake.agent.body import Body
from keepsake.agent.mind import Mind
from keepsake.agent.offstage.days import (
    Played,
    Scene,
    due_at,
    entry_now,
    is_due,
    is_named,
    played,
)
from keepsake.agent.offstage.hearsay import Rumour
from keepsake.agent.offstage.walking import way_to
from keepsake.agent.runtime import Runtime
from keepsake.agent.surroundings import hosts_guests, identity_of, is_at_home, place_of, show
from keepsake.archive.records import HEARSAY, SCENE, MemoryKind
from keepsake.books.commitments import Commitment, CommitmentKind

PACE = 5.0
"""Seconds between two lines of a scene."""
APART = timedelta(hours=6)
"""How long two who met have nothing to say to each other by rule."""
QUIET = timedelta(minutes=40)
"""How long an agent rests after any meeting."""
OWN_WILL = timedelta(minutes=20)
"""How long an agent stays where it went by its own will."""
OLD_SCENE_DAYS = 14


def live(minds: Sequence[Mind], runtime: Runtime) -> None:
    """A minute has passed: have everybody do what is theirs to do."""
    now = almanac_now(runtime.clock)
    free = [(mind, agent) for mind in minds if (agent := _free(mind)) is not None]
    free.sort(key=lambda each: each[1].id)
    here = {agent.key: agent for _, agent in free}
    for mind, agent in free:
        with logged(f"{agent.key}: Its day could not go on"):
            _go_on(mind, agent, now, here)
    rooms: dict[Any, list[tuple[Mind, Body]]] = {}
    for mind, agent in free:
        if not mind.sleeper.walking:
            rooms.setdefault(agent.location, []).append((mind, agent))
    for company in rooms.values():
        if len(company) > 1:
            with logged("A meeting could not go on"):
                _meet(company, now, runtime)


def _free(mind: Mind) -> Body | None:
    """The agent, if nothing keeps it from its day: a talk, sleep, a thought, a way, a player."""
    agent = mind.thinker.agent
    if mind.closed or agent is None or agent.location is None or not mind.hearsay.read:
        return None
    if agent.db.asleep or agent.db.paused or agent.has_account or mind.sleeper.walking:
        return None
    return None if mind.thinker.thinking or mind.thinker.in_talk else agent


# -- one agent's day


def _go_on(mind: Mind, agent: Body, now: Almanac, here: dict[str, Body]) -> None:
    """Go where its hour has it, or do what it does there."""
    for promise in mind.memory.commitments.items:
        if promise.kind is CommitmentKind.PROMISE and promise.time is not None:
            moment = due_at(promise.text, promise.time.astimezone(now.moment.tzinfo))
            if moment and is_due(moment, now.moment) and _keep(mind, agent, promise, moment, now):
                return
    entry = entry_now(agent.db.day or (), now)
    if entry is None or now.moment - mind.hearsay.went < OWN_WILL:
        return
    friend = here.get(entry.company)
    goal = entry.room or (friend.location if friend else None) or agent.home
    if agent.location is goal:
        _show_once(mind, agent, entry.line(now, agent.id), now.moment)
    elif goal is not None:
        _set_off(mind, agent, goal)


def _set_off(mind: Mind, agent: Body, goal: Any) -> None:
    """Walk there, unless somebody is to be received; the next minute goes on."""
    if mind.thinker.stays or hosts_guests(agent):
        return
    if is_at_home(agent):
        show(agent, f'{agent.key} says, "I\'m only stepping out to {goal.key}."', SCENE)
    mind.sleeper.walk(goal, lambda: None)


def _show_once(mind: Mind, agent: Body, does: str, now: datetime) -> None:
    """Have people see what it does, once a day."""
    seen, act = f"{agent.key} {does}.", f"emote {does}."
    if mind.hearsay.is_old(act, now, days=1):
        return
    if mind.hearsay.is_old(act, now):
        mind.hearsay.seen[act] = now.date()
    else:
        mind.memory.remember(act, MemoryKind.ACT, place=place_of(agent), event=SCENE)
    show(agent, seen, SCENE, work=True)


def _keep(mind: Mind, agent: Body, promise: Commitment, moment: datetime, now: Almanac) -> bool:
    """Go where it promised to be, and be there; False for a promise that names no place."""

    def is_meant(room: Any) -> bool:
        return is_named(promise.text, (room.key, *room.aliases.all()))

    if (ways := way_to(agent, is_meant)) is None:
        return False
    if ways:
        _set_off(mind, agent, ways[-1].destination)
    elif now.moment >= moment:
        to = f" {promise.who}" if promise.who else ""
        line = f'You are at {place_of(agent)}, as you promised{to}: "{promise.text}"'
        mind.memory.remember(line, MemoryKind.RESULT, place=place_of(agent))
        show(agent, f"{agent.key} looks about, here as promised.", SCENE)
        mind.keeper.was_kept(promise)
    return True


# -- meetings


def _meet(company: Sequence[tuple[Mind, Body]], now: Almanac, runtime: Runtime) -> None:
    """Two of those who are in one room turn to each other, if they have not done so lately."""
    rested = [each for each in company if _rested(each[0], now.moment)]
    for one, other in combinations(rested, 2):
        last = one[0].hearsay.met.get(identity_of(other[1]))
        if last is None or now.moment - last >= APART:
            lines = _scene(one, other, now, runtime.scenes)
            told = [_rumour(one, other, now.moment), _rumour(other, one, now.moment)]
            for number, line in enumerate(lines):
                runtime.timer.callLater(PACE * number, _play, line, one, other)
            for number, (teller, listener, rumour) in enumerate(filter(None, told), len(lines)):
                runtime.timer.callLater(PACE * number, _tell, rumour, teller, listener)
            if lines or any(told):
                return


def _rested(mind: Mind, now: datetime) -> bool:
    last = max(mind.hearsay.met.values(), default=None)
    return last is None or now - last >= QUIET


def _scene(
    one: tuple[Mind, Body], other: tuple[Mind, Body], now: Almanac, scenes: Sequence[Scene]
) -> list[Played]:
    """A scene that these two may play here and neither has seen lately: theirs before anybody's."""
    names, place = (one[1].key, other[1].key), place_of(one[1])
    fit: list[tuple[bool, bytes, list[Played]]] = []
    for scene in scenes:
        if (cast := scene.cast(names, place, now)) is not None:
            lines = played(scene, cast)
            if not any(_is_stale(mind, lines, now.moment) for mind, _ in (one, other)):
                dice = f"{now.moment.date()} {names} {lines[0].seen}".encode()
                fit.append((scene.is_for_anybody, blake2b(dice, digest_size=8).digest(), lines))
    return min(fit, key=lambda each: each[:2])[2] if fit else []


def _is_stale(mind: Mind, lines: Sequence[Played], now: datetime) -> bool:
    texts = (text for line in lines for text in (line.seen, line.act))
    return any(mind.hearsay.is_old(text, now, OLD_SCENE_DAYS) for text in texts)


def _rumour(
    teller: tuple[Mind, Body], listener: tuple[Mind, Body], now: datetime
) -> tuple[tuple[Mind, Body], tuple[Mind, Body], Rumour] | None:
    """What one of them has to tell the other that this one does not know."""
    whom = listener[1]
    rumour = teller[0].hearsay.for_(identity_of(whom), whom.key, now, listener[0].hearsay)
    return (teller, listener, rumour) if rumour is not None else None


def _together(one: tuple[Mind, Body], other: tuple[Mind, Body]) -> bool:
    """Whether they still are, and nobody has turned to one of them meanwhile."""
    both = [_free(mind) for mind, _ in (one, other)]
    return None not in both and one[1].location is other[1].location


def _play(line: Played, one: tuple[Mind, Body], other: tuple[Mind, Body]) -> None:
    if not _together(one, other):
        return
    (mind, actor), (_, whom) = (one, other) if line.actor == one[1].key else (other, one)
    _remember(mind, actor, line.act, whom, SCENE)
    show(actor, line.seen, SCENE)


def _tell(rumour: Rumour, teller: tuple[Mind, Body], listener: tuple[Mind, Body]) -> None:
    """Say it aloud, by whose word it is: whoever is there hears it, and may tell it on."""
    if not _together(teller, listener):
        return
    (mind, actor), (_, whom) = teller, listener
    facts, words = rumour.told_to(actor.key), rumour.words.replace("|", "||")
    _remember(mind, actor, f"say {rumour.words}", whom, HEARSAY, chain=str(facts["chain"]))
    whom.msg((f'{actor.key} says to you, "{words}"', {"type": HEARSAY, **facts}), from_obj=actor)
    said = f'{actor.key} says to {whom.key}, "{words}"'
    show(actor, said, HEARSAY, hidden_from=(whom,), **facts)


def _remember(
    mind: Mind, actor: Body, act: str, whom: Body, event: str, *, chain: str = ""
) -> None:
    mind.memory.remember(
        act,
        MemoryKind.ACT,
        place=place_of(actor),
        event=event,
        to=whom.key,
        to_id=identity_of(whom),
        chain=chain,
    )
