"""Agents: characters that a language model plays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from evennia.objects.objects import DefaultCharacter

from keepsake.agent.agent_log import call_hook
from keepsake.agent.attention import EventKind, Impulse
from keepsake.agent.mind import Mind
from keepsake.agent.runtime import runtime
from keepsake.agent.surroundings import event_of, identity_of, is_agent
from keepsake.archive.old_lines import what_of
from keepsake.archive.records import POSE, SCENE
from keepsake.contrib.evennia import creation
from keepsake.contrib.evennia.characters import CharacterMixin, answers_room, greeter
from keepsake.contrib.evennia.minds import close_mind, mind_of
from keepsake.errors import NameRefused
from keepsake.happening import Result
from keepsake.language import perception
from keepsake.logs import Subsystem, get_logger
from keepsake.names import check_agent_name, folder_name
from keepsake.prompt.verbs import Verb, own_verbs
from keepsake.tasks.answer import AnswerPart

log = get_logger(Subsystem.AGENTS)

MOVES = frozenset({"move", "traverse", "teleport"})
"""Evennia's types of messages about arrivals and departures."""
_ECHOES = frozenset({"say", "talk", "whisper", "pose"})
AGENT_LOCKS = "puppet:perm(Developer);get:false();call:false();delete:perm(Builder)"


