"""Deeds with consequences: what players do, as the files of ``world/deeds`` tell it.

All of it goes by rules, whatever a model says, and without one. :func:`happened` is called after
a player has come somewhere, said, taken or given something. What a player has done is an
attribute of theirs (``deeds``); what the world lives with is in Evennia's ``ServerConfig``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from evennia.objects.models import ObjectDB
from evennia.server.models import ServerConfig
from evennia.utils import create
from evennia.utils.dbserialize import deserialize
from evennia.utils.utils import iter_to_str

from game.agent.agent_log import logged
from game.agent.almanac import Almanac, almanac_now
from game.agent.services import running, services
from game.agent.surroundings import identity_of, people_near, players_near
from game.mind.archive.privacy import WHISPER
from game.mind.archive.records import POSE
from game.mind.language.deeds import DEED, KINDNESS, WRONG
from game.mind.ports import SystemClock
from typeclasses.everywhere import TAG_CATEGORY, find
from typeclasses.minds import mind_of

NOWHERE, YOU = "nowhere", "you"
"""Where an effect may put a thing, beside places and people: out of the world, to the player."""
SOMEBODY = "somebody"
"""Who did it, where whoever did it has been forgotten."""
SEEN_LESS = 2
"""How much less a deed matters to those who only saw it."""
LEFT_LYING = timedelta(days=1)
"""After which a thing that nobody who plays has with them lies where it belongs again."""
_DAILY = frozenset({"take", "move", "others"})
"""Effects of a step of several days that come of each of them, and not of the last alone."""
_ATTRIBUTE = _CONF = "deeds"


@dataclass(frozen=True, slots=True)
class DeedStep:
    """One thing to be done.

    Attributes:
        id: Its name in the file.
        when: Conditions, all of which must hold: names of :data:`CONDITIONS`, and their values.
        then: What comes of it: names of :data:`EFFECTS`, and their values.
        after: Steps that come before it.
        days: On how many different days it has to be done.
        end: Whether the deed is done with it; of several ends a player reaches one.
        hint: What ``deeds`` shows from then on.
    """

    id: str
    when: Mapping[str, Any]
    then: Mapping[str, Any]
    after: tuple[str, ...] = ()
    days: int = 1
    end: bool = False
    hint: str = ""


@dataclass(frozen=True, slots=True)
class WorldDeed:
    """Something that can be done in the world, and what comes of it.

    Attributes:
        id: The file's name without its ending.
        name: As players read it.
        hint: What is talked of in the village before it is begun; empty if nothing is.
        once: Whether it is done once in the world; else once by each player.
        steps: What has to be done, by the steps' names.
        made: Things that come into the world by it: name, aliases, description.
        homes: Where those of the world's things that it moves belong, such as ``room:quay``.
    """

    id: str
    name: str
    hint: str
    once: bool
    steps: Mapping[str, DeedStep]
    made: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    homes: Mapping[str, str] = field(default_factory=dict)


_deeds: dict[str, WorldDeed] = {}


def install(deeds: Mapping[str, WorldDeed]) -> None:
    """Have these deeds from now on, in place of those before."""
    _deeds.clear()
    _deeds.update(deeds)


def all_deeds() -> tuple[WorldDeed, ...]:
    """Every deed, in the order of their files."""
    return tuple(_deeds.values())


# -- what has been done


def progress(player: Any) -> dict[str, dict[str, Any]]:
    """By deed, a player's ``steps`` (their times, in ISO format) and the ``end`` they reached."""
    return dict(deserialize(player.attributes.get(_ATTRIBUTE)) or {})


def records() -> dict[str, dict[str, Any]]:
    """By deed, what the world lives with.

    ``end``, ``who`` (names) and ``keys`` (identities) of whoever came to an end last, ``changes``
    (which object, the former words, the present ones).
    """
    return dict(deserialize(ServerConfig.objects.conf(_CONF)) or {})


def doers(deed: WorldDeed) -> list[Any]:
    """The players who have begun or done it."""
    found = ObjectDB.objects.filter(db_attributes__db_key=_ATTRIBUTE).distinct()
    return sorted((each for each in found if deed.id in progress(each)), key=lambda who: who.key)


def standing(player: Any, person: str) -> int:
    """What a player is to the person of that id, by what they have done; 0 for nothing."""
    mine = progress(player)
    return sum(
        step.then.get("standing", {}).get(person, 0)
        for deed in all_deeds()
        for step in deed.steps.values()
        if _is_done(step, mine.get(deed.id, {}))
    )


