"""Players of a world of the lab: real accounts and sessions, without a connection behind them."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from typing import Any

import evennia
from evennia.server.serversession import ServerSession
from evennia.utils import create

from game.lab.simulations.timeline import Timeline
from game.lab.simulations.visits import NAMES, Visit
from typeclasses.accounts import Account
from typeclasses.agents import Agent
from typeclasses.characters import Character

_FIRST_SESSION = 1000


def make_visitors(how_many: int, start: Any) -> None:
    """Make the accounts and characters of so many visitors; they are nowhere until they come."""
    for name in NAMES[:how_many]:
        make_player(name, start)


def make_player(name: str, start: Any) -> None:
    """Make an account with a character that is nowhere until it comes."""
    email = f"{name.casefold()}@example.org"
    account = create.create_account(name, email, secrets.token_urlsafe(16), typeclass=Account)
    character = create.create_object(Character, key=name, location=None, home=start)
    character.locks.add(f"puppet:pid({account.id})")
    account.characters.add(character)


def enter(number: int, character: Any, host: Agent) -> None:
    """The character's player logs in, in a session of that number, and is where the host is."""
    account = Account.objects.get(username=character.key)
    # Who comes back to the game comes back to where they left it.
    character.db.prelogout_location = host.location or host.home
    account.puppet_object(_connected(number, account), character)


def leave(number: int, character: Any) -> None:
    """The player of that session logs out."""
    session = evennia.SESSION_HANDLER.session_from_sessid(number)
    character.account.unpuppet_object(session)
    evennia.SESSION_HANDLER.pop(number, None)


class Visitors:
    """Brings visitors into the world when their time has come."""

    def __init__(self, timeline: Timeline, agents: Sequence[Agent], since: float) -> None:
        self._timeline, self._agents, self._since = timeline, agents, since
        evennia.SESSION_HANDLER.data_out = _unheard  # nobody is at the other end

    def expect(self, visits: Sequence[Visit]) -> None:
        """Plan these visits."""
        for visit in visits:
            self._timeline.timer.callLater(visit.begins - self._since, self._come, visit)

    def _come(self, visit: Visit) -> None:
        number = _FIRST_SESSION + visit.visitor
        enter(number, _character(visit.visitor), self._agents[visit.host])
        for line in visit.lines:
            self._timeline.timer.callLater(line.at, self._act, visit, line.words)

    def _act(self, visit: Visit, words: str) -> None:
        character, host = _character(visit.visitor), self._agents[visit.host]
        if not words:
            leave(_FIRST_SESSION + visit.visitor, character)
            return
        if host.location is not None and character.location is not host.location:
            character.move_to(host.location)  # it has walked on, and the visitor with it
        character.execute_cmd(f"talk {host.key.casefold()} {words}")


def _character(visitor: int) -> Any:
    return Character.objects.get(db_key=NAMES[visitor])


def _connected(number: int, account: Any) -> Any:
    """A session of that account, as the Portal would announce it."""
    arriving, handler = ServerSession(), evennia.SESSION_HANDLER
    arriving.init_session("telnet", ("127.0.0.1", "lab"), handler)
    arriving.sessid = number
    handler.portal_connect(arriving.get_sync_data())
    session = handler.session_from_sessid(number)
    handler.login(session, account, testmode=True)
    return session


def _unheard(*_what: Any, **_more: Any) -> None:
    """What a session would send to a screen."""
