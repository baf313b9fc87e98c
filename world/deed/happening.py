"""Checks which steps of deeds a player's action completes, and takes these steps."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Any

from keepsake.agent.runtime import now, runtime
from keepsake.agent.surroundings.identity import identity_of
from keepsake.agent.surroundings.naming import place_of
from keepsake.agent.surroundings.people import people_near
from keepsake.archive.message_types import MessageType
from keepsake.contrib.evennia.minds import mind_of
from keepsake.happening import ME, KnownVerb, Manner, Person, Speech
from keepsake.language.perception import COMMON_WORDS, sentences
from keepsake.language.perception import words as words_of
from keepsake.logs import Subsystem, get_logger, logged
from world.almanac import almanac
from world.deed.effects import EFFECTS, DeedScene, carried, make, tell
from world.deed.files import DeedStep, WorldDeed
from world.deed.progress import (
    DEEDS,
    days_of,
    is_done,
    is_over,
    progress,
    record_step,
    records,
    standing,
    update_record,
)
from world.source import find, id_of

log = get_logger(Subsystem.WORLD)

_DAILY = ("take", "move", "others")
"""Effects that a step of several days has on each day, not only on the last."""


def check_deeds(player: Any, said: str = "", *, to: Any = None, how: str = MessageType.SAY) -> None:
    """Check all deeds after a player's action; an error in a deed is logged and goes no further.

    After the arrival of an agent, check them for the players in the room.

    Args:
        player: The player or agent who came here, spoke, took or gave something.
        said: What they said, or played.
        to: The addressee; None for all in the room.
        how: ``say``, ``whisper`` or ``pose``.
    """
    if player.is_agent:
        for each in people_near(player):
            if each.has_account:
                check_deeds(each)
        return
    if not player.has_account or player.location is None or player.ndb.in_deed:
        return  # the effects of a deed set off no other deeds
    with logged(log, "A deed failed", player=player.key):
        mine = progress(player)
        world = records()
        begun = ((each, mine.get(each.id, {}), world.get(each.id, {})) for each in DEEDS.values())
        due = [(deed, own) for deed, own, done in begun if not is_over(deed, own, done)]
        if not due:
            return
        near = people_near(player)
        people = {id_of(each): each for each in near if each.is_agent and not each.db.asleep}
        others = [each for each in near if each.has_account and not each.is_agent]
        moment = almanac(now().astimezone())
        place = id_of(player.location)
        scene = DeedScene(player, said, to, how, moment, place, people, others)
        player.ndb.in_deed = True
        for deed, own in due:
            _follow(deed, scene, own)
    player.ndb.in_deed = False


def deed_waits_for(line: str, player: Any) -> bool:
    """Return whether a deed at the player's place waits for a line such as ``ring bell``."""
    verb, _, rest = line.partition(" ")
    place = id_of(player.location) if rest and getattr(player, "location", None) else ""
    steps = (step.when for deed in DEEDS.values() for step in deed.steps.values())
    here = (when for when in steps if place in when.at and not when.tell)
    return any(each.match(verb) and each.search(rest) for when in here for each in when.words)


def _follow(deed: WorldDeed, scene: DeedScene, mine: dict[str, Any]) -> None:
    """Take the steps of one deed whose conditions hold, in their order."""
    for step in deed.steps.values():
        times = [time for each in mine.get("steps", {}).values() for time in each]
        scene.last = datetime.fromisoformat(max(times)) if times else None
        scene.party = [scene.player]
        # A player who has lost the thing that a step gave may ask for it again.
        again = is_done(step, mine) and not all(carried(scene.player, each) for each in step.make)
        today = f"{scene.now.moment:%Y-%m-%d}" in days_of(step, mine)
        before = all(is_done(deed.steps[each], mine) for each in step.after)
        is_open = before and not today and not is_done(step, mine)
        if not (again or is_open) or not _holds(step, scene):
            continue
        if again:
            tell(scene.player, step.you)
            make(scene, step, deed)
            continue
        _take(scene, step, deed)
        mine = progress(scene.player)[deed.id]
        if mine["end"]:
            return


def _holds(step: DeedStep, scene: DeedScene) -> bool:
    """Return whether all conditions hold. Words to an agent whom the step does not name fail."""
    when = step.when
    to = scene.to
    if when.words and to is not None and to.is_agent and not (when.tell or id_of(to) in when.near):
        return False
    return all(CONDITIONS[name](scene, getattr(when, name)) for name in when.model_fields_set)


def _take(scene: DeedScene, step: DeedStep, deed: WorldDeed) -> None:
    player = scene.player
    party = scene.party
    for each in party:
        record_step(deed, step, each, scene.now.moment)
    scene.seen = ""
    is_last = is_done(step, progress(player)[deed.id])
    if not is_last:
        tell(player, step.each)
    elif step.end:
        names = [each.key for each in party]
        keys = [identity_of(each) for each in party]
        when = scene.now.moment.isoformat()
        update_record(deed.id, end=step.id, who=names, keys=keys, at=when)
    if is_last:
        _quote(step, scene)
    for name in EFFECTS:
        if getattr(step, name) and (is_last or name in _DAILY):
            EFFECTS[name](scene, step, deed)
    # The step is the answer of the agents in it, unless the player also asked something else.
    more = _says_more if runtime().acts_unprompted else _asks_more
    words = bool(step.when.words) and not more(step, scene)
    for person in {*step.memory, *step.says} & {*scene.people} if is_last else ():
        if (mind := mind_of(scene.people[person])) is not None:
            for each in party:
                mind.thinker.answered(identity_of(each), words=words)


