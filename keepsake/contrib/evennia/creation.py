"""Lists, finds and creates agents, and gives each its memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any
from uuid import NAMESPACE_OID, uuid4, uuid5

import evennia
from django.db.models import Q
from evennia.accounts.models import AccountDB
from evennia.objects.models import ObjectDB
from evennia.objects.objects import DefaultCharacter
from evennia.utils import create
from evennia.utils.utils import class_from_module

from keepsake.agent.body import Body
from keepsake.agent.runtime import running, runtime
from keepsake.agent.surroundings.game_objects import GameObject, RoomObject
from keepsake.agent.surroundings.identity import identity_of, is_agent
from keepsake.contrib.evennia.apps import setting
from keepsake.files import replace_file
from keepsake.language.perception import one_line
from keepsake.logs import Subsystem, get_logger, logged
from keepsake.names import check_agent_name, folder_name

log = get_logger(Subsystem.AGENTS)

FOLDER = "memory_folder"
"""The attribute that every agent has: its folder below ``vault/agents``."""
MEMORY_ID = "memory_id"
"""The attribute with the id of an agent's memories, and the file with that id in their folder."""
WRITTEN = "written_profile"
"""The attribute with an agent's profile as it was written, if the game has changed it since."""
_BUILDER = "_:perm(Builder)"


def all_agents() -> list[Body]:
    """Return every agent in the world, sorted by name.

    An object that Evennia's ``type`` has just made an agent is found by its class, because it has
    no memory yet.
    """
    everything = ObjectDB.objects.order_by()
    paths = everything.values_list("db_typeclass_path", flat=True).distinct()
    ours = [path for path in paths if _is_agent_class(path)]
    has_memory = ObjectDB.objects.filter(db_attributes__db_key=FOLDER).values("id")
    found = ObjectDB.objects.filter(Q(db_typeclass_path__in=ours) | Q(id__in=has_memory))
    return sorted(filter(is_agent, found), key=lambda agent: str(agent.key).casefold())


@cache
def _is_agent_class(path: str) -> bool:
    """Return whether a typeclass is one of agents; False if it cannot be imported."""
    try:
        return is_agent(class_from_module(path))
    except ImportError:
        return False


def find_agents(name: str) -> list[Body]:
    """Return the agents that ``name`` may mean: those of that name, else all it is a prefix of."""
    wanted = one_line(name).replace("’", "'").casefold()
    agents = all_agents()
    whole = [agent for agent in agents if agent.key.casefold() == wanted]
    return whole or [a for a in agents if wanted and a.key.casefold().startswith(wanted)]


def create_agent(
    name: str,
    *,
    location: RoomObject | None,
    profile: str,
    examples: Sequence[str] = (),
    home: RoomObject | None = None,
    talkativeness: float = 0.5,
) -> Body:
    """Create an agent and put it into the world.

    If the vault still has an archive of that name, it becomes the agent's memory.

    Raises:
        NameRefused: No agent may have that name.
    """
    return create.create_object(
        setting("agent_typeclass"),
        key=check_agent_name(name, names_in_use()),
        location=location,
        home=home or location,
        attributes=[
            ("profile", profile),
            ("examples", list(examples)),
            ("talkativeness", talkativeness),
        ],
    )


def begin_memory(agent: Body) -> None:
    """Give an agent that is being created a memory, by the ``memory_id`` among its new attributes.

    It reads them itself: Evennia sets a new object's attributes only after its first look around.
    """
    made = vars(agent).get("_createdict", {})
    _put_into_room(agent, made)
    ours = (FOLDER, MEMORY_ID)
    given = made.get("attributes") or ()
    made["attributes"] = [each for each in given if each[0] not in ours]
    taken = {each.memory_folder.casefold() for each in all_agents() if each.id != agent.id}
    folder = folder_name(agent.key) if agent.key else "agent"
    free = folder if folder.casefold() not in taken else f"{folder}-{agent.id}"
    ids = [each[:2] for each in given if each[0] == MEMORY_ID]
    agent.attributes.batch_add((FOLDER, free), *ids)
    if running():
        settle_memory(agent, new=True)


