"""Players of a world of the lab: real accounts and sessions, without a connection behind them."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from typing import Any

import evennia
from evennia.server.serversession import ServerSession
from evennia.utils import create

from keepsake.contrib.evennia.agents import AgentMixin
from keepsake.lab.simulations.timeline import Timeline
from keepsake.lab.simulations.visits import NAMES, Visit
from typeclasses.accounts import Account
from typeclasses.characters import Character

_FIRST_SESSION = 1000


def make_visitors(how_many: int, start: Any) -> None:
    """Make the accounts and characters of the visitors; they are nowhere until they come."""
    for name in NAMES[:how_many]:
        make_player(name, start)


def make_player(name: str, start: Any) -> None:
    """Make an account with a character that is nowhere until it comes."""
    email = f"{name.casefold()}@example.org"
    account = create.create_account(name, email, secrets.token_urlsafe(16), typeclass=Account)
    character = create.create_object(Character, key=name, location=None, home=start)
    character.locks.add(f"puppet:pid({account.id})")
    account.characters.add(character)


class Player:
    """A player of that name, in a session of that number while it is in the game."""

    def __init__(self, name: str, number: int) -> None:
        self.character = Character.objects.get(db_key=name)
        self._number = number

    def come(self, host: AgentMixin) -> None:
        """Log in where the host is, unless it is in the game already."""
        if not self.character.sessions.count():  # a run that broke off leaves a body behind
            account = Account.objects.get(username=self.character.key)
            # Who comes back to the game comes back to where they left it.
            self.character.db.prelogout_location = host.location or host.home
            account.puppet_object(_connected(self._number, account), self.character)

    def go(self) -> None:
        """Log out, if it is in the game."""
        if self.character.sessions.count():
            session = evennia.SESSION_HANDLER.session_from_sessid(self._number)
            self.character.account.unpuppet_object(session)
            evennia.SESSION_HANDLER.pop(self._number, None)

    def type(self, host: AgentMixin, command: str) -> None:
        """Do that where the host is now, who may have walked on."""
        if host.location is not None and self.character.location is not host.location:
            self.character.move_to(host.location)
        self.character.execute_cmd(command)


class Visitors:
    """Brings visitors into the world when their time has come."""

    def __init__(self, timeline: Timeline, agents: Sequence[AgentMixin], since: float) -> None:
        self._timeline, self._agents, self._since = timeline, agents, since
        evennia.SESSION_HANDLER.data_out = _unheard  # nobody is at the other end

    def expect(self, visits: Sequence[Visit]) -> None:
        """Plan these visits."""
        for visit in visits:
            self._timeline.timer.callLater(visit.begins - self._since, self._come, visit)

    def _come(self, visit: Visit) -> None:
        player = Player(NAMES[visit.visitor], _FIRST_SESSION + visit.visitor)
        player.come(self._agents[visit.host])
        for line in visit.lines:
            self._timeline.timer.callLater(line.at, self._act, player, visit, line.words)

    def _act(self, player: Player, visit: Visit, words: str) -> None:
        host = self._agents[visit.host]
        if words:
            player.type(host, f"talk {host.key.casefold()} {words}")
        else:
            player.go()


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