def _says_more(step: DeedStep, scene: DeedScene) -> bool:
    """Return whether the player said more than what the step waits for.

    Then a model that can act is asked too. It sees what the step did and said, and does the rest.
    """
    listener = scene.people.get(step.when.tell)
    called = {each.casefold() for each in words_of(listener.key)} if listener else set[str]()
    rest = (each for each in words_of(scene.said) if each.casefold() not in COMMON_WORDS | called)
    return any(not any(word.match(each) for word in step.when.words) for each in rest)


def _asks_more(step: DeedStep, scene: DeedScene) -> bool:
    """Return whether the player also asked a question that the step does not wait for.

    A model that only talks would repeat what the step said, so nothing else is left to it.
    """
    asked = (each for each in sentences(scene.said) if each.rstrip("\"”'").endswith(("?", "？")))
    return any(not any(word.search(each) for word in step.when.words) for each in asked)


def _quote(step: DeedStep, scene: DeedScene) -> None:
    """Have the agent remember the words that the step's text puts in its mouth as its own."""
    persons = {step.when.tell, *step.when.give.values()} & {*scene.people}
    said = step.you.split('"')[1::2]
    words = " ".join(  # `"Herring," she says.` ends a sentence
        f"{each[:-1]}." if each[-1:] == "," and not then[:1].islower() else each
        for each, then in zip(said, [*said[1:], ""], strict=False)
    )
    if not words or len(persons) != 1:
        return
    agent = scene.people[persons.pop()]
    mind = mind_of(agent)
    if mind is None:
        return
    whispered = scene.how == MessageType.WHISPER
    player = Person(scene.player.key, identity_of(scene.player))
    speech = Speech(
        speaker=ME,
        words=words,
        to=(player,),
        manner=Manner.WHISPER if whispered else Manner.SAY,
        shown=f"{KnownVerb.WHISPER} {player.name} = {words}" if whispered else f"say {words}",
    )
    mind.memory.remember(speech, place=place_of(agent), event=MessageType.DEED)


# -- conditions


def _given(scene: DeedScene, gifts: Mapping[str, str]) -> bool:
    return all(
        person in scene.people
        and any(t.db.given_by == scene.player.id for t in carried(scene.people[person], thing))
        for thing, person in gifts.items()
    )


def _addressed(scene: DeedScene, person: str) -> bool:
    listener = scene.people.get(person)
    heard = listener is not None and scene.to in (None, listener)
    return heard and bool(scene.said) and scene.how != MessageType.POSE


def _players(scene: DeedScene, number: int) -> bool:
    scene.party += scene.others
    return len(scene.others) >= number - 1


def _elsewhere(scene: DeedScene, place: str) -> bool:
    room = find("room", place)
    there = room.contents_get(content_type="character") if room is not None else []
    found = [p for p in there if p.has_account and not p.is_agent and p is not scene.player]
    scene.party += found
    return bool(found)


def _reached(done: Mapping[str, Mapping[str, Any]], ends: tuple[str, ...]) -> bool:
    """Return whether all these deeds, or ends such as ``twelfth_cup.given_back``, are reached."""
    for deed, _, wanted in (each.partition(".") for each in ends):
        end = done.get(deed, {}).get("end", "")
        if not end or wanted not in ("", end):
            return False
    return True


def _waited(scene: DeedScene, hours: float) -> bool:
    return scene.last is not None and scene.now.moment - scene.last >= timedelta(hours=hours)


CONDITIONS: dict[str, Callable[[DeedScene, Any], bool]] = {
    "at": lambda scene, places: scene.place in places,
    "near": lambda scene, people: {*people} <= {*scene.people},
    "without": lambda scene, people: scene.people.keys().isdisjoint(people),
    "carry": lambda scene, things: all(carried(scene.player, thing) for thing in things),
    "give": _given,
    "tell": _addressed,
    "words": lambda scene, words: all(each.search(scene.said) for each in words),
    "unless": lambda scene, words: not any(each.search(scene.said) for each in words),
    "whisper": lambda scene, wanted: (scene.how == MessageType.WHISPER) == wanted,
    "sky": lambda scene, states: scene.now.states.issuperset(states),
    "hours": lambda scene, hours: scene.now.moment in hours,
    "players": _players,
    "elsewhere": _elsewhere,
    "done": lambda scene, ends: _reached(progress(scene.player), ends),
    "village": lambda scene, ends: _reached(records(), ends),
    "standing": lambda scene, least: all(standing(scene.player, p) >= n for p, n in least.items()),
    "wait": _waited,
}
"""The check of each condition, by its name in the files."""
