"""Visitors of a simulated world: real accounts and sessions, without a connection behind them."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from typing import Any

import evennia
from evennia.server.serversession import ServerSession
from evennia.utils import create

from game.simulation.visits import NAMES, Visit
from keepsake.contrib.evennia.agents import AgentMixin
from typeclasses.accounts import Account
from typeclasses.characters import Character

_FIRST_SESSION = 1000


def make_visitors(how_many: int, start: Any) -> None:
    """Make the accounts and characters of the visitors; they are nowhere until they come."""
    for name in NAMES[:how_many]:
        email = f"{name.casefold()}@example.org"
        account = create.create_account(name, email, secrets.token_urlsafe(16), typeclass=Account)
        character = create.create_object(Character, key=name, location=None, home=start)
        character.locks.add(f"puppet:pid({account.id})")
        account.characters.add(character)


class Visitors:
    """Brings visitors into the world when their time has come.

    Args:
        timer: Has ``callLater``, as the reactor has.
        agents: Whom they visit.
    """

    def __init__(self, timer: Any, agents: Sequence[AgentMixin]) -> None:
        self._timer, self._agents = timer, agents
        evennia.SESSION_HANDLER.data_out = _unheard  # nobody is at the other end

    def expect(self, visits: Sequence[Visit], since: float) -> None:
        """Plan these visits."""
        for visit in visits:
            self._timer.callLater(visit.begins - since, self._come, visit)

    def _come(self, visit: Visit) -> None:
        """Log in where the host is, unless it is in the game already; plan what is said."""
        name, host = NAMES[visit.visitor], self._agents[visit.host]
        character = Character.objects.get(db_key=name)
        if not character.sessions.count():  # a run that broke off leaves a body behind
            account = Account.objects.get(username=name)
            # Who comes back to the game comes back to where they left it.
            character.db.prelogout_location = host.location or host.home
            account.puppet_object(_connected(_FIRST_SESSION + visit.visitor, account), character)
        for line in visit.lines:
            self._timer.callLater(line.at, self._act, character, visit, line.words)

    def _act(self, character: Any, visit: Visit, words: str) -> None:
        """Say that where the host is now, who may have walked on; without words log out."""
        host, handler = self._agents[visit.host], evennia.SESSION_HANDLER
        number = _FIRST_SESSION + visit.visitor
        if not words and character.sessions.count():
            character.account.unpuppet_object(handler.session_from_sessid(number))
            handler.pop(number, None)
        elif words:
            if host.location is not None and character.location is not host.location:
                character.move_to(host.location)
            character.execute_cmd(f"talk {host.key.casefold()} {words}")


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