def _put_into_room(agent: Body, made: dict[str, Any]) -> None:
    """Put an agent that is being created into the room of its maker, and make that its home.

    Evennia's command `create` gives a new object into the hands of the builder, who would be the
    first place that the agent remembers.

    ``made``: What the new object is made from; Evennia applies it afterwards.
    """
    for key in ("location", "home"):
        place = made.get(key)
        while isinstance(place, DefaultCharacter):
            place = place.location
        if place is not None and place is not made[key]:
            made[key] = place
            setattr(agent, key, place)


def memory_id(agent: Body) -> str:
    """Return the id of the agent's memories; empty if it has none yet."""
    return str(agent.attributes.get(MEMORY_ID) or "").strip()


def settle_memory(agent: Body, *, new: bool = False) -> None:
    """Make an agent's ``memory_id`` and its folder match: the attribute and the file become equal.

    If a folder in the vault has the agent's id, the agent gets that folder. Otherwise its own
    folder gets the id. Two agents never share an id.

    ``new``: Whether the agent is being created. Then a folder with another id is not its own.
    """
    agents = runtime().places.agents
    folder = agent.memory_folder
    wanted = memory_id(agent)
    kept = _id_in(agents / folder)
    if wanted and wanted == kept:
        first = ObjectDB.objects.filter(id__lt=agent.id)
        has = {"db_attributes__db_key": FOLDER}
        for older in first.filter(**has, db_attributes__db_value=folder)[:1]:
            older.at_object_post_copy(agent)  # Evennia's command `copy` does not call it
        return
    if wanted:
        others = {each.memory_folder: each for each in all_agents() if each.id != agent.id}
        held = (path.parent for path in sorted(agents.glob(f"*/{MEMORY_ID}")))
        lived = (each.name for each in held if each.name not in others and _id_in(each) == wanted)
        if name := {memory_id(each): each.key for each in others.values()}.get(wanted):
            told = f"{name} has the memory {wanted}; this agent gets another one"
            log.warning(told, agent=agent.key)
            wanted = ""
        elif new and kept:
            folder = next(lived, f"{folder}-{uuid5(NAMESPACE_OID, wanted).hex[:8]}")
        else:
            folder = next(lived, folder)
    # Not a random id, so that a simulation with the same seed gives the same files.
    wanted = wanted or kept or str(uuid5(NAMESPACE_OID, f"{identity_of(agent)} {folder}"))
    agent.attributes.batch_add((FOLDER, folder), (MEMORY_ID, wanted))
    with logged(log, "The id of its memory could not be written", agent=agent.key):
        (agents / folder).mkdir(parents=True, exist_ok=True)
        replace_file(agents / folder / MEMORY_ID, f"{wanted}\n")


def memory_is_missing(agent: Body, folders: Path) -> bool:
    """Return whether the agent has had a memory that the vault no longer holds.

    Its disk may not be mounted. A new memory in its place would begin at 1, and hide the old one.

    ``folders``: The vault's folder of the agents.
    """
    wanted = memory_id(agent)
    if not wanted or (folders / agent.memory_folder).is_dir():
        return False
    return not any(_id_in(path.parent) == wanted for path in folders.glob(f"*/{MEMORY_ID}"))


def begin_anew(agent: Body, folders: Path) -> None:
    """Give an agent whose memory is missing a new one, because somebody asks for it."""
    fresh = str(uuid4())
    folder = folders / agent.memory_folder
    folder.mkdir(parents=True, exist_ok=True)
    replace_file(folder / MEMORY_ID, f"{fresh}\n")
    agent.attributes.add(MEMORY_ID, fresh)


def _id_in(folder: Path) -> str:
    try:
        return (folder / MEMORY_ID).read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""


def names_in_use(but: GameObject | None = None) -> Iterator[str]:
    """Yield the names of all characters and accounts, also offline ones, except agent ``but``."""
    others = DefaultCharacter.objects.all_family().exclude(id=but.id if but else None)
    yield from others.values_list("db_key", flat=True)
    yield from AccountDB.objects.values_list("username", flat=True)


def notify_builders(text: str) -> None:
    """Show ``text`` to every connected builder; on the reactor thread."""
    sessions = evennia.SESSION_HANDLER.get_sessions()
    for who in dict.fromkeys(each.puppet or each.account for each in sessions):
        if who is not None and who.locks.check_lockstring(who, _BUILDER):
            who.msg(text)
