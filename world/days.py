"""The villagers' days: by rule they walk, work, meet and spread news.

:func:`live_minute` is called for each agent once a minute, on the reactor thread. It reads what an
agent has done and seen from its window, so it needs little state. It starts no thoughts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial
from itertools import takewhile
from typing import Any

from keepsake.agent.attention.recent_talks import TALK_SECONDS
from keepsake.agent.memory.known_news import concerns, known_to, origins_of
from keepsake.agent.runtime import runtime
from keepsake.agent.surroundings.identity import identity_of, is_agent
from keepsake.agent.surroundings.naming import place_of
from keepsake.agent.surroundings.people import hosts_guests, people_near
from keepsake.agent.surroundings.showing import show
from keepsake.archive.message_types import BY_RULE, MOVES, MessageType
from keepsake.archive.privacy import is_private
from keepsake.archive.records import Memory, MemoryFacts, MemoryKind
from keepsake.contrib.evennia.hearing import happens, person_of
from keepsake.contrib.evennia.minds import open_minds
from keepsake.errors import KeepsakeError
from keepsake.happening import ME, KnownVerb, Person, Pose, Speech, What
from keepsake.language.perception import for_prompt, shorten
from world.almanac import Almanac, Hours
from world.scenes import ANYBODY, Scene, SceneLine, scenes
from world.source import id_of

LINE_SECONDS = 5.0
"""Seconds between two lines of a meeting."""
PAIR_INTERVAL = timedelta(hours=6)
MEETING_INTERVAL = timedelta(minutes=40)
"""The shortest time between two meetings of the same two agents, and between any two of one."""
SCENE_INTERVAL = timedelta(days=7)
"""The shortest time between two plays of a scene with the same person in it. A player who visits
every day should not hear it again."""
PLAYED = "scenes_played"
"""The attribute of an agent with the first line of each scene that it played, and when."""
OWN_STAY = timedelta(minutes=20)
"""How long an agent stays in a place that it chose itself, if players are there."""
IDLE_STAY = timedelta(minutes=5)
"""How long it stays there without them after the last word or deed: what it came for is over."""
NEWS_IMPORTANCE = 5
"""A deed is news from this importance on."""
NEWS_AGE = timedelta(days=7)
"""How long a deed is news."""
NEWS_LENGTH = 160
"""The most characters of a piece of news."""
WORK_HOURS = 2
"""Hours after which an agent goes on to its next activity of the same hour."""


def live_minute(agent: Any, now: Almanac) -> None:
    """Let an agent live one minute: go where it belongs at this hour, work, and meet others."""
    if is_free(agent):
        _follow_schedule(agent, now)
    if is_free(agent) and _may_meet(agent, now.moment):
        _meet(agent, now)


def is_free(agent: Any) -> bool:
    """Return whether the agent is free: no talk, sleep, thought, walk or player controls it."""
    mind = agent.mind
    if mind is None or agent.location is None or mind.walker.walking:
        return False
    kept = agent.db.asleep or agent.db.paused or agent.has_account
    thinker = mind.thinker
    is_busy = thinker.turn is not None or mind.presence.in_talk or thinker.unprompted.talks_to
    return not (kept or is_busy)


def is_everyday(agent: Any, line: str, facts: Mapping[str, Any], by: Any) -> bool:
    """Return whether a scene of an ordinary day need not be remembered: the window has it.

    Work is remembered only if the agent has seen nothing else of the worker that day.
    """
    who = identity_of(by)
    today = runtime().clock.now().astimezone().date()
    everyday = BY_RULE | MOVES
    return any(
        memory.text == line
        or (
            facts.get("work")
            and memory.source_id == who
            and memory.event in everyday
            and memory.time.astimezone().date() == today
        )
        for memory in _window(agent)
    )


def _window(agent: Any) -> Sequence[Memory]:
    """Return the agent's window; empty while its archive cannot be read."""
    try:
        window: Sequence[Memory] = agent.mind.memory.context().window
    except KeepsakeError:
        return ()
    return window


