"""Visitors of a simulated world: real accounts and sessions, without a connection behind them."""

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
        account = create.create_account(
            name, f"{name.casefold()}@example.org", secrets.token_urlsafe(16), typeclass=Account
        )
        character = create.create_object(Character, key=name, location=None, home=start)
        character.locks.add(f"puppet:pid({account.id})")
        account.characters.add(character)


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
        character = _character(visit.visitor)
        account = Account.objects.get(username=NAMES[visit.visitor])
        host = self._agents[visit.host]
        # Who comes back to the game comes back to where they left it: here, where the host is.
        character.db.prelogout_location = host.location or host.home
        session = _connected(_FIRST_SESSION + visit.visitor, account)
        account.puppet_object(session, character)
        for line in visit.lines:
            self._timeline.timer.callLater(line.at, self._act, visit, line.words)

    def _act(self, visit: Visit, words: str) -> None:
        character, host = _character(visit.visitor), self._agents[visit.host]
        if not words:
            self._go(visit, character)
            return
        if host.location is not None and character.location is not host.location:
            character.move_to(host.location)  # it has walked on, and the visitor with it
        character.execute_cmd(f"talk {host.key.casefold()} {words}")

    @staticmethod
    def _go(visit: Visit, character: Any) -> None:
        number = _FIRST_SESSION + visit.visitor
        session = evennia.SESSION_HANDLER.session_from_sessid(number)
        character.account.unpuppet_object(session)
        evennia.SESSION_HANDLER.pop(number, None)


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
