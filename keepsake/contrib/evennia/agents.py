"""Agents: characters that a language model plays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from typing import Any, TypeGuard

from evennia.objects.objects import DefaultObject

from keepsake.agent.acting import CurrentAct
from keepsake.agent.agent_log import call_hook
from keepsake.agent.attention import Impulse, ImpulseKind
from keepsake.agent.body import Body, CharacterObject, GameObject
from keepsake.agent.mind import Mind
from keepsake.agent.runtime import running, runtime
from keepsake.agent.sleep.sleeper import SLEEP_ATTRIBUTES
from keepsake.agent.surroundings import (
    identity_of,
    impulse_of,
    is_agent,
    is_character,
    name_of,
    place_of,
    players_near,
)
from keepsake.archive.message_types import MOVES, MessageType
from keepsake.archive.records import Memory, MemoryFacts
from keepsake.contrib.evennia import creation, hearing
from keepsake.contrib.evennia.characters import CharacterMixin, answers_room, greeter, may_join_in
from keepsake.contrib.evennia.minds import (
    Suspension,
    close_mind,
    last_number,
    mind_of,
    reopen_mind,
    report,
    suspension_of,
)
from keepsake.errors import NameRefused
from keepsake.events.values import MemoryOp
from keepsake.happening import ME, Manner, Result, Speech, What, actor_of, addressees_of
from keepsake.language import perception
from keepsake.logs import Subsystem, get_logger, logged
from keepsake.names import check_agent_name, folder_name
from keepsake.prompt.verbs import Verb, own_verbs
from keepsake.tasks.answer import AnswerPart

log = get_logger(Subsystem.AGENTS)

_ECHOES = frozenset(
    {
        MessageType.SAY,
        MessageType.TALK,
        MessageType.WHISPER,
        MessageType.POSE,
        MessageType.SHOUT,
        MessageType.CHANNEL,
    }
)
"""Types of messages that only repeat the agent's own act, which it remembers already."""
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

    agent_cmdset: Any = "keepsake.contrib.evennia.cmdset.NPCCmdSet"
    """The commands that it has instead of the players' commands: a command set, or its path."""

    private_lines = True
    """Whether a plain line that is sent to this agent alone is private: ``agent.msg("…")``.

    The agent tells it only to the character that sent it, or to nobody if no character did. Set it
    to False if your game sends lines that everybody may know to each character by itself, such as
    the weather.
    """

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

    # -- hooks for games: they are called on the reactor thread; their exceptions are logged

    agent_verbs: Mapping[str, str] = {}
    """Commands of its command set that the model is offered in addition to the standard verbs.

    Maps each usage to a sentence on what it does: ``{"attack <person>": "attack somebody"}``. The
    first word is the command; ``<person>``, ``<thing>``, ``<item>`` (carried) and ``<exit>`` are
    replaced by what is there, ``<words>`` is free text. May be a property.
    """

    def at_agent_heard(
        self, line: str, speaker: CharacterObject, kind: str, addressed: bool
    ) -> bool | None:
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

    def deeds_needed(self, words: str, who: Any) -> Mapping[str, str]:
        """Called when a model that writes no commands has answered somebody.

        If the model says that its answer agrees to one of the deeds, ``who`` is told what it needs.

        Args:
            words: What was said to the agent.
            who: The character that said it.

        Returns:
            Deeds that the words are about and that no command of the agent does, each with what
            ``who`` must do: ``{"give comb of honey to Tom": "Tell the bees the news first."}``.
        """
        return {}

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
        mind = mind_of(self)
        if not text or (mind is None and suspension_of(self) is None):
            return
        raw, facts = _text_and_options(text)
        sender = _sender_in(from_obj)
        # The message goes to others, too, and a mistake here must not keep it from them.
        with logged(log, "A message could not be perceived", agent=self.key):
            self._perceive(mind, raw, facts, sender, direct=isinstance(text, str))

    def _perceive(
        self,
        mind: Mind | None,
        raw: str,
        options: Mapping[str, Any],
        sender: GameObject | None,
        *,
        direct: bool,
    ) -> None:
        """Remember a line and react to it; later, if the agent is suspended and has no mind."""
        line = perception.perceive(raw, own_name=self.key)
        if not line:
            return
        act = mind.actor.current if mind is not None else None
        if mind is not None and act is not None and sender in (None, self):
            self._perceive_result(mind, act, line, options, direct=direct)
            return
        heard = hearing.perceived(self, line, sender, options, direct=direct)
        if heard.again:
            return
        facts: MemoryFacts = {**heard.facts, "place": place_of(self), "event": heard.kind}
        heard = replace(heard, facts=facts)
        everyday = heard.kind == MessageType.SCENE and self.is_everyday(line, options, sender)
        ignored = everyday or getattr(sender, "unannounced", False)
        if mind is not None:
            self._take_in(mind, heard, line, sender, ignored=ignored)
        elif (suspension := suspension_of(self)) is not None and not ignored:
            self._take_in_later(suspension, heard, line, sender)

    def _take_in(
        self,
        mind: Mind,
        heard: hearing.Heard,
        line: str,
        sender: GameObject | None,
        *,
        ignored: bool = False,
    ) -> None:
        """Remember what it has perceived, and react to it, unless it sleeps through it."""
        sleeps = self.db.asleep and not mind.sleeper.disturb(sender, heard.what, heard.kind)
        if sleeps or ignored:
            return
        number = mind.memory.remember(heard.what, **heard.facts)
        self._react_to_memory(mind, heard, line, sender, number)

    def _take_in_later(
        self, suspension: Suspension, heard: hearing.Heard, line: str, sender: GameObject | None
    ) -> None:
        """Keep what it has perceived on the disk, and react to it once it has a mind again."""
        shared = runtime()
        memory = Memory(0, shared.clock.now(), heard.what, **heard.facts)
        if self.db.asleep or not shared.spill.keep(self.memory_folder, memory.to_line()):
            suspension.then(lambda mind: self._take_in(mind, heard, line, sender))
            return

        def react(mind: Mind) -> None:
            number = mind.memory.number_of(heard.facts["happening"])
            self._react_to_memory(mind, heard, line, sender, number)

        suspension.then(react)

    def _react_to_memory(
        self,
        mind: Mind,
        heard: hearing.Heard,
        line: str,
        sender: GameObject | None,
        number: int,
    ) -> None:
        """React to what it has just remembered, under that number; 0 if it waits for the disk."""
        if heard.kind in MOVES and _is_seen(sender, self):
            runtime().post(lambda: self.notice_move(sender, memory=number, line=line))
        self._react(mind, heard, line, number)

    def _react(self, mind: Mind, heard: hearing.Heard, line: str, number: int) -> None:
        """Let the agent think about what it perceived, if that is worth a thought."""
        source = actor_of(heard.what)
        speaker = hearing.object_of(source.id) if source is not None else None
        if speaker is None or speaker is self:
            return
        event = impulse_of(self, speaker, heard.what, event=heard.kind, private=heard.private)
        if event is None:
            return
        if event.from_player:
            event = self._with_addressee(event, speaker, heard.what)
            joins = may_join_in(self, speaker, runtime().seconds())
            if event.kind is ImpulseKind.HEARD and not joins:
                mind.sleeper.notice(event)
                return
        elif event.kind is ImpulseKind.ADDRESSED:
            event = replace(event, errand=_is_for_plan(speaker, self))
        if self._may_react(line, speaker, heard.kind, event.kind):
            by_agent = event.kind is ImpulseKind.ADDRESSED and not event.from_player
            # What its plan waits for is answered by the next step of the plan.
            if not (by_agent and mind.plans.answer(event.person)):
                mind.thinker.notice(replace(event, memory_number=number))
        mind.sleeper.notice(event)

    def _perceive_result(
        self, mind: Mind, act: CurrentAct, line: str, facts: Mapping[str, Any], *, direct: bool
    ) -> None:
        """Remember what the agent's own act shows it, unless that only repeats the act."""
        kind = str(facts.get("type", ""))
        act.echoed = act.echoed or (
            not direct and kind != MessageType.FAILURE and act.has_words(line)
        )
        if kind in _ECHOES:
            return
        command = act.command
        if kind == MessageType.FAILURE:
            act.failed = True
            if isinstance(act.what, Speech):
                return  # the words are said in another way, or the actor says that they were not
            line = f"{f'You tried to {command.verb} {command.argument}'.rstrip()}: {line}"
        what = Result(
            verb=command.verb, act=act.memory_number, done=kind != MessageType.FAILURE, shown=line
        )
        happening = act.happening
        mind.memory.remember(what, place=place_of(self), event=kind, happening=happening)

    def _may_react(
        self, line: str, speaker: CharacterObject, kind: str, event: ImpulseKind
    ) -> bool:
        """Whether the game's hook allows a thought about what the agent heard."""
        heard = (line, speaker, kind, event in (ImpulseKind.ADDRESSED, ImpulseKind.GIVEN))
        return call_hook(self, "at_agent_heard", bool | None, True, *heard) is not False

    def _with_addressee(self, event: Impulse, player: CharacterObject, what: What) -> Impulse:
        """Return the event, as addressed if the player's words to the room are for this agent."""
        now = runtime().seconds()
        to = addressees_of(what)
        said = isinstance(what, Speech) and what.manner is Manner.SAY and not to
        to_room = event.kind is ImpulseKind.HEARD and said and not event.aside
        if to_room and answers_room(self, player, now):
            event = replace(event, kind=ImpulseKind.ADDRESSED)
        if event.kind is ImpulseKind.ADDRESSED:
            player.ndb.spoken_to = (self, now)
        elif to and ME not in to and (player.ndb.spoken_to or [None])[0] is self:
            player.ndb.spoken_to = None
        return event

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
            hearing.expect_gift(self, source_location, moved_obj)

    # -- speaking

    def at_msg_send(self, text: Any = None, to_obj: Any = None, **kwargs: Any) -> None:
        """Note who gets what the agent says."""
        super().at_msg_send(text=text, to_obj=to_obj, **kwargs)
        mind = mind_of(self)
        if mind is not None and (act := mind.actor.current) is not None and to_obj is not self:
            act.reached.add(identity_of(to_obj))

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

    def is_everyday(self, line: str, facts: Mapping[str, Any], from_obj: GameObject | None) -> bool:
        """Whether a scene is not remembered. A game may override it for its daily scenes."""
        return False

    def usual_day(self) -> str:
        """Return what the agent does on an ordinary day, in a line; empty if that is not set.

        A game may override it. The line is in every prompt, and at night a model plans what the
        agent does besides. It should stay the same for a day: a model server keeps the beginning of
        a prompt, where it stands, in its cache.
        """
        return ""

    def usual_now(self) -> str:
        """Return what the agent does at this hour of an ordinary day; empty if that is not set.

        A game may override it. The line is at the end of every prompt.
        """
        return ""

    def at_minute(self) -> None:
        """Called each minute. A game may override it to move its agents through their day."""

    # -- arrivals and departures

    def notice_move(self, mover: CharacterObject, *, memory: int = 0, line: str = "") -> None:
        """React to a character that has come or left; ``memory`` and ``line``: its memory, if any.

        Evennia announces a departure before the move: call this after the move.
        """
        if (mind := self.mind) is None:
            return
        came = mover.location is self.location
        is_player = not is_agent(mover)
        if came and mover.has_account:
            mind.thinker.read_ahead(mover)
        mind_of_mover = mind_of(mover) if is_agent(mover) else None
        passes = mind_of_mover is not None and mind_of_mover.sleeper.walking
        if came and not passes and greeter(self.location, mover) is self:
            who = identity_of(mover)
            arrival = ImpulseKind.ARRIVAL
            if self._may_react(line, mover, arrival.value, arrival):
                name = name_of(mover, self)
                mind.thinker.notice(Impulse(arrival, is_player, name, memory, who))
        else:
            mind.thinker.schedule()

    def at_post_move(self, source_location: Any, move_type: str = "move", **kwargs: Any) -> None:
        """Have a slow model read the agent's prompt, if a player is where it comes to stay."""
        super().at_post_move(source_location, move_type=move_type, **kwargs)
        if running() and self.mind is not None:
            runtime().post(self.read_ahead)  # by then its walk has ended, if it is there

    def read_ahead(self) -> None:
        """Have a slow model read the agent's prompt for the first player who is here."""
        players = players_near(self)
        if players and (mind := self.mind) is not None:
            mind.thinker.read_ahead(players[0])

    def at_look(self, target: GameObject | None, **kwargs: Any) -> str:
        """Return what the agent sees: nothing of its room while it walks home or sleeps."""
        mind = self.mind
        if mind and target is self.location and (mind.sleeper.walking or mind.sleeper.asleep):
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


