"""Players' characters: what a game adds to its own, so that agents meet them."""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime
from typing import TYPE_CHECKING, Any

from twisted.python.failure import Failure

from keepsake.agent.agent_log import log
from keepsake.agent.runtime import now, running, runtime
from keepsake.agent.surroundings import identity_of
from keepsake.contrib.evennia.minds import open_minds, unopened
from keepsake.contrib.evennia.news import Absentee, News, Witness, chosen, news_of
from keepsake.errors import KeepsakeError
from keepsake.events.reader import time_of

if TYPE_CHECKING:
    from evennia.objects.objects import DefaultCharacter as Base
else:
    Base = object

LEFT = "left"
"""Attribute: when they went, in ISO format."""
AGAIN = 1.0
"""Seconds between two looks whether all agents are open."""
PATIENCE = 30.0
"""Seconds after which nothing of it is shown any more."""


_INNER = frozenset({"importance", "chain", "about", "work"})
"""Facts of a line for the minds that perceive it, and for no client."""


class CharacterMixin(Base):
    """Adds to a game's Character what agents know of somebody, and news of a time away.

    No agent needs it: other characters are people to it, too.
    """

    @property
    def is_agent(self) -> bool:
        """True for agents, False for people."""
        return False

    @property
    def is_asleep(self) -> bool:
        """Whether it sleeps."""
        return False

    @property
    def unannounced(self) -> bool:
        """Whether nobody is to notice that this character comes and goes."""
        return bool(self.ndb.unannounced)

    @unannounced.setter
    def unannounced(self, value: bool) -> None:
        self.ndb.unannounced = value

    def msg(self, text: Any = None, from_obj: Any = None, **kwargs: Any) -> None:
        """Show it, without what only minds are told of it."""
        match text:
            case (line, {**facts}) if not _INNER.isdisjoint(facts):
                text = (line, {name: facts[name] for name in facts if name not in _INNER})
        super().msg(text=text, from_obj=from_obj, **kwargs)

    def at_post_puppet(self, **kwargs: Any) -> None:
        """Show what they missed."""
        super().at_post_puppet(**kwargs)
        tell_of_absence(self)

    def at_post_unpuppet(self, account: Any = None, session: Any = None, **kwargs: Any) -> None:
        """Keep when they left."""
        super().at_post_unpuppet(account=account, session=session, **kwargs)
        self.attributes.add(LEFT, now().isoformat())


# -- while they were away


def tell_of_absence(character: Any) -> None:
    """Look for it in a worker, and show it if there is anything."""
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

    def show(found: list[News]) -> None:
        if found and character.pk is not None:
            lines = (f"  {each.text.replace('|', '||')}" for each in found)
            character.msg("\n".join(["|wWhile you were away|n", *lines]))

    runtime().in_thread(work, PATIENCE).addCallbacks(show, failed)