def is_over(deed: WorldDeed, mine: Mapping[str, Any], world: Mapping[str, Any]) -> bool:
    """Whether it is done: by this player, or in all the world."""
    return bool(mine.get("end") or (deed.once and world.get("end")))


def _is_done(step: DeedStep, mine: Mapping[str, Any]) -> bool:
    return len(_days(step, mine)) >= step.days


def _days(step: DeedStep, mine: Mapping[str, Any]) -> set[str]:
    times = mine.get("steps", {}).get(step.id, ())
    return {f"{datetime.fromisoformat(time).astimezone():%Y-%m-%d}" for time in times}


# -- what happens


@dataclass
class DeedScene:
    """What a player has done just now, and what is around them.

    Attributes:
        player: Who did it.
        said: The words that they spoke; empty if they did not.
        to: To whom; None for all in the room.
        how: ``say``, ``whisper`` where nobody else heard it, ``pose`` where it was only played.
        now: The moment.
        place: The id of the room; empty for one of no file.
        people: The agents here that are awake, by id.
        partners: Other players who have a part in it: those here, and those a condition found.
        last: When the player did the step before.
    """

    player: Any
    said: str
    to: Any
    how: str
    now: Almanac
    place: str = ""
    people: dict[str, Any] = field(default_factory=dict)
    partners: list[Any] = field(default_factory=list)
    last: datetime | None = None

    def __post_init__(self) -> None:
        self.place = _id_of(self.player.location)
        near = people_near(self.player)
        self.people = {_id_of(p): p for p in near if p.is_agent and not p.is_asleep}
        self.others = [each for each in players_near(self.player) if not each.is_agent]

    def has(self, holder: Any, thing: str) -> list[Any]:
        """The things of that id that somebody carries."""
        return [each for each in holder.contents if _id_of(each) == thing]


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
    if not player.has_account or player.unannounced or player.location is None:
        return
    with logged(f"{player.key}: A deed broke off"):
        clock = services().clock if running() else SystemClock()
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
        if (again or _is_open(deed, step, mine, scene)) and all(
            CONDITIONS[name](scene, value) for name, value in step.when.items()
        ):
            if again:
                _tell(scene.player, step.then.get("you", ""))
                _make(deed, step, scene, [scene.player])
                continue
            _take(deed, step, scene)
            mine = progress(scene.player)[deed.id]
            if mine["end"]:
                return


def _is_open(deed: WorldDeed, step: DeedStep, mine: Mapping[str, Any], scene: DeedScene) -> bool:
    before = all(_is_done(deed.steps[each], mine) for each in step.after)
    today = f"{scene.now.moment:%Y-%m-%d}" in _days(step, mine)
    return before and not today and not _is_done(step, mine)


def _has_lost(step: DeedStep, mine: Mapping[str, Any], scene: DeedScene) -> bool:
    """Whether they have no more what they were given for it: they may ask for it again."""
    made = step.then.get("make", ())
    return _is_done(step, mine) and any(not scene.has(scene.player, each) for each in made)


def _take(deed: WorldDeed, step: DeedStep, scene: DeedScene) -> None:
    party = [scene.player, *scene.partners]
    for player in party:
        _note(deed, step, player, scene)
    if not _is_done(step, progress(scene.player)[deed.id]):
        _tell(scene.player, step.then.get("each", ""))
        for name in step.then:
            if name in _DAILY:
                EFFECTS[name](deed, step, scene, party)
        return
    if step.end:
        names, keys = [p.key for p in party], [identity_of(p) for p in party]
        _record(deed, end=step.id, who=names, keys=keys, at=scene.now.moment.isoformat())
    for name in step.then:
        if name in EFFECTS:
            EFFECTS[name](deed, step, scene, party)


def _note(deed: WorldDeed, step: DeedStep, player: Any, scene: DeedScene) -> None:
    mine = progress(player)
    own = mine.setdefault(deed.id, {"steps": {}, "end": ""})
    own["steps"].setdefault(step.id, []).append(scene.now.moment.isoformat())
    if step.end and _is_done(step, own):
        own["end"] = step.id
    player.attributes.add(_ATTRIBUTE, mine)


