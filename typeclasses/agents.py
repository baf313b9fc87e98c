"""Agents: characters that a language model plays."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import frontmatter
import yaml
from evennia.accounts.models import AccountDB
from evennia.objects.models import ObjectDB
from evennia.utils import create
from twisted.internet.defer import Deferred

from keepsake.agent.agent_log import log
from keepsake.agent.attention import EventKind, PerceivedEvent
from keepsake.agent.memory.named import MEMORY, PROFILE_FILE, memory_named, name_memory
from keepsake.agent.mind import Mind
from keepsake.agent.naming import begin, now
from keepsake.agent.runtime import running, runtime
from keepsake.agent.surroundings import event_of, identity_of, words_of
from keepsake.archive.records import POSE, SCENE, MemoryKind
from keepsake.books.files import replace_file
from keepsake.errors import KeepsakeError, NameRefused, refusing
from keepsake.events.types import MemoryChange
from keepsake.language import perception
from keepsake.names import check_agent_name, folder_name
from typeclasses.characters import Character
from typeclasses.deeds.acting import execute
from typeclasses.deeds.happening import happened
from typeclasses.everywhere import tell_builders
from typeclasses.hosts import answers_room, turned_to
from typeclasses.minds import close_mind, mind_by_number, mind_of, rename_mind

AGENT_CMDSET = "commands.agent_cmdset.AgentCmdSet"
AGENT_LOCKS = "puppet:perm(Developer);get:false();call:false();delete:perm(Builder)"


class Agent(Character):
    """A character with a memory, a thinker and an actor.

    Everything it would see on a screen reaches it through :meth:`msg`.

    Attributes (in the database):
        profile: Who it is.
        examples: Script lines that show its voice.
        talkativeness: How often it does something unasked, 0 to 1.
        keeps: It keeps its home open for guests; see :mod:`typeclasses.hosts`.
        paused: It perceives and remembers, but does not think.
        asleep: It sleeps: it neither thinks nor perceives more than what is loud.
        fell_asleep: Since when, in ISO format.
        tiredness: Seconds awake since its last sleep, and tokens that its thoughts took.
        idle_interval: Seconds between idle thoughts, None for the configured ones.
        memory_folder: Its folder below ``vault/agents``; stays when it is renamed.
        former_names, named_since: What it was called before; see :mod:`keepsake.agent.naming`.
    """

    def basetype_setup(self) -> None:
        """Give it the agents' commands instead of the players'."""
        super().basetype_setup()
        self.cmdset.add_default(AGENT_CMDSET, persistent=True)
        self.locks.add(AGENT_LOCKS)

    @property
    def is_agent(self) -> bool:
        """True for agents, False for people."""
        return True

    @property
    def is_asleep(self) -> bool:
        """Whether it sleeps."""
        return bool(self.db.asleep)

    @property
    def mind(self) -> Mind | None:
        """Its components; None while the agents' services are not running."""
        return mind_of(self)

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
        mind = self.mind
        if mind is None or not (mind.sleeper.walking or mind.sleeper.asleep):
            super().at_post_move(source_location, move_type=move_type, **kwargs)
        else:
            happened(self)

    def at_object_post_copy(self, new_obj: Agent, **kwargs: Any) -> None:
        """Give a copy a memory of its own; two agents cannot write one archive."""
        close_mind(new_obj.id)
        begin(new_obj, all_agents(), now())
        new_obj.attributes.add("memory_folder", folder_name(new_obj.key))
        for name in ("asleep", "fell_asleep", "tiredness"):
            new_obj.attributes.remove(name)
        _tell(new_obj, "begins")

    def at_rename(self, oldname: str, newname: str) -> None:
        """Let the mind go on under the new name, or go back to the old one if it may not."""
        super().at_rename(oldname, newname)
        try:
            clean = check_agent_name(newname, _names_in_use(but=self))
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
            _tell(self, "renamed", about=oldname)

    def at_object_delete(self) -> bool:
        """Close the memory; the archive stays in the vault."""
        _tell(self, "ends")
        self.ndb.being_deleted = True
        close_mind(self.id)
        return bool(super().at_object_delete())


def all_agents() -> list[Agent]:
    """Every agent in the world, by name."""
    found = ObjectDB.objects.filter(db_typeclass_path=f"{Agent.__module__}.{Agent.__name__}")
    return sorted(found, key=lambda agent: agent.key.casefold())


def find_agents(name: str) -> list[Agent]:
    """The agents that ``name`` may mean: a whole name, else every name it begins."""
    wanted = name.strip().casefold()
    agents = all_agents()
    whole = [agent for agent in agents if agent.key.casefold() == wanted]
    return whole or [a for a in agents if wanted and a.key.casefold().startswith(wanted)]


