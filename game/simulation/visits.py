"""Which visitors come when, and what they say: planned by the seed, before anything happens.

A visitor is a player who comes, talks to an agent and goes again; hours or days later it comes
back, tells more, asks what is remembered, and keeps a promise or does not.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any

import evennia
import yaml
from evennia.server.serversession import ServerSession
from evennia.utils import create

from game.simulation.plan import HOUR
from keepsake.contrib.evennia.agents import AgentMixin
from typeclasses.accounts import Account
from typeclasses.characters import Character

PEOPLE: Mapping[str, Any] = yaml.safe_load(
    Path(__file__).with_name("people.yaml").read_text("utf-8")
)
"""Names, trades, facts and sayings that lives and visits are drawn from."""
NAMES = tuple(PEOPLE["visitors"].split())
"""Visitors, in the order in which they are taken."""
_LONGEST = 1500.0
"""Seconds that a visit may take; it begins early enough to be over within its hour."""
_FIRST_SESSION = 1000


def visits(
    rng: Random, agents: int, last: float
) -> Iterator[tuple[float, int, list[tuple[float, str]]]]:
    """A visitor's life up to the second ``last``: a home, a sister, and somebody it likes to see.

    Yields:
        One visit: its first second, the number of the agent, and lines with their delays in
        seconds. An empty last line ends the visit.
    """
    told = PEOPLE["facts"].values()
    facts = [(each["asked"], each["told"].format(rng.choice(each["of"]))) for each in told]
    rng.shuffle(facts)
    favourite, hour, number = rng.randrange(agents), rng.choice((0, 0, 1)), 0
    while (begins := hour * HOUR + rng.uniform(120.0, HOUR - _LONGEST)) < last:
        host = favourite if rng.random() < 0.7 else rng.randrange(agents)
        at, lines = 0.0, []
        for words in (*_said(rng, facts, number), ""):
            at += rng.uniform(15.0, 90.0)
            lines.append((at, words))
        yield begins, host, lines
        number += 1
        hour += rng.choice((3, 4, 6, 9, 22))


def _said(rng: Random, facts: list[tuple[str, str]], number: int) -> Iterator[str]:
    promises = PEOPLE["promises"]
    thing = promises[number // 2 % len(promises)]
    yield "Good day. How are you?" if number else "Good day. We have not met, I think."
    if number:
        yield facts[(number - 1) % len(facts)][0]
    yield facts[number % len(facts)][1]
    yield rng.choice(PEOPLE["news"])
    if number % 2 == 0:
        yield f"I promise to bring you {thing} tomorrow."
    elif rng.random() < 0.6:
        yield f"I have brought you {thing}, as I promised."
    else:
        yield f"I have forgotten {thing} that I promised you. I am sorry."
    if rng.random() < 0.4:
        yield rng.choice(PEOPLE["rules"]).format(rng.choice(PEOPLE["things"]))
    yield "I have to go now. Goodbye."


def make_visitors(how_many: int, start: Any) -> None:
    """Make the accounts and characters of the visitors; they are nowhere until they come."""
    for name in NAMES[:how_many]:
        make_player(name, start)


def make_player(name: str, home: Any) -> tuple[Account, Character]:
    """An account with a character, who is nowhere."""
    email = f"{name.casefold()}@example.org"
    account = create.create_account(name, email, secrets.token_urlsafe(16), typeclass=Account)
    character = create.create_object(Character, key=name, location=None, home=home)
    character.locks.add(f"puppet:pid({account.id})")
    account.characters.add(character)
    return account, character


class Visitor:
    """Comes into the world when its time has come.

    Args:
        number: Its place in :data:`NAMES`.
        timer: Has ``callLater``, as the reactor has.
    """

    def __init__(self, number: int, timer: Any) -> None:
        self._name, self._session, self._timer = NAMES[number], _FIRST_SESSION + number, timer
        evennia.SESSION_HANDLER.data_out = lambda *_, **_kw: None  # nobody is at the other end

    def come(self, host: AgentMixin, lines: Sequence[tuple[float, str]]) -> None:
        """Log in where the host is, unless it is in the game already; plan what is said."""
        character = Character.objects.get(db_key=self._name)
        if not character.sessions.count():  # a run that broke off leaves a body behind
            account = Account.objects.get(username=self._name)
            # Who comes back to the game comes back to where they left it.
            character.db.prelogout_location = host.location or host.home
            account.puppet_object(connected(account, self._session), character)
        for at, words in lines:
            self._timer.callLater(at, self._act, character, host, words)

    def _act(self, character: Any, host: AgentMixin, words: str) -> None:
        """Say that where the host is now, who may have walked on; without words log out."""
        handler = evennia.SESSION_HANDLER
        if not words and character.sessions.count():
            character.account.unpuppet_object(handler.session_from_sessid(self._session))
            handler.pop(self._session, None)
        elif words:
            if host.location is not None and character.location is not host.location:
                character.move_to(host.location)
            character.execute_cmd(f"talk {host.key.casefold()} {words}")


def connected(account: Any, number: int) -> Any:
    """A session of that account, with that number, as the Portal would announce it."""
    arriving, handler = ServerSession(), evennia.SESSION_HANDLER
    arriving.init_session("telnet", ("127.0.0.1", "lab"), handler)
    arriving.sessid = number
    handler.portal_connect(arriving.get_sync_data())
    session = handler.session_from_sessid(number)
    handler.login(session, account, testmode=True)
    return session