def _record(deed: WorldDeed, **facts: Any) -> dict[str, Any]:
    world = records()
    world[deed.id] = {"changes": []} | world.get(deed.id, {}) | facts
    ServerConfig.objects.conf(_CONF, world)
    return world[deed.id]


# -- conditions


def _at(scene: DeedScene, places: tuple[str, ...]) -> bool:
    return scene.place in places


def _carry(scene: DeedScene, things: tuple[str, ...]) -> bool:
    return all(scene.has(scene.player, thing) for thing in things)


def _give(scene: DeedScene, gifts: Mapping[str, str]) -> bool:
    return all(
        person in scene.people
        and any(t.db.given_by == scene.player.id for t in scene.has(scene.people[person], thing))
        for thing, person in gifts.items()
    )


def _told(scene: DeedScene, person: str) -> bool:
    listener = scene.people.get(person)
    heard = listener is not None and scene.to in (None, listener)
    return heard and bool(scene.said) and scene.how != POSE


def _players(scene: DeedScene, number: int) -> bool:
    scene.partners += scene.others
    return len(scene.others) >= number - 1


def _elsewhere(scene: DeedScene, place: str) -> bool:
    room = find("room", place)
    there = room.contents_get(content_type="character") if room is not None else []
    found = [p for p in there if p.has_account and not p.is_agent and p is not scene.player]
    scene.partners += found
    return bool(found)


def _done(scene: DeedScene, ends: tuple[tuple[str, str], ...]) -> bool:
    mine = progress(scene.player)
    return all(_reached(mine.get(deed, {}).get("end", ""), end) for deed, end in ends)


def _village(scene: DeedScene, ends: tuple[tuple[str, str], ...]) -> bool:
    world = records()
    return all(_reached(world.get(deed, {}).get("end", ""), end) for deed, end in ends)


def _reached(reached: str, wanted: str) -> bool:
    return reached == wanted if wanted else bool(reached)


def _known(scene: DeedScene, least: Mapping[str, int]) -> bool:
    return all(standing(scene.player, person) >= value for person, value in least.items())


def _waited(scene: DeedScene, hours: float) -> bool:
    return scene.last is not None and scene.now.moment - scene.last >= timedelta(hours=hours)


CONDITIONS: dict[str, Callable[[DeedScene, Any], bool]] = {
    "at": _at,
    "near": lambda scene, people: all(each in scene.people for each in people),
    "without": lambda scene, people: not any(each in scene.people for each in people),
    "carry": _carry,
    "give": _give,
    "tell": _told,
    "words": lambda scene, words: all(each.search(scene.said) for each in words),
    "unless": lambda scene, words: not any(each.search(scene.said) for each in words),
    "whisper": lambda scene, wanted: (scene.how == WHISPER) == wanted,
    "sky": lambda scene, states: scene.now.states.issuperset(states),
    "hours": lambda scene, hours: scene.now.moment in hours,
    "players": _players,
    "elsewhere": _elsewhere,
    "done": _done,
    "village": _village,
    "standing": _known,
    "wait": _waited,
}
"""By the name that a file gives it, whether a condition holds."""


# -- effects

type Effect = Callable[[WorldDeed, DeedStep, DeedScene, list[Any]], None]


def _named(text: str, name: str) -> str:
    return text.replace("{who}", name)


def _tell(reader: Any, text: str) -> None:
    if text:
        reader.msg((text, {"type": DEED}))


def _show_you(_deed: WorldDeed, step: DeedStep, scene: DeedScene, party: list[Any]) -> None:
    for player in party:
        others = [each.key for each in party if each is not player]
        _tell(player, step.then["you"].replace("{other}", iter_to_str(others)))


def _show_others(_deed: WorldDeed, step: DeedStep, scene: DeedScene, party: list[Any]) -> None:
    """Those who stand by see it; agents keep it, but for those who keep a memory of their own."""
    text = _named(step.then["others"], iter_to_str([each.key for each in party]))
    matters = max(step.then["importance"] - SEEN_LESS, 1)
    own = [find("agent", each) for each in step.then.get("memory", ())]
    for reader in scene.player.location.contents_get(content_type="character"):
        if reader not in party and reader not in own:
            reader.msg((text, {"type": DEED, "importance": matters}), from_obj=scene.player)