def summary_of(agent: Agent) -> dict[str, str | int]:
    """Name, place, memories and state of an agent, for tables and programs."""
    mind = mind_by_number(agent.id)
    if mind is None:
        memories, state = 0, "opening" if running() else "services not running"
    else:
        state = mind.thinker.state.value
        try:
            memories = mind.memory.memory.status().total
        except KeepsakeError:
            memories = 0
    place = agent.location.key if agent.location else "nowhere"
    return {"name": agent.key, "place": place, "memories": memories, "state": state}


def create_agent(
    name: str,
    *,
    location: Any,
    profile: str,
    examples: Sequence[str] = (),
    home: Any = None,
    talkativeness: float = 0.5,
) -> Agent:
    """Make an agent and put it into the world.

    An archive of that name that is still in the vault becomes its memory again.

    Raises:
        NameRefused: No agent may have that name.
    """
    clean = free_name(name)
    others, since = all_agents(), now()
    agent: Agent = create.create_object(
        Agent,
        key=clean,
        location=location,
        home=home or location,
        attributes=[
            ("profile", profile),
            ("examples", list(examples)),
            ("talkativeness", talkativeness),
            ("memory_folder", folder_name(clean)),
        ],
    )
    begin(agent, others, since)
    _tell(agent, "begins")
    return agent


def _tell(agent: Agent, op: str, *, about: str = "") -> None:
    """Have the event log told of what became of a whole memory, once there is one."""
    if not running() or (mind := agent.mind) is None:
        return
    try:
        last = mind.memory.memory.archive.last_number
    except KeepsakeError:  # its archive cannot be opened, which the component tells itself
        last = 0
    of, by = "agent", "builder"
    runtime().events.emit(MemoryChange(agent=agent.key, op=op, n=last, of=of, by=by, about=about))


def free_name(name: str) -> str:
    """The name as a new agent may have it.

    Raises:
        NameRefused: No agent may have that name, or its folder holds another's memories.
    """
    clean = check_agent_name(name, _names_in_use())
    for other in all_agents():  # two agents would write one archive
        if other.memory_folder.casefold() == folder_name(clean).casefold():
            raise NameRefused(
                f"The memories of {other.key} are kept under the name {clean}",
                "Choose another name",
            )
    return clean


def _names_in_use(but: Agent | None = None) -> Iterator[str]:
    """Whatever everybody ``but`` that agent is called, also those who are away just now."""
    others = Character.objects.all_family().exclude(id=but.id if but else None)
    yield from others.values_list("db_key", flat=True)
    yield from AccountDB.objects.values_list("username", flat=True)


def keep_profile(agent: Agent) -> None:
    """Write the agent's profile and examples into its folder in the vault.

    Raises:
        KeepsakeError: The vault cannot be written.
    """
    post = frontmatter.Post(
        str(agent.db.profile), name=agent.key, examples=list(agent.db.examples or ())
    )
    path = runtime().places.agents / agent.memory_folder / PROFILE_FILE
    if memory := memory_named(path):
        post[MEMORY] = memory
    cure = "Free some disk space or mend the permissions"
    with refusing(f"The profile could not be kept in {path}", cure):
        replace_file(path, frontmatter.dumps(post) + "\n")


def set_memory(agent: Agent, name: str) -> None:
    """Have the agent remember with the memory of that name from now on; empty for ours.

    Raises:
        KeepsakeError: There is no such memory, or its profile cannot be written.
    """
    path = runtime().places.agents / agent.memory_folder / PROFILE_FILE
    what, cure = f"The memory could not be kept in {path}", "Mend the file or its permissions"
    with refusing(what, cure, UnicodeDecodeError, yaml.YAMLError):
        name_memory(path, name)
    rename_mind(agent, agent.key)  # its mind begins anew


def has_lived(name: str) -> bool:
    """Whether the vault holds the memories of a former agent of that name."""
    archive = runtime().places.agents / folder_name(name) / "archive"
    return any(archive.glob("*.jsonl"))


def kept_profile(name: str) -> tuple[str, list[str]]:
    """Profile and examples of a former agent of that name; empty if there was none.

    Raises:
        KeepsakeError: The file is there, but cannot be read.
    """
    path = runtime().places.agents / folder_name(name) / PROFILE_FILE
    try:
        post = frontmatter.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return "", []
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise KeepsakeError(
            f"The profile in {path} cannot be read ({error})", "Mend the file, or give a profile"
        ) from error
    return str(post.content), [str(line) for line in post.get("examples") or ()]
