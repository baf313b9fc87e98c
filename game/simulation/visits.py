"""Plans the visits of simulated players, and what they say, from the seed before the run.

A visitor is a player who comes, talks to an agent and leaves. Hours or days later the visitor
returns, tells more, asks what the agent remembers, and keeps a promise or breaks it.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import evennia
import yaml
from evennia.server.serversession import ServerSession
from evennia.utils import create

from keepsake.agent.body import Body
from keepsake.lab.simulations.plan import HOUR
from keepsake.ports import Scheduler
from typeclasses.accounts import Account
from typeclasses.characters import Character

PEOPLE: Mapping[str, Any] = yaml.safe_load(
    Path(__file__).with_name("people.yaml").read_text("utf-8")
)
"""Names, facts and sentences from which visits are drawn."""
NAMES = tuple(PEOPLE["visitors"].split())
"""The visitors' names, in the order in which they are used."""
_LONGEST = 1500.0
"""The most seconds of a visit; it begins early enough to end within its hour."""
_FIRST_SESSION = 1000


def visits(
    rng: Random, agents: int, last: float
) -> Iterator[tuple[float, int, list[tuple[float, str]]]]:
    """Plan a visitor's visits up to the second ``last``; seven of ten go to a favourite agent.

    Yields:
        One visit: its first second, the number of the agent, and its lines, each with its delay
        in seconds. The last line is empty and ends the visit.
    """
    kinds = PEOPLE["facts"].values()
    facts = [(each["asked"], each["told"].format(rng.choice(each["of"]))) for each in kinds]
    rng.shuffle(facts)
    favourite = rng.randrange(agents)
    hour = rng.choice((0, 0, 1))
    number = 0
    while (begins := hour * HOUR + rng.uniform(120.0, HOUR - _LONGEST)) < last:
        host = favourite if rng.random() < 0.7 else rng.randrange(agents)
        at = 0.0
        lines = []
        for words in (*_visit_lines(rng, facts, number), ""):
            at += rng.uniform(15.0, 90.0)
            lines.append((at, words))
        yield begins, host, lines
        number += 1
        hour += rng.choice((3, 4, 6, 9, 22))


def _visit_lines(rng: Random, facts: list[tuple[str, str]], number: int) -> Iterator[str]:
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
    """Make the visitors' accounts and characters, which have no location until a visit."""
    for name in NAMES[:how_many]:
        make_player(name, start)


def make_player(name: str, home: Any) -> tuple[Account, Character]:
    """Make an account with a character, which has no location."""
    email = f"{name.casefold()}@example.org"
    account = create.create_account(name, email, secrets.token_urlsafe(16), typeclass=Account)
    character = create.create_object(Character, key=name, location=None, home=home)
    character.locks.add(f"puppet:pid({account.id})")
    account.characters.add(character)
    return account, character


class Visitor:
    """A simulated player who logs in for each visit.

    Args:
        number: The index of its name in :data:`NAMES`.
        scheduler: Runs its visits.
    """

    def __init__(self, number: int, scheduler: Scheduler) -> None:
        self._name = NAMES[number]
        self._session = _FIRST_SESSION + number
        self._scheduler = scheduler
        evennia.SESSION_HANDLER.data_out = lambda *_, **_kw: None  # there is no client to send to

    def come(self, host: Body, lines: Sequence[tuple[float, str]]) -> None:
        """Log in where the host is, unless already in the game; schedule the lines."""
        character = Character.objects.get(db_key=self._name)
        if not character.sessions.count():  # an interrupted run leaves the character in the game
            account = Account.objects.get(username=self._name)
            # A login puts the character there.
            character.db.prelogout_location = host.location or host.home
            account.puppet_object(connect(account, self._session), character)
        for at, words in lines:
            self._scheduler.later(at, partial(self._act, character, host, words))

    def _act(self, character: Any, host: Body, words: str) -> None:
        """Say the words where the host is now, who may have moved; without words log out."""
        handler = evennia.SESSION_HANDLER
        if not words and character.sessions.count():
            character.account.unpuppet_object(handler.session_from_sessid(self._session))
            handler.pop(self._session, None)
        elif words:
            if host.location is not None and character.location is not host.location:
                character.move_to(host.location)
            character.execute_cmd(f"talk {host.key.casefold()} {words}")


def connect(account: Any, number: int) -> Any:
    """Log a new session with that number in to the account, as the Portal would."""
    arriving = ServerSession()
    handler = evennia.SESSION_HANDLER
    arriving.init_session("telnet", ("127.0.0.1", "lab"), handler)
    arriving.sessid = number
    handler.portal_connect(arriving.get_sync_data())
    session = handler.session_from_sessid(number)
    handler.login(session, account, testmode=True)
    return session
