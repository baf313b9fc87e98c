"""Agents: characters that a language model plays, in any Evennia game."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from evennia.objects.objects import DefaultCharacter
from twisted.internet.defer import Deferred

from keepsake.agent.agent_log import log
from keepsake.agent.attention import EventKind, PerceivedEvent
from keepsake.agent.memory.memory import MemoryComponent
from keepsake.agent.mind import Mind
from keepsake.agent.runtime import runtime
from keepsake.agent.surroundings import event_of, identity_of, words_of
from keepsake.agent.thinking.thinker import Thinker
from keepsake.archive.records import POSE, SCENE, MemoryKind
from keepsake.contrib.evennia import creation, presence
from keepsake.contrib.evennia.acting import execute
from keepsake.contrib.evennia.everywhere import AGENT_TAG, tell_builders
from keepsake.contrib.evennia.hosts import answers_room, turned_to
from keepsake.contrib.evennia.minds import close_mind, mind_of, rename_mind
from keepsake.errors import NameRefused
from keepsake.language import perception
from keepsake.names import check_agent_name, folder_name

# A mixin has no base, and Evennia's classes are of no type that a checker knows.
_Base: Any = DefaultCharacter if TYPE_CHECKING else object
AGENT_LOCKS = "puppet:perm(Developer);get:false();call:false();delete:perm(Builder)"


class AgentMixin(_Base):
    """Gives a character of any game a memory, a thinker and an actor.

    Everything that a screen would show reaches it through :meth:`msg`. Put it before the class of
    the game: ``class Baker(AgentMixin, Character)``.

    Attributes (in the database):
        profile: Who it is.
        examples: Script lines that show its voice.
        talkativeness: How often it does something unasked, 0 to 1.
        keeps: It keeps its home open for guests; see :mod:`keepsake.contrib.evennia.hosts`.
        paused: It perceives and remembers, but does not think.
        asleep: It sleeps: it neither thinks nor perceives more than what is loud.
        fell_asleep: Since when, in ISO format.
        tiredness: Seconds awake since its last sleep, and tokens that its thoughts took.
        idle_interval: Seconds between idle thoughts, None for the configured ones.
        memory_folder: Its folder below ``vault/agents``; stays when it is renamed.
        former_names, named_since: What it was called before; see :mod:`keepsake.agent.naming`.
    """

    is_agent = True
    unannounced = False
    agent_cmdset = "keepsake.contrib.evennia.cmdset.NPCCmdSet"
    """What it can do: a command set, by its path."""

    def basetype_setup(self) -> None:
        """Give it the agents' commands instead of the players', and the tag that finds it."""
        super().basetype_setup()
        self.cmdset.add_default(self.agent_cmdset, persistent=True)
        self.locks.add(AGENT_LOCKS)
        self.tags.add(*AGENT_TAG)

    def at_object_post_creation(self) -> None:
        """Give it a folder in the vault, and let its past begin now."""
        super().at_object_post_creation()
        creation.begin_life(self)

    @property
    def is_asleep(self) -> bool:
        """Whether it sleeps."""
        return bool(self.db.asleep)

    @property
    def memory(self) -> MemoryComponent | None:
        """What it remembers; None while the agents' runtime is not running."""
        return self.mind.memory if self.mind is not None else None

    @property
    def thinker(self) -> Thinker | None:
        """What thinks for it; None while the agents' runtime is not running."""
        return self.mind.thinker if self.mind is not None else None

    @property
    def mind(self) -> Mind | None:
        """Its components; None while the agents' runtime is not running."""
        return mind_of(self)

    @property
    def is_on_its_way(self) -> bool:
        """Whether it walks somewhere without a look at what it passes, or sleeps."""
        mind = self.mind
        return mind is not None and bool(mind.sleeper.walking or mind.sleeper.asleep)

    @property
    def stays(self) -> bool:
        """Whether it must not leave now."""
        return self.mind is not None and self.mind.thinker.stays

    def do(self, line: str) -> Deferred[Any]:
        """Do what a player would type; fires when it is done, or has failed."""
        return execute(self, line)

    def tell_builders(self, text: str) -> None:
        """Show a line to every builder who is connected."""
        tell_builders(text)

    @property
    def memory_folder(self) -> str:
        """The name of its folder below ``vault/agents``."""
        return str(self.attributes.get("memory_folder") or folder_name(self.key))

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
        if from_obj is not None and self.location is not None:
            presence.look_round_soon(self.location)
        if text and (mind := self.mind):
            raw, facts = text if isinstance(text, tuple | list) else (text, {})
            self._perceive(mind, str(raw), facts or {}, from_obj)

    def _perceive(self, mind: Mind, raw: str, facts: dict[str, Any], from_obj: Any) -> None:
        line = perception.perceive(raw, own_name=self.key)
        if not line or (mind.sleeper.asleep and not mind.sleeper.reached_by(from_obj, line, facts)):
            return
        place = self.location.key if self.location else ""
        kind = str(facts.get("type", ""))
        if self._is_everyday(mind, line, facts, from_obj):
            return
        if kind == POSE:  # which the memory keeps as its kind
            line = line.removeprefix("* ")

        def keep(result: str) -> None:
            mind.memory.remember(result, MemoryKind.RESULT, place=place, event=kind)

        if mind.actor.own_result(self, line, kind, from_obj, keep):
            return
        source = from_obj.key if from_obj is not None and from_obj is not self else ""
        who = identity_of(from_obj) if source else ""
        kept = mind.memory.remember(
            line,
            place=place,
            source=source,
            source_id=who,
            event=kind,
            importance=int(facts.get("importance", 0)),
            chain=str(facts.get("chain", "")),
            to_id=str(facts.get("about", "")),
        )
        if source and (event := event_of(self, from_obj, line, facts)):
            if event.from_player:
                event = self._meant(event, from_obj, line, facts)
            mind.thinker.notice(replace(event, memory=mind.memory.newest if kept else 0))
            mind.sleeper.noticed(event)

    def _meant(
        self, event: PerceivedEvent, player: Any, line: str, facts: dict[str, Any]
    ) -> PerceivedEvent:
        """The event, as addressed to it where what a player said to the room is for it."""
        now, to = runtime().seconds(), facts.get("to")
        to_room = event.kind is EventKind.HEARD and facts.get("type") == "say" and to is None
        if to_room and answers_room(self, player, words_of(line), now):
            event = replace(event, kind=EventKind.ADDRESSED)
        if event.kind is EventKind.ADDRESSED or (to is not None and to != self.id):
            turned_to(self, player, now, away=event.kind is not EventKind.ADDRESSED)
        return event

    @staticmethod
    def _is_everyday(mind: Mind, line: str, facts: dict[str, Any], from_obj: Any) -> bool:
        """Whether it is nothing to remember: an agent that goes its way, the same scene again.

        What somebody is seen at is remembered where nothing else was seen of them that day.
        """
        if facts.get("type") != SCENE:
            return bool(getattr(from_obj, "unannounced", False))
        is_old, moment = mind.hearsay.is_old, runtime().clock.now()
        known = facts.get("work") and is_old(identity_of(from_obj), moment, days=1)
        return bool(known) or is_old(line, moment)

    def at_post_move(self, source_location: Any, move_type: str = "move", **kwargs: Any) -> None:
        """Look around, unless it is on its way somewhere and knows the way."""
        presence.look_round(self.location)
        if not self.is_on_its_way:
            super().at_post_move(source_location, move_type=move_type, **kwargs)

    def at_object_post_copy(self, new_obj: Any, **kwargs: Any) -> None:
        """Give a copy a memory of its own; two agents cannot write one archive."""
        close_mind(new_obj.id)
        for name in ("memory_folder", "asleep", "fell_asleep", "tiredness"):
            new_obj.attributes.remove(name)
        creation.begin_life(new_obj)

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
        rename_mind(self, oldname)
        if mind := self.mind:
            mind.thinker.start()
        if clean != oldname:
            creation.report(self, "renamed", about=oldname)

    def at_object_delete(self) -> bool:
        """Close the memory; the archive stays in the vault."""
        creation.report(self, "ends")
        self.ndb.being_deleted = True
        close_mind(self.id)
        return bool(super().at_object_delete())


class AgentNPC(AgentMixin, DefaultCharacter):
    """An agent for a game that has no class of its own for it."""
