"""Agents: characters that a language model plays."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from django.conf import settings

from keepsake.agent.attention.impulse import Impulse
from keepsake.agent.body import Body
from keepsake.agent.mind import Mind
from keepsake.agent.runtime import running, runtime
from keepsake.agent.sleep.sleeper import SLEEP_ATTRIBUTES
from keepsake.agent.surroundings.game_objects import CharacterObject, GameObject
from keepsake.agent.surroundings.identity import identity_of, is_agent, is_character
from keepsake.agent.surroundings.naming import place_of
from keepsake.agent.surroundings.people import players_near
from keepsake.archive.message_types import MessageType
from keepsake.contrib.evennia import creation, hearing
from keepsake.contrib.evennia.characters import CharacterMixin, note_partner
from keepsake.contrib.evennia.hooks import AgentHooks
from keepsake.contrib.evennia.meaning import expect_gift
from keepsake.contrib.evennia.minds import (
    close_mind,
    last_number,
    mind_of,
    reopen_mind,
    report,
)
from keepsake.contrib.evennia.perceiving import perceive
from keepsake.contrib.evennia.reacting import pass_on, react_to_move
from keepsake.errors import NameRefused
from keepsake.events.types import Move
from keepsake.events.values import MemoryOp
from keepsake.happening import Manner, Sight, Speech
from keepsake.language.perception import plain_line
from keepsake.logs import Subsystem, get_logger
from keepsake.names import check_agent_name, folder_name
from keepsake.prompt.verbs import Verb, own_verbs

log = get_logger(Subsystem.AGENTS)

AGENT_LOCKS = "puppet:perm(Developer);get:false();call:false();delete:perm(Builder)"
"""Only developers play an agent, only builders delete one, and nobody picks it up."""


def _has_witness(mover: GameObject, room: GameObject | None) -> bool:
    """Return whether another agent is awake in a room."""
    here = room.contents if room is not None else ()
    return any(is_agent(x) and x is not mover and not x.db.asleep for x in here)


class AgentMixin(AgentHooks, CharacterMixin):
    """A character with a memory, a thinker and an actor: ``class Baker(AgentMixin, Character)``.

    It perceives the text that a player would see on the screen, through :meth:`msg`. A game may
    override the methods of :class:`AgentHooks`.

    Attributes (in the database):
        profile: The persona: who the agent is.
        written_profile: The persona before the game changed it; see :meth:`update_profile`.
        examples: Script lines that show its voice.
        talkativeness: How often it acts without being addressed, 0 to 1.
        keeps: It keeps its home open for guests; see :mod:`keepsake.contrib.evennia.characters`.
        paused: It perceives and remembers, but does not think.
        asleep: When it fell asleep, in ISO format. Asleep it does not think, and perceives only
            what wakes it, what it is given, and what is done to it by rule.
        awake_seconds: How long it has been awake since its last sleep.
        memory_id: The id of its memories, a UUID. A new object with the id of a deleted one gets
            the memories of that one, also under another name.
        memory_folder: Its folder below ``vault/agents``; it stays when the agent is renamed.
    """

    agent_cmdset: Any = "keepsake.contrib.evennia.cmdset.NPCCmdSet"
    """The commands that it has instead of the players' commands: a command set, or its path."""

    def basetype_setup(self) -> None:
        """Give it the agents' commands, and its own memory."""
        super().basetype_setup()
        self.ensure_commands()
        if not self.attributes.has(creation.FOLDER):
            creation.begin_memory(self)

    def at_init(self) -> None:
        """Give it the agents' commands when it is loaded, if its class has changed."""
        super().at_init()
        self.ensure_commands()

    def ensure_commands(self) -> None:
        """Give it the commands of :attr:`agent_cmdset`, and the locks of agents.

        Evennia's ``type`` makes an agent of a character without ``basetype_setup``, and a class may
        get another command set.
        """
        wanted = self.agent_cmdset
        path = wanted if isinstance(wanted, str) else f"{wanted.__module__}.{wanted.__qualname__}"
        if [*(self.cmdset_storage or ())][:1] != [path]:
            self.cmdset.add_default(self.agent_cmdset, persistent=True)
            self.locks.add(AGENT_LOCKS)

    def at_object_post_creation(self) -> None:
        """Log that the agent begins, so that earlier events of the same name are not its own."""
        super().at_object_post_creation()
        report(self, MemoryOp.BEGINS)

    is_agent = True

    @property
    def is_listed(self) -> bool:
        """Whether players find it on ``/agents/mine/``. A game may override it.

        Builders hide an agent with ``set NAME/unlisted = 1``.
        """
        return not self.attributes.get("unlisted")

    @property
    def mind(self) -> Mind | None:
        """The agent's components; None while the runtime is not running."""
        return mind_of(self)

    @property
    def memory_folder(self) -> str:
        """The name of its folder below ``vault/agents``."""
        return str(self.attributes.get(creation.FOLDER) or folder_name(self.key))

    def update_profile(self, text: str) -> None:
        """Change the profile because of what has happened in the game.

        The beginning of prompts keeps the profile as it was written, so that a model server need
        not read it again. What has changed is told once, as a fact, and again when it is forgotten.
        A builder's edit (``@agent``, or the page) makes the whole profile the written one.
        """
        written = str(self.attributes.get(creation.WRITTEN) or self.attributes.get("profile") or "")
        self.attributes.add("profile", text)
        if written in ("", text):
            self.attributes.remove(creation.WRITTEN)
        else:
            self.attributes.add(creation.WRITTEN, written)

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
        """Send a text to the agent's session, if it has one, and let the agent perceive it.

        This is how an agent hears: Evennia calls it for each line that a character is shown.
        """
        super().msg(text=text, from_obj=from_obj, session=session, options=options, **kwargs)
        self.take_line(text, from_obj)

    def take_line(self, text: Any, from_obj: Any) -> None:
        """Perceive a line; its arguments are those of :meth:`msg`."""
        perceive(self, text, from_obj)

    def at_object_receive(
        self,
        moved_obj: GameObject,
        source_location: GameObject | None,
        move_type: str = "move",
        **kwargs: Any,
    ) -> None:
        """Expect the line about a gift, in any game."""
        super().at_object_receive(moved_obj, source_location, move_type=move_type, **kwargs)
        if move_type == MessageType.GIVE and is_character(source_location):
            expect_gift(self, source_location, moved_obj)

    def at_object_leave(
        self,
        moved_obj: GameObject,
        target_location: GameObject | None,
        move_type: str = "move",
        **kwargs: Any,
    ) -> None:
        """Remember that a thing is gone, unless the agent itself gives it or puts it down."""
        super().at_object_leave(moved_obj, target_location, move_type=move_type, **kwargs)
        mind = mind_of(self)
        is_own = mind is not None and mind.actor.current is not None
        if not (is_own and move_type != MessageType.DEED):
            self.loses(moved_obj)

    def loses(self, thing: GameObject) -> None:
        """Remember that a thing which the agent carried is gone, by somebody's deed or the game's.

        ``move_to`` calls it. Call it before ``location = None`` or ``delete``, of which Evennia
        tells nobody.
        """
        mind = mind_of(self)
        if mind is None or self.has_account:  # who plays it has seen what became of the thing
            return
        name = plain_line(str(thing.get_numbered_name(1, self, return_string=True)))
        told = f"You no longer carry {name}."
        mind.memory.remember(Sight(shown=told), place=place_of(self))

    def pass_on(self, question: Impulse) -> bool:
        """Let another agent here think about a question to everybody; return whether one does."""
        return pass_on(self, question)

    # -- speaking

    def at_msg_send(
        self, text: Any = None, to_obj: GameObject | None = None, **kwargs: Any
    ) -> None:
        """Note who gets what the agent says."""
        super().at_msg_send(text=text, to_obj=to_obj, **kwargs)
        mind = mind_of(self)
        if mind is not None and (act := mind.actor.current) is not None and to_obj is not self:
            act.reached.add(identity_of(to_obj))
            is_said = isinstance(act.what, Speech) and act.what.manner is not Manner.WHISPER
            if is_said and to_obj is act.addressee and is_character(to_obj) and to_obj.has_account:
                note_partner(to_obj, self)

    def say_by_hook(
        self, words: str, to: CharacterObject | None = None, *, whisper: bool = False
    ) -> None:
        """Speak in the game's own way, by Evennia's ``at_say``, without a command."""
        receivers = [to] if to is not None else None
        speech = Speech(
            speaker=hearing.person_of(self),
            words=words,
            to=hearing.persons_of(receivers),
            manner=Manner.WHISPER if whisper else Manner.SAY,
        )
        # Evennia shows receivers of a plain ``say`` the bare words, so they hear it with the room.
        with hearing.happens(speech):
            self.at_say(words, receivers=receivers if whisper else None, whisper=whisper)

    # -- arrivals and departures

    def notice_move(self, mover: CharacterObject, *, memory: int = 0, line: str = "") -> None:
        """React to a character that has come or left; ``memory`` and ``line``: its memory, if any.

        Evennia announces a departure before the move: call this after the move.
        """
        react_to_move(self, mover, memory=memory, line=line)

    def at_post_move(
        self, source_location: GameObject | None, move_type: str = "move", **kwargs: Any
    ) -> None:
        """Log it. Have a slow model read the prompt, if a player is where it comes to stay."""
        super().at_post_move(source_location, move_type=move_type, **kwargs)
        if running() and self.mind is not None:
            rooms = (source_location, self.location)
            announced = move_type == MessageType.TRAVERSE and not self.unannounced
            moved = Move(
                agent=self.key,
                origin=source_location.key if source_location else "",
                place=self.location.key if self.location else "",
                seen=announced and any(_has_witness(self, each) for each in rooms),
                usual=self.unannounced,
            )
            runtime().events.emit(moved)
            runtime().post(self.read_ahead)  # by then its walk has ended, if it is there

    def read_ahead(self, *, for_newcomers: bool = False) -> None:
        """Have a slow model read the agent's prompt for the first player who is here.

        Args:
            for_newcomers: Whether it is read for nobody yet, where new players enter the game.
        """
        mind = self.mind
        if mind is None:
            return
        players = players_near(self)
        enter = self.location is not None and self.location.dbref == settings.START_LOCATION
        if players:
            mind.thinker.read_ahead(players[0])
        elif for_newcomers and enter:
            mind.thinker.read_ahead(None)

    def at_look(self, target: GameObject | None, **kwargs: Any) -> str:
        """Return what the agent sees: nothing of its room while it walks home or sleeps."""
        mind = self.mind
        if mind and target is self.location and (mind.walker.walking or mind.sleeper.asleep):
            return ""
        return str(super().at_look(target, **kwargs))

    # -- puppeting, copying, renaming, deletion

    def at_post_puppet(self, **kwargs: Any) -> None:
        """Show the room to the player who puppets the agent. There is no arrival to announce."""
        super().msg((self.at_look(self.location), {"type": MessageType.LOOK}))

    def at_post_unpuppet(self, account: Any = None, session: Any = None, **kwargs: Any) -> None:
        """Do nothing: the agent stays in the world and acts by itself again."""

    def at_object_post_copy(self, new_obj: Body, **kwargs: Any) -> None:
        """Give a copy its own memory, because two agents cannot write one archive."""
        close_mind(new_obj.id)
        for name in (*SLEEP_ATTRIBUTES, creation.MEMORY_ID):
            new_obj.attributes.remove(name)
        creation.begin_memory(new_obj)
        report(new_obj, MemoryOp.BEGINS)

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
        last = last_number(self)
        if mind := reopen_mind(self):
            mind.when_open(mind.thinker.schedule)
        if clean != oldname:
            report(self, MemoryOp.RENAMED, about=oldname, last=last)

    def at_object_delete(self) -> bool:
        """Close the memory; the archive stays in the vault."""
        report(self, MemoryOp.ENDS)
        self.ndb.being_deleted = True
        close_mind(self.id)
        return bool(super().at_object_delete())


def __getattr__(name: str) -> object:
    """Return ``AgentNPC``, whose path was in this module when characters of it were made."""
    if name == "AgentNPC":
        return import_module("keepsake.contrib.evennia.npcs").AgentNPC
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