def _text_and_options(text: Any) -> tuple[str, Mapping[str, Any]]:
    """Return the text of a message and its options.

    Evennia sends ``(text, {"type": "look"})``. Games also send a list of texts, a number or an
    object, of which a client shows the first item, or what it is as text.
    """
    if not isinstance(text, tuple | list):
        return str(text), {}
    first, last = text[0], text[-1]
    return str(first), last if isinstance(last, Mapping) and len(text) > 1 else {}


def _sender_in(from_obj: object) -> GameObject | None:
    """Return the object that a message is from: the first of several; None if it is a session."""
    several = from_obj if isinstance(from_obj, list | tuple) else (from_obj,)
    return next((each for each in several if isinstance(each, DefaultObject)), None)


def _is_for_plan(speaker: CharacterObject, listener: Body) -> bool:
    """Whether an agent says something for a plan to another one, who is certain to be asked."""
    mind = mind_of(speaker) if is_agent(speaker) else None
    act = mind.actor.current if mind is not None else None
    if mind is None or act is None or not act.plan:
        return False
    return mind.plans.may_ask(identity_of(listener))


def _is_seen(mover: GameObject | None, agent: Body) -> TypeGuard[CharacterObject]:
    """Whether it is a character whose arrivals and departures the agent notices."""
    unseen = getattr(mover, "unannounced", False)
    return is_character(mover) and mover is not agent and not unseen


def notice_login(sender: CharacterObject, **_: object) -> None:
    """Let the agents in the room notice that a player has entered or left the game."""
    room = sender.location or sender.db.prelogout_location
    for each in room.contents_get(content_type="character") if room else ():
        if is_agent(each) and _is_seen(sender, each):
            each.notice_move(sender)


def __getattr__(name: str) -> object:
    """Return ``AgentNPC``, whose path was in this module when characters of it were made."""
    if name == "AgentNPC":
        return import_module("keepsake.contrib.evennia.npcs").AgentNPC
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