# -- one agent's day


def entry_of(agent: Any, now: Almanac) -> Mapping[str, Any] | None:
    """Return the entry of an agent's daily schedule for now; None if there is none."""
    return entry_at(agent.db.day or (), now)


def entry_at(day: Iterable[Mapping[str, Any]], now: Almanac) -> Mapping[str, Any] | None:
    """Return the entry of a daily schedule that holds: the first one whose conditions are met."""
    hours = (hour for hour in day if now.moment in Hours.parse(hour["at"]))
    return next((hour for hour in hours if now.states.issuperset(hour.get("when") or ())), None)


def work_at(number: int, does: Sequence[str], moment: datetime) -> str:
    """Return which of the activities of an entry the agent of that number does at a moment."""
    turn = moment.toordinal() * (24 // WORK_HOURS) + moment.hour // WORK_HOURS
    return does[(turn + number) % len(does)]


def _follow_schedule(agent: Any, now: Almanac) -> None:
    """Go to the place of this hour, or work there."""
    hour = entry_of(agent, now)
    if hour is None or _stays(agent, now.moment):
        return
    goal = hour.get("in") or agent.home
    if name := hour.get("with"):
        others = (mind.thinker.body() for mind in open_minds() if mind.memory.name == name)
        goal = next((each.location for each in others if each is not None), None) or goal
    if agent.location is goal:
        if not _players_talk(agent):  # it would stand between their lines
            _work(agent, hour["does"], now)
    elif agent.mind.presence.is_occupied:
        return
    elif goal is not None and not (agent.mind.presence.must_stay or hosts_guests(agent)):
        if agent.db.keeps and agent.location is agent.home:
            words = f"I'm only stepping out to {goal.key}."
            with happens(Speech(speaker=person_of(agent), words=words)):
                show(agent, f'{agent.key} says, "{words}"', MessageType.SCENE)
        agent.mind.walker.follow_routine(goal, lambda: None)


def _stays(agent: Any, now: datetime) -> bool:
    """Return whether an agent stays where its own walk has led it, whatever the hour."""
    walks = (KnownVerb.GO, KnownVerb.WALK)
    newest_first = _window(agent)[::-1]
    went = next((each.time for each in newest_first if each.is_own and each.verb in walks), None)
    if went is None or now - went >= OWN_STAY:
        return False
    if any(each.has_account for each in people_near(agent)):
        return True
    last = next(each.time for each in newest_first if each.is_own or each.heard is not None)
    return now - last < IDLE_STAY


def _work(agent: Any, does: Sequence[str], now: Almanac) -> None:
    """Show the agent's work to the room, each activity once a day."""
    work = f"{work_at(agent.id, does, now.moment)}."
    today = (now.moment.date(), work)
    if agent.ndb.worked == today:
        return
    agent.ndb.worked = today
    with happens(Pose(actor=person_of(agent))) as happening:
        act = f"emote {work}"
        if not _remembers(agent, act):
            gesture = Pose(actor=ME, gesture=work, shown=act)
            agent.mind.memory.remember(
                gesture, place=place_of(agent), event=MessageType.SCENE, happening=happening
            )
        show(agent, f"{agent.key} {work}", MessageType.SCENE, work=True)


def _remembers(agent: Any, *texts: str) -> bool:
    """Return whether the window has a memory with one of these texts."""
    return any(memory.text in texts for memory in _window(agent))


# -- meetings


def _meet(agent: Any, now: Almanac) -> None:
    """Play a scene or tell news with another agent here, if the two have not met lately.

    A scene is for those who have nothing new to talk of: none is played if there is news for one of
    them, or while players talk here. While others play a scene in this room, none begins.
    """
    seconds = runtime().seconds()
    if (agent.location.ndb.scene_until or 0.0) > seconds:
        return
    for other in people_near(agent):
        if not is_agent(other) or other.id < agent.id:  # the one with the lower id begins
            continue
        if not (is_free(other) and _may_meet(other, now.moment)):
            continue
        if any(now.moment - at < PAIR_INTERVAL for at in _meetings(agent, identity_of(other))):
            continue
        pairs = ((agent, other), (other, agent))
        news = [(*pair, rumour) for pair in pairs if (rumour := news_for(*pair, now.moment))]
        later = runtime().scheduler.later
        has_new = news or any(one.mind.thinker.has_news_for(whom) for one, whom in pairs)
        played = () if has_new or _players_talk(agent) else _scene(agent, other, now)
        for n, line in enumerate(played):
            actor, whom = pairs[line.actor != agent.key]
            later(LINE_SECONDS * n, partial(_play, line, actor, whom))
        for n, (teller, listener, rumour) in enumerate(news, len(played)):
            later(LINE_SECONDS * n, partial(_tell, rumour, teller, listener))
        if played or news:
            lines = len(played) + len(news)
            agent.location.ndb.scene_until = seconds + LINE_SECONDS * lines
            return


def _players_talk(agent: Any) -> bool:
    """Return whether a player here has spoken a moment ago, to whomever."""
    near = people_near(agent)
    players = {identity_of(each) for each in near if each.has_account}
    if any(is_agent(each) and each.mind.presence.in_talk for each in near):
        return True
    since = runtime().clock.now() - timedelta(seconds=TALK_SECONDS)
    newest_first = takewhile(lambda each: each.time > since, reversed(_window(agent)))
    return any(each.heard is not None and each.source_id in players for each in newest_first)


def _meetings(agent: Any, who: str = "") -> Iterator[datetime]:
    """Yield the times of an agent's meetings by rule: all, or those with one person."""
    for memory in _window(agent):
        own = memory.kind is MemoryKind.ACT
        partner = memory.to_id if own else memory.source_id
        talked = memory.event == MessageType.HEARSAY or (
            memory.event == MessageType.SCENE and own and partner
        )
        if talked and who in ("", partner):
            yield memory.time


def _may_meet(agent: Any, now: datetime) -> bool:
    return all(now - at >= MEETING_INTERVAL for at in _meetings(agent))


def _scene(one: Any, other: Any, now: Almanac) -> Sequence[SceneLine]:
    """Choose a scene that these two may play here and have not seen lately; their own first."""
    names = (one.key, other.key)
    place = id_of(one.location)
    for scene in sorted(
        scenes(), key=lambda each: (each.who == ANYBODY, runtime().random.random())
    ):
        if not scene.fits(names, place, now):
            continue
        if any(_has_played(each, scene, now.moment) for each in (one, other)):
            continue
        for each in (one, other):
            _note_played(each, scene, now.moment)
        return [*scene.played_by(names)]
    return ()


def _has_played(agent: Any, scene: Scene, now: datetime) -> bool:
    """Return whether the agent played a scene within :data:`SCENE_INTERVAL`."""
    at = (agent.attributes.get(PLAYED) or {}).get(scene.lines[0])
    return at is not None and now - datetime.fromisoformat(at) < SCENE_INTERVAL


def _note_played(agent: Any, scene: Scene, now: datetime) -> None:
    """Note that the agent plays a scene now, and forget the ones that it may play again."""
    played = {
        line: at
        for line, at in (agent.attributes.get(PLAYED) or {}).items()
        if now - datetime.fromisoformat(at) < SCENE_INTERVAL
    }
    agent.attributes.add(PLAYED, {**played, scene.lines[0]: now.isoformat()})


def _play(line: SceneLine, actor: Any, whom: Any) -> None:
    if not _together(actor, whom) or _players_talk(actor):
        return
    to = (Person(whom.key, identity_of(whom)),)
    place = place_of(actor)
    if line.words:
        own: What = Speech(speaker=ME, words=line.words, to=to, shown=line.act)
        shown: What = Speech(speaker=person_of(actor), words=line.words)
    else:
        own = Pose(actor=ME, gesture=line.gesture, to=to, shown=line.act)
        shown = Pose(actor=person_of(actor))
    with happens(shown) as happening:
        actor.mind.memory.remember(own, place=place, event=MessageType.SCENE, happening=happening)
        show(actor, line.seen, MessageType.SCENE)


def _together(one: Any, other: Any) -> bool:
    """Return whether both are still in one place, and still free."""
    return is_free(one) and is_free(other) and one.location is other.location


# -- news: deeds that they saw or heard of, with the chain of memories back to a witness


type Rumour = tuple[Memory, str, list[str]]
"""The memory of a deed, its text, and its sources such as ``Nell 17``, the witness first."""


def _rumours(agent: Any) -> Iterator[Rumour]:
    """Yield the deeds in an agent's window that it saw, or heard of from another agent."""
    for memory in _window(agent):
        if memory.kind is not MemoryKind.PERCEPTION or is_private(memory):
            continue
        mine = f"{agent.key} {memory.number}"
        if memory.event == MessageType.DEED and memory.source_id and not memory.about:
            yield memory, shorten(for_prompt(memory.text), NEWS_LENGTH), [mine]
        elif memory.event == MessageType.HEARSAY and memory.told:
            yield memory, memory.told, [*memory.chain.split("; "), mine]


def _about(memory: Memory) -> str:
    """Return the identity of the person whom a rumour is about."""
    return memory.source_id if memory.event == MessageType.DEED else memory.about


def news_for(teller: Any, listener: Any, now: datetime) -> Rumour | None:
    """Return the most important news that is new to the listener; None if there is none."""
    who = identity_of(listener)
    perceived = known_to(listener)
    known = {each for _, text, links in _rumours(listener) for each in (text, links[0])}
    shared = {
        memory.chain.partition("; ")[0]
        for memory in _window(teller)
        if memory.event == MessageType.HEARSAY and who in (memory.to_id, memory.source_id)
    }
    news = [
        (memory, text, links)
        for memory, text, links in _rumours(teller)
        if memory.importance >= NEWS_IMPORTANCE
        and now - memory.time < NEWS_AGE
        and not concerns(memory, who)
        and not perceived.has(memory)
        and known.isdisjoint((text, links[0]))
        and not any(link in shared or link.startswith(f"{listener.key} ") for link in links)
    ]
    return max(news, key=lambda each: each[0].importance, default=None)


def _tell(rumour: Rumour, teller: Any, listener: Any) -> None:
    """Say it aloud, with its source. Everybody in the room hears it and may tell it further."""
    if not _together(teller, listener):
        return
    memory, text, links = rumour
    first = len(links) == 1
    words = f"{'I saw it myself' if first else f'{links[-2].rpartition(" ")[0]} tells me'}: {text}"
    facts = MemoryFacts(
        importance=memory.importance - 1,  # each retelling makes it less important
        chain="; ".join(links),
        origins=origins_of(memory),
        told=text.replace('"', "'"),  # as in the words that the listener remembers
        about=_about(memory),
    )
    to = (person_of(listener),)
    own = Speech(speaker=ME, words=words, to=to, shown=f"say {words}")
    with happens(Speech(speaker=person_of(teller), words=words, to=to), **facts) as happening:
        teller.mind.memory.remember(
            own,
            place=place_of(teller),
            event=MessageType.HEARSAY,
            chain=facts["chain"],
            origins=facts["origins"],
            told=facts["told"],
            happening=happening,
        )
        safe = words.replace("|", "||")
        to_them = f'{teller.key} says to you, "{safe}"'
        listener.msg((to_them, {"type": MessageType.HEARSAY}), from_obj=teller)
        to_others = f'{teller.key} says to {listener.key}, "{safe}"'
        show(teller, to_others, MessageType.HEARSAY, hidden_from=(listener,))
