"""`forget me`: erases a player's words from every agent, every log and the database."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from django.db.models import Q
from evennia.comms.models import Msg

from keepsake.agent.runtime import runtime
from keepsake.agent.surroundings import identity_of
from keepsake.archive.forgetting import ForgottenPerson, Traces, forget, mask
from keepsake.contrib.evennia.creation import all_agents
from keepsake.contrib.evennia.minds import close_mind, mind_of
from keepsake.logs import Subsystem, get_logger

log = get_logger(Subsystem.ERASURE)


def forget_everywhere(
    character: Any, done: Callable[[list[str]], None], also: Callable[[Any], None] = lambda _: None
) -> None:
    """Erase a character's words from every store, one agent per turn of the reactor.

    Each agent's mind is closed meanwhile, for some milliseconds per thousand memories.

    Args:
        done: Called at the end with the problems, in words; with an empty list if there are none.
        also: Called to erase the game's own data about the character.
    """
    agents = frozenset(map(identity_of, all_agents()))
    person = ForgottenPerson(identity_of(character), character.key, agents)
    waiting = all_agents()
    found = list[Traces]()
    problems = list[str]()

    def go_on() -> None:
        if waiting:
            agent = waiting.pop(0)
            try:
                if traces := _of_agent(agent, person):
                    found.append(traces)
            except (OSError, ValueError) as error:
                problems.append(f"{agent.key}: {error}")
                log.error("Forgetting failed", agent=agent.key, exc_info=error)
            runtime().post(go_on)
            return
        _of_database(character)
        also(character)
        runtime().workers.submit(partial(_of_logs, found, problems, ended))

    def ended() -> None:
        if (indexes := runtime().indexes) is not None:
            indexes.follow()
        done(problems)

    go_on()


def _of_agent(agent: Any, person: ForgottenPerson) -> Traces | None:
    folder = runtime().places.agents / agent.memory_folder
    indexes = runtime().indexes
    erased = partial(indexes.erase, agent.memory_folder) if indexes is not None else lambda: None
    close_mind(agent.id)
    try:
        return forget(folder, person, str(agent.db.profile or ""), erased)
    finally:
        mind_of(agent)


def _of_database(character: Any) -> None:
    """Erase what the player wrote in Evennia's database: messages, nicks and the description."""
    account = character.account or character.db._last_account
    theirs = Q(db_sender_objects=character) | Q(db_receivers_objects=character)
    if account is not None:
        theirs |= Q(db_sender_accounts=account) | Q(db_receivers_accounts=account)
        account.nicks.clear()
    Msg.objects.filter(theirs).distinct().delete()
    character.nicks.clear()
    character.attributes.remove("desc")


def _of_logs(found: list[Traces], problems: list[str], ended: Callable[[], None]) -> None:
    for path in sorted(Path(runtime().places.logs).rglob("*")):
        if path.is_file() and path.suffix != ".db":
            try:
                mask(path, found)
            except OSError as error:
                problems.append(f"{path.name}: {error}")
                log.error("Forgetting in a log failed", path=path.name, exc_info=error)
    runtime().post(ended)
