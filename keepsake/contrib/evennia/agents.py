"""Agents: characters that a language model plays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from evennia.objects.objects import DefaultCharacter

from keepsake.agent.agent_log import log, of_game
from keepsake.agent.attention import EventKind, Impulse
from keepsake.agent.mind import Mind
from keepsake.agent.runtime import runtime
from keepsake.agent.surroundings import event_of, identity_of, is_agent
from keepsake.archive.records import POSE, SCENE, MemoryKind
from keepsake.contrib.evennia import creation
from keepsake.contrib.evennia.characters import CharacterMixin, answers_room, greeter
from keepsake.contrib.evennia.minds import close_mind, mind_of
from keepsake.errors import NameRefused
from keepsake.language import perception
from keepsake.names import check_agent_name, folder_name
from keepsake.prompt.verbs import Verb, own_verbs
from keepsake.tasks.answer import AnswerPart

MOVES = frozenset({"move", "traverse", "teleport"})
"""What Evennia calls the messages that somebody comes or goes."""
_ECHOES = frozenset({"say", "talk", "whisper", "pose"})
AGENT_LOCKS = "puppet:perm(Developer);get:false();call:false();delete:perm(Builder)"


class AgentMixin(CharacterMixin):
    """A character with a memory, a thinker and an actor: ``class Baker(AgentMixin, Character)``.

    Everything it would see on a screen reaches it through :meth:`msg`.

    Attributes (in the database):
        profile: Who it is.
        examples: Script lines that show its voice.
        talkativeness: How often it does something unasked, 0 to 1.
        keeps: It keeps its home open for guests; see :mod:`keepsake.contrib.evennia.characters`.
        paused: It perceives and remembers, but does not think.
        asleep: Since when it sleeps, in ISO format: it neither thinks nor perceives more than a
            shout at it.
        awake_seconds: How long it has been awake since its last sleep.
        memory_id: Which memories it has, a UUID. A new object with the id of one that is gone finds
            its memories again, under whatever name.
        memory_folder: Its folder below ``vault/agents``; stays when it is renamed.
    """

    agent_cmdset = "keepsake.contrib.evennia.cmdset.NPCCmdSet"
    """What it can do, in place of the players' commands: a command set, or its path."""

    def basetype_setup(self) -> None:
        """Give it the agents' commands, and a memory that no other agent has."""
        super().basetype_setup()
        self.cmdset.add_default(self.agent_cmdset, persistent=True)
        self.locks.add(AGENT_LOCKS)
        if not self.attributes.has(creation.FOLDER):
            creation.begin_memory(self)

    def at_object_post_creation(self) -> None:
        """Let its past begin now: that of others of its name is not its own."""
        super().at_object_post_creation()
        creation.report(self, "begins")

    is_agent = True

    @property
    def mind(self) -> Mind | None:
        """Its components; None while the agents' runtime is not running."""
        return mind_of(self)

    @property
    def memory_folder(self) -> str:
        """The name of its folder below ``vault/agents``."""
        return str(self.attributes.get(creation.FOLDER) or folder_name(self.key))

    # -- a game's own: each is called on the reactor thread; what fails in it is logged

    agent_verbs: Mapping[str, str] = {}
    """Commands of its command set that a model is offered beside the standard verbs.

    Usages, each with a sentence on what it does: ``{"attack <person>": "attack somebody"}``. The
    first word is the command; ``<person>``, ``<thing>``, ``<item>`` (carried) and ``<exit>`` are
    filled with what is there, ``<words>`` is free. May be a property.
    """

    def at_agent_heard(self, line: str, speaker: Any, kind: str, addressed: bool) -> bool | None:
        """Called after it remembered something that it may think of; False forbids that thought.

        Args:
            line: What it remembered: ``Tom says, "Hello."``; empty if a player logs in here.
            speaker: Whose words or act that is.
            kind: The type of the message, such as ``say``, ``whisper``, ``give``; or ``arrival``.
            addressed: Whether it was said or given to this agent.
        """

    def at_agent_prompt(self) -> Sequence[str]:
        """Called for each prompt; returns lines for its last message, which are not remembered."""
        return ()

    def at_agent_answer(self, part: AnswerPart) -> AnswerPart | None:
        """Called for each part of an answer before it is said or done; returns it, or None: a veto.

        ``part``: Its ``kind`` is ``speech``, ``emote`` or ``deed``, its ``text`` what the model
        wrote: ``give lamp to Tom``. ``dataclasses.replace(part, text=…)`` changes it.
        """
        return part

    def verbs_now(self) -> tuple[Verb, ...]:
        """Its own verbs whose command is in its command set, with a lock that lets it use it."""
        mine = own_verbs(self.agent_verbs)
        known = [each for each in self.cmdset.current if each.access(self, "cmd")] if mine else ()
        return tuple(verb for verb in mine if any(each == verb.name for each in known))

    # -- perceiving

    def msg(
        self,
        text: Any = None,
        from_obj: Any = None,
        session: Any = None,
        options: Any = None,
        **kwargs: Any,
    ) -> None:
        """Perceive what a screen would show, then pass it on to a session, if there is one."""
        super().msg(text=text, from_obj=from_obj, session=session, options=options, **kwargs)
        if text and (mind := mind_of(self)):
            raw, *_, facts = text if isinstance(text, tuple | list) else (text, {})
            number = self._perceive(mind, str(raw), facts or {}, from_obj)
            if (facts or {}).get("type") in MOVES and _is_seen(from_obj, self):
                line = perception.perceive(str(raw), own_name=self.key)
                runtime().post(lambda: self.notice_move(from_obj, memory=number, line=line))

    def _perceive(self, mind: Mind, raw: str, facts: dict[str, Any], from_obj: Any) -> int:
        """Take a line in; returns the number of the memory of it, 0 for none."""
        line = perception.perceive(raw, own_name=self.key)
        if not line or (self.db.asleep and not mind.sleeper.reached_by(from_obj, line, facts)):
            return 0
        kind = str(facts.get("type", ""))
        everyday = kind == SCENE and self.is_everyday(line, facts, from_obj)
        if everyday or getattr(from_obj, "unannounced", False):
            return 0
        if kind == POSE:  # which the memory keeps as its kind
            line = line.removeprefix("* ")
        place = self.location.key if self.location else ""
        if (act := mind.actor.acting) is not None and from_obj in (None, self):
            if kind == "failure":
                line = f"{f'You tried to {act.verb} {act.argument}'.rstrip()}: {line}"
            if kind not in _ECHOES:  # the act itself is remembered already
                mind.memory.remember(line, MemoryKind.RESULT, place=place, event=kind)
            return 0
        source = from_obj.key if from_obj is not None and from_obj is not self else ""
        number = mind.memory.remember(
            line,
            place=place,
            source=source,
            source_id=identity_of(from_obj) if source else "",
            event=kind,
            importance=int(facts.get("importance", 0)),
            chain=str(facts.get("chain", "")),
            to_id=str(facts.get("about", "")),
        )
        if source and (event := event_of(self, from_obj, line, facts)):
            if event.from_player:
                event = self._meant(event, from_obj, facts)
            if self._heeds(line, from_obj, kind, event.kind):
                mind.thinker.notice(replace(event, memory=number))
            mind.sleeper.noticed(event)
        return number

    def _heeds(self, line: str, speaker: Any, kind: str, event: EventKind) -> bool:
        """Whether the game lets it think of what it has heard."""
        heard = (line, speaker, kind, event in (EventKind.ADDRESSED, EventKind.GIVEN))
        return of_game(self, "at_agent_heard", bool | None, True, *heard) is not False

    def _meant(self, event: Impulse, player: Any, facts: dict[str, Any]) -> Impulse:
        """The event, as addressed to it where what a player said to the room is for it."""
        now, to = runtime().seconds(), facts.get("to")
        to_room = event.kind is EventKind.HEARD and facts.get("type") == "say" and not event.aside
        if to_room and answers_room(self, player, now):
            event = replace(event, kind=EventKind.ADDRESSED)
        if event.kind is EventKind.ADDRESSED:
            player.ndb.spoken_to = (self, now)
        elif to not in (None, self.id) and (player.ndb.spoken_to or [None])[0] is self:
            player.ndb.spoken_to = None
        return event

    def is_everyday(self, line: str, facts: dict[str, Any], from_obj: Any) -> bool:
        """Whether a scene is nothing to remember; a game may say so of what it shows each day."""
        return False

    def at_minute(self) -> None:
        """A minute has passed; a game may have its agents go on with a day of their own."""

    # -- who comes and goes

    def notice_move(self, mover: Any, *, memory: int = 0, line: str = "") -> None:
        """Somebody has come here, or has left; ``memory`` tells of it, in the words of ``line``.

        Evennia announces who leaves before they have left: call this once they have.
        """
        if (mind := self.mind) is None:
            return
        came, is_player = mover.location is self.location, not is_agent(mover)
        if came and greeter(self.location, mover) is self:
            who, arrival = identity_of(mover), EventKind.ARRIVAL
            if self._heeds(line, mover, arrival.value, arrival):
                mind.thinker.notice(Impulse(arrival, is_player, mover.key, memory, who))
        else:
            mind.thinker.schedule()

    def at_look(self, target: Any, **kwargs: Any) -> str:
        """What it sees; nothing of a place that it only passes through, and knows."""
        mind = self.mind
        if mind and target is self.location and (mind.sleeper.walking or mind.sleeper.asleep):
            return ""
        return str(super().at_look(target, **kwargs))

    # -- being played, made, copied, renamed, deleted

    def at_post_puppet(self, **kwargs: Any) -> None:
        """Show the room to the player who puppets the agent; the agent never left it."""
        super().msg((self.at_look(self.location), {"type": "look"}))

    def at_post_unpuppet(self, account: Any = None, session: Any = None, **kwargs: Any) -> None:
        """Stay in the world, and go on by itself."""

    def at_object_post_copy(self, new_obj: Any, **kwargs: Any) -> None:
        """Give a copy a memory of its own; two agents cannot write one archive."""
        close_mind(new_obj.id)
        for name in ("asleep", "awake_seconds", creation.MEMORY_ID):
            new_obj.attributes.remove(name)
        creation.begin_memory(new_obj)
        creation.report(new_obj, "begins")

    def at_rename(self, oldname: str, newname: str) -> None:
        """Let the mind go on under the new name, or go back to the old one if it may not."""
        super().at_rename(oldname, newname)
        try:
            clean = check_agent_name(newname, creation.names_in_use(but=self))
        except NameRefused as error:
            log(f"[Agent] {oldname}: Not renamed: {error}")
            clean = oldname
        if clean != newname:
            self.db_key = clean
            self.save(update_fields=["db_key"])
        close_mind(self.id)  # its mind begins anew
        if mind := self.mind:
            mind.thinker.schedule()
        if clean != oldname:
            creation.report(self, "renamed", about=oldname)

    def at_object_delete(self) -> bool:
        """Close the memory; the archive stays in the vault."""
        creation.report(self, "ends")
        self.ndb.being_deleted = True
        close_mind(self.id)
        return bool(super().at_object_delete())


def _is_seen(mover: Any, agent: Any) -> bool:
    """Whether the agent notices that they come and go."""
    unseen = getattr(mover, "unannounced", False)
    return bool(identity_of(mover)) and mover is not agent and not unseen


def notice_login(sender: Any, **_: Any) -> None:
    """A player has entered or left the game: the agents there notice it."""
    room = sender.location or sender.db.prelogout_location
    for each in room.contents_get(content_type="character") if room else ():
        if is_agent(each) and _is_seen(sender, each):
            each.notice_move(sender)


class AgentNPC(AgentMixin, DefaultCharacter):
    """An agent for a game that has no class of its own for it."""