class AgentMixin(CharacterMixin):
    """A character with a memory, a thinker and an actor: ``class Baker(AgentMixin, Character)``.

    It perceives the text that a player would see on the screen, through :meth:`msg`.

    Attributes (in the database):
        profile: The persona: who the agent is.
        examples: Script lines that show its voice.
        talkativeness: How often it acts without being addressed, 0 to 1.
        keeps: It keeps its home open for guests; see :mod:`keepsake.contrib.evennia.characters`.
        paused: It perceives and remembers, but does not think.
        asleep: When it fell asleep, in ISO format. Asleep it does not think, and perceives only
            a shout at it.
        awake_seconds: How long it has been awake since its last sleep.
        memory_id: The id of its memories, a UUID. A new object with the id of a deleted one gets
            the memories of that one, also under another name.
        memory_folder: Its folder below ``vault/agents``; it stays when the agent is renamed.
    """

    agent_cmdset = "keepsake.contrib.evennia.cmdset.NPCCmdSet"
    """The commands that it has instead of the players' commands: a command set, or its path."""

    def basetype_setup(self) -> None:
        """Give it the agents' commands, and its own memory."""
        super().basetype_setup()
        self.cmdset.add_default(self.agent_cmdset, persistent=True)
        self.locks.add(AGENT_LOCKS)
        if not self.attributes.has(creation.FOLDER):
            creation.begin_memory(self)

    def at_object_post_creation(self) -> None:
        """Log that the agent begins, so that earlier events of the same name are not its own."""
        super().at_object_post_creation()
        creation.report(self, "begins")

    is_agent = True

    @property
    def mind(self) -> Mind | None:
        """The agent's components; None while the runtime is not running."""
        return mind_of(self)

    @property
    def memory_folder(self) -> str:
        """The name of its folder below ``vault/agents``."""
        return str(self.attributes.get(creation.FOLDER) or folder_name(self.key))

    # -- hooks for games: they are called on the reactor thread; their exceptions are logged

    agent_verbs: Mapping[str, str] = {}
    """Commands of its command set that the model is offered in addition to the standard verbs.

    Maps each usage to a sentence on what it does: ``{"attack <person>": "attack somebody"}``. The
    first word is the command; ``<person>``, ``<thing>``, ``<item>`` (carried) and ``<exit>`` are
    replaced by what is there, ``<words>`` is free text. May be a property.
    """

    def at_agent_heard(self, line: str, speaker: Any, kind: str, addressed: bool) -> bool | None:
        """Called after the agent remembers an event that may start a thought; False prevents it.

        Args:
            line: The remembered text: ``Tom says, "Hello."``; empty if a player logs in here.
            speaker: The character that spoke or acted.
            kind: The type of the message, such as ``say``, ``whisper``, ``give``; or ``arrival``.
            addressed: Whether it was said or given to this agent.
        """

    def at_agent_prompt(self) -> Sequence[str]:
        """Called for each prompt; returns lines for its last message, which are not remembered."""
        return ()

    def at_agent_answer(self, part: AnswerPart) -> AnswerPart | None:
        """Called for each part of an answer before it is said or done; None vetoes that part.

        ``part``: Its ``kind`` is ``speech``, ``emote`` or ``deed``; its ``text`` is what the model
        wrote: ``give lamp to Tom``. Return it, or ``dataclasses.replace(part, text=…)``.
        """
        return part

    def verbs_now(self) -> tuple[Verb, ...]:
        """Return the verbs of ``agent_verbs`` whose commands the agent has and may use now."""
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
        """Send a text to the agent's session, if it has one, and let the agent perceive it."""
        super().msg(text=text, from_obj=from_obj, session=session, options=options, **kwargs)
        if text and (mind := mind_of(self)):
            raw, *_, facts = text if isinstance(text, tuple | list) else (text, {})
            number = self._perceive(mind, str(raw), facts or {}, from_obj)
            if (facts or {}).get("type") in MOVES and _is_seen(from_obj, self):
                line = perception.perceive(str(raw), own_name=self.key)
                runtime().post(lambda: self.notice_move(from_obj, memory=number, line=line))

    def _perceive(self, mind: Mind, raw: str, facts: dict[str, Any], from_obj: Any) -> int:
        """Remember a line and react to it; return the memory's number, 0 for none."""
        line = perception.perceive(raw, own_name=self.key)
        if not line or (self.db.asleep and not mind.sleeper.perceives(from_obj, line, facts)):
            return 0
        kind = str(facts.get("type", ""))
        everyday = kind == SCENE and self.is_everyday(line, facts, from_obj)
        if everyday or getattr(from_obj, "unannounced", False):
            return 0
        if kind == POSE:  # the memory's event says so
            line = line.removeprefix("* ")
        place = self.location.key if self.location else ""
        if (act := mind.actor.acting) is not None and from_obj in (None, self):
            if kind == "failure":
                line = f"{f'You tried to {act.verb} {act.argument}'.rstrip()}: {line}"
            if kind not in _ECHOES:  # these only repeat the act, which is already remembered
                what = Result(
                    verb=act.verb,
                    act=mind.actor.acting_memory,
                    done=kind != "failure",
                    shown=line,
                )
                mind.memory.remember(what, place=place, event=kind)
            return 0
        source = from_obj.key if from_obj is not None and from_obj is not self else ""
        who = identity_of(from_obj) if source else ""
        read = {"text": line, "source": source, "source_id": who, "event": kind}
        number = mind.memory.remember(
            what_of(read),
            place=place,
            event=kind,
            importance=int(facts.get("importance", 0)),
            chain=str(facts.get("chain", "")),
            about=str(facts.get("about", "")),
        )
        if source and (event := event_of(self, from_obj, line, facts)):
            if event.from_player:
                event = self._with_addressee(event, from_obj, facts)
            if self._may_react(line, from_obj, kind, event.kind):
                mind.thinker.notice(replace(event, memory=number))
            mind.sleeper.notice(event)
        return number

    def _may_react(self, line: str, speaker: Any, kind: str, event: EventKind) -> bool:
        """Whether the game's hook allows a thought about what the agent heard."""
        heard = (line, speaker, kind, event in (EventKind.ADDRESSED, EventKind.GIVEN))
        return call_hook(self, "at_agent_heard", bool | None, True, *heard) is not False

    def _with_addressee(self, event: Impulse, player: Any, facts: dict[str, Any]) -> Impulse:
        """Return the event, as addressed if the player's words to the room are for this agent."""
        now = runtime().seconds()
        to = facts.get("to")
        to_room = event.kind is EventKind.HEARD and facts.get("type") == "say" and not event.aside
        if to_room and answers_room(self, player, now):
            event = replace(event, kind=EventKind.ADDRESSED)
        if event.kind is EventKind.ADDRESSED:
            player.ndb.spoken_to = (self, now)
        elif to not in (None, self.id) and (player.ndb.spoken_to or [None])[0] is self:
            player.ndb.spoken_to = None
        return event

    def is_everyday(self, line: str, facts: dict[str, Any], from_obj: Any) -> bool:
        """Whether a scene is not remembered. A game may override it for its daily scenes."""
        return False

    def at_minute(self) -> None:
        """Called each minute. A game may override it to move its agents through their day."""

    # -- arrivals and departures

    def notice_move(self, mover: Any, *, memory: int = 0, line: str = "") -> None:
        """React to a character that has come or left; ``memory`` and ``line``: its memory, if any.

        Evennia announces a departure before the move: call this after the move.
        """
        if (mind := self.mind) is None:
            return
        came = mover.location is self.location
        is_player = not is_agent(mover)
        if came and greeter(self.location, mover) is self:
            who = identity_of(mover)
            arrival = EventKind.ARRIVAL
            if self._may_react(line, mover, arrival.value, arrival):
                mind.thinker.notice(Impulse(arrival, is_player, mover.key, memory, who))
        else:
            mind.thinker.schedule()

    def at_look(self, target: Any, **kwargs: Any) -> str:
        """Return what the agent sees: nothing of its room while it walks home or sleeps."""
        mind = self.mind
        if mind and target is self.location and (mind.sleeper.walking or mind.sleeper.asleep):
            return ""
        return str(super().at_look(target, **kwargs))

    # -- puppeting, copying, renaming, deletion

    def at_post_puppet(self, **kwargs: Any) -> None:
        """Show the room to the player who puppets the agent. There is no arrival to announce."""
        super().msg((self.at_look(self.location), {"type": "look"}))

    def at_post_unpuppet(self, account: Any = None, session: Any = None, **kwargs: Any) -> None:
        """Do nothing: the agent stays in the world and acts by itself again."""

    def at_object_post_copy(self, new_obj: Any, **kwargs: Any) -> None:
        """Give a copy its own memory, because two agents cannot write one archive."""
        close_mind(new_obj.id)
        for name in ("asleep", "awake_seconds", creation.MEMORY_ID):
            new_obj.attributes.remove(name)
        creation.begin_memory(new_obj)
        creation.report(new_obj, "begins")

    def at_rename(self, oldname: str, newname: str) -> None:
        """Reopen the mind under the new name; restore the old name if the new one is refused."""
        super().at_rename(oldname, newname)
        try:
            clean = check_agent_name(newname, creation.names_in_use(but=self))
        except NameRefused as error:
            log.info(f"Not renamed: {error}", agent=oldname)
            clean = oldname
        if clean != newname:
            self.db_key = clean
            self.save(update_fields=["db_key"])
        close_mind(self.id)  # reading ``self.mind`` opens it again
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
    """Whether the agent notices the mover's arrivals and departures."""
    unseen = getattr(mover, "unannounced", False)
    return bool(identity_of(mover)) and mover is not agent and not unseen


def notice_login(sender: Any, **_: Any) -> None:
    """Let the agents in the room notice that a player has entered or left the game."""
    room = sender.location or sender.db.prelogout_location
    for each in room.contents_get(content_type="character") if room else ():
        if is_agent(each) and _is_seen(sender, each):
            each.notice_move(sender)


class AgentNPC(AgentMixin, DefaultCharacter):
    """A ready-made agent for games without their own agent class."""