def _remember(_deed: WorldDeed, step: DeedStep, _scene: DeedScene, party: list[Any]) -> None:
    """A memory of who did it; once of each, as it goes into what is known of them."""
    for person, text in step.then["memory"].items():
        if (agent := find("agent", person)) is None:
            continue
        weight = step.then.get("standing", {}).get(person, 0)
        kind = KINDNESS if weight > 0 else WRONG if weight < 0 else DEED
        facts = {"type": kind, "importance": step.then["importance"], "to": agent.id}
        for player in party:
            others = iter_to_str([each.key for each in party if each is not player])
            name = f"{player.key}, together with {others}," if others else player.key
            agent.msg((_named(text, name), facts), from_obj=player)


def _say(_deed: WorldDeed, step: DeedStep, scene: DeedScene, _party: list[Any]) -> None:
    """Somebody says it of their own accord, and keeps it as their own words."""
    for person, words in step.then["says"].items():
        if (agent := scene.people.get(person)) is None:
            continue
        said = _named(words, scene.player.key)
        if (mind := mind_of(agent)) is not None:
            mind.actor.speak(agent, said, scene.player.key)
            mind.thinker.answered(identity_of(scene.player))
        else:
            agent.execute_cmd(f"talk {scene.player.key} = {said}")


def _make(deed: WorldDeed, step: DeedStep, scene: DeedScene, _party: list[Any]) -> None:
    for thing in step.then["make"]:
        made = deed.made[thing]
        for former in ObjectDB.objects.get_by_tag(f"thing:{thing}", category=TAG_CATEGORY):
            if former.db.made_for == scene.player.id:
                former.delete()
        obj = create.create_object(
            "typeclasses.objects.Object",
            key=made["name"],
            aliases=list(made["aliases"]),
            location=scene.player,
            home=scene.player.location,
            attributes=[("desc", made["desc"]), ("made_for", scene.player.id)],
        )
        obj.tags.add(f"thing:{thing}", category=TAG_CATEGORY)


def _use_up(_deed: WorldDeed, step: DeedStep, scene: DeedScene, _party: list[Any]) -> None:
    for thing in step.then["take"]:
        for holder in (scene.player, *scene.people.values()):
            if found := scene.has(holder, thing):
                found[0].delete()
                break


def _move(_deed: WorldDeed, step: DeedStep, scene: DeedScene, _party: list[Any]) -> None:
    for thing, where in step.then["move"].items():
        if (obj := find("thing", thing)) is not None:
            to = scene.player if where == YOU else find("room", where) or find("agent", where)
            _put(obj, None if where == NOWHERE else to)


def _put(thing: Any, where: Any) -> None:
    if where is None:
        thing.location = None
    else:
        thing.move_to(where, quiet=True, move_type="deed")
    thing.attributes.remove("given_by")


def _open(_deed: WorldDeed, step: DeedStep, _scene: DeedScene, _party: list[Any]) -> None:
    for way in step.then["open"]:
        unlock(way, opened=True)


def unlock(way: str, *, opened: bool) -> None:
    """Open or close a way such as ``quay:down``."""
    if (exit_ := find("exit", way)) is not None:
        who = "all()" if opened else "false()"
        exit_.locks.add(f"view:{who};traverse:{who}")


def _change(deed: WorldDeed, step: DeedStep, _scene: DeedScene, party: list[Any]) -> None:
    _change_back(deed)
    names, changes = iter_to_str([each.key for each in party]), []
    for target, words in step.then["change"].items():
        for old, new in words.items():
            named = _named(new, names)
            if _replace(target, old, named):
                changes.append((target, old, named))
    _record(deed, changes=[*records().get(deed.id, {}).get("changes", ()), *changes])


def _change_back(deed: WorldDeed) -> None:
    """Of a deed that each can do only the newest shows."""
    if not deed.once:
        for target, old, new in reversed(_record(deed)["changes"]):
            _replace(target, new, old)
        _record(deed, changes=[])


def _replace(target: str, old: str, new: str) -> bool:
    """Put ``new`` in place of ``old`` wherever the object of that id says it; whether it did."""
    obj = find("room", target) or find("thing", target) or find("agent", target)
    changed = False
    for name in _TEXTS if obj is not None else ():
        text = deserialize(obj.attributes.get(name))
        if text and (other := _replaced(text, old, new)) != text:
            obj.attributes.add(name, other)
            changed = True
    return changed  # not if somebody has written it anew by hand


_TEXTS = ("desc", "details", "profile", "examples")
"""Attributes whose words a deed may change."""


