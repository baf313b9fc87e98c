"""While a player was away: what they are told of it when they come back."""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime
from functools import partial
from typing import Any

from evennia.comms.models import Msg
from twisted.python.failure import Failure

from keepsake.agent.agent_log import log
from keepsake.agent.naming import now
from keepsake.agent.runtime import running, runtime
from keepsake.agent.surroundings import identity_of
from keepsake.contrib.evennia.minds import open_minds, unopened
from keepsake.contrib.evennia.news import Absentee, News, Witness, chosen, news_of
from keepsake.errors import KeepsakeError
from keepsake.events.agent_names import time_of

LEFT, TOLD = "left", "told_of_absence"
"""Attributes: when they went, in ISO format; on which memories rests what they were told last."""
AGAIN = 1.0
"""Seconds between two looks whether all agents are open."""
PATIENCE = 30.0
"""Seconds after which nothing of it is shown any more."""


def tell_of_absence(character: Any) -> None:
    """Look for it in a worker, and show it if there is anything."""
    _tell_of_letters(character)
    left = time_of(character.attributes.get(LEFT))
    character.attributes.add(LEFT, now().isoformat())  # a crash tells nobody that they go
    if left is not None and running():
        _look_back(character, left)


def _look_back(character: Any, left: datetime) -> None:
    """Ask all agents, which just after a start are not open yet."""
    if not running() or character.pk is None:
        return
    if unopened():
        runtime().timer.callLater(AGAIN, _look_back, character, left)
        return
    ignored = dict(character.attributes.get("ignored") or {})
    who = Absentee(character.key, identity_of(character), left, ignored)
    minds = [(mind, mind.thinker.agent) for mind in open_minds() if mind.thinker.agent]
    known = [(mind, agent.key, identity_of(agent)) for mind, agent in minds]

    def work() -> list[News]:
        found: list[News] = []
        for mind, name, key in known:
            with suppress(KeepsakeError, OSError):  # told elsewhere
                archive, promises = mind.memory.memory.archive, mind.memory.commitments.items
                found += news_of(Witness(name, key, archive, promises), who)
        return chosen(found)

    def failed(failure: Failure) -> None:
        log(f"[Error] {character.key} is not told of the time away: {failure.value!r}")
        _show(character, [])

    runtime().in_thread(work, PATIENCE).addCallbacks(partial(_show, character), failed)


def _show(character: Any, found: list[News]) -> None:
    if character.pk is None:
        return
    character.attributes.add(TOLD, [(each.agent, each.number) for each in found])
    if found:
        lines = (f"  {each.text.replace('|', '||')}" for each in found)
        character.msg("\n".join(["|wWhile you were away|n", *lines]))


def _tell_of_letters(character: Any) -> None:
    new = Msg.objects.get_by_tag("new", category="mail")
    if character.account and (count := new.filter(db_receivers_accounts=character.account).count()):
        character.msg(f"New letters: {count}. |wmail|n shows them.")