def _replaced(text: Any, old: str, new: str) -> Any:
    if isinstance(text, dict):
        return {key: _replaced(each, old, new) for key, each in text.items()}
    if isinstance(text, list):
        return [_replaced(each, old, new) for each in text]
    return str(text).replace(old, new)


EFFECTS: dict[str, Effect] = {
    "take": _use_up,
    "make": _make,
    "move": _move,
    "change": _change,
    "open": _open,
    "you": _show_you,
    "others": _show_others,
    "memory": _remember,
    "says": _say,
}
"""By the name that a file gives it, what an effect does; done in the file's order."""


# -- things that a deed needs


def is_wanted_elsewhere(thing: Any, person: Any) -> bool:
    """Whether a deed needs that thing, but not of ``person``, who does not love it either.

    They would keep it, and nobody could do the deed any more.
    """
    key, who = _id_of(thing), _id_of(person)
    needed = any(key in deed.homes or key in deed.made for deed in all_deeds())
    steps = [step for deed in all_deeds() for step in deed.steps.values()]
    meant = {step.when.get("give", {}).get(key) for step in steps}
    return needed and who not in meant and person.key not in (thing.db.loved_by or ())


def put_in_order(place: Any) -> None:
    """Have what belongs in that place lie there again, if nobody who plays has had it for a day."""
    home = f"room:{_id_of(place)}"
    clock = services().clock if running() else SystemClock()
    for key in {key for deed in all_deeds() for key in deed.homes if deed.homes[key] == home}:
        thing = find("thing", key)
        if thing is None or thing.location in (None, place) or _is_with_a_player(thing):
            continue
        since = thing.db.moved
        if since and clock.now() - datetime.fromisoformat(since) > LEFT_LYING:
            _put(thing, place)


def _is_with_a_player(thing: Any) -> bool:
    holder = thing.location
    while holder is not None and not hasattr(holder, "is_agent"):
        holder = holder.location
    return holder is not None and not holder.is_agent and bool(holder.sessions.count())


# -- taking it back


def reset(deed: WorldDeed, player: Any = None) -> list[str]:
    """Take a deed back: what ``player`` did of it, or what anybody did and came of it.

    What people remember of it stays with them.

    Returns:
        The names of those who have it to do again.
    """
    world = records()
    record = world.get(deed.id, {})
    whose = doers(deed) if player is None else [player]
    names = [each.key for each in whose if _forget(deed, each)]
    if record and (player is None or (deed.once and identity_of(player) in record.get("keys", ()))):
        for target, old, new in reversed(record["changes"]):
            _replace(target, new, old)
        for step in deed.steps.values():
            for way in step.then.get("open", ()):
                unlock(way, opened=False)
        del world[deed.id]
        ServerConfig.objects.conf(_CONF, world)
    if player is None or deed.once:
        _put_back(deed)
    return names


def _put_back(deed: WorldDeed) -> None:
    for thing, home in deed.homes.items():
        if (obj := find("thing", thing)) is not None:
            _put(obj, find(*home.split(":", 1)))
    for thing in deed.made:
        for obj in ObjectDB.objects.get_by_tag(f"thing:{thing}", category=TAG_CATEGORY):
            obj.delete()


def _forget(deed: WorldDeed, player: Any) -> bool:
    mine = progress(player)
    had = mine.pop(deed.id, None)
    player.attributes.add(_ATTRIBUTE, mine)
    return had is not None


def forget_player(player: Any) -> None:
    """Take away what a player has done, and their name from what the world keeps of it."""
    player.attributes.remove(_ATTRIBUTE)
    key = identity_of(player)
    for deed, record in records().items():
        if key not in record.get("keys", ()) or deed not in _deeds:
            continue
        changes = []
        for target, old, new in record["changes"]:
            unnamed = re.sub(rf"\b{re.escape(player.key)}\b", SOMEBODY, new)
            changes.append((target, old, unnamed if _replace(target, new, unnamed) else new))
        names = [SOMEBODY if name == player.key else name for name in record["who"]]
        keys = [each for each in record["keys"] if each != key]
        _record(_deeds[deed], changes=changes, who=names, keys=keys)


def _id_of(obj: Any) -> str:
    """The id of its file, ``quay`` for ``room:quay``; empty for none."""
    tags = obj.tags.get(category=TAG_CATEGORY, return_list=True) if obj is not None else []
    return str(tags[0]).partition(":")[2] if tags and tags[0] else ""
