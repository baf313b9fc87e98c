"""How often a password may be tried, and an account made: one count for all ways in.

Telnet and web socket ask here by :class:`typeclasses.accounts.Account`, the pages by the Django
backend ``game.web.middleware``. All of it lives in Django's cache of the Server's process, where
counting is atomic, whichever threads ask at once.

What is counted is wrong passwords:

* **of one account from one address**: then nothing more is tried there for a while, not even the
  right one. It concerns nobody else.
* **of one address**, over all names, and **of one account**, from all addresses: then whoever has
  been in that account from that address before goes on as always; anybody else waits for a turn,
  one for all of them every half minute. So spraying and a net of robots become slow, and no right
  password is kept out.
"""

from __future__ import annotations

import hashlib
import ipaddress
import itertools
import unicodedata
from contextlib import suppress
from dataclasses import dataclass

from django.core.cache import caches
from django.utils.connection import ConnectionProxy
from evennia.accounts.models import AccountDB
from evennia.utils import logger

PAIR_LIMIT, PAIR_SECONDS = 5, 300
"""Wrong passwords of one account from one address."""
ADDRESS_LIMIT = 20
"""Wrong passwords from one address in :data:`CROWD_SECONDS`, whichever the names."""
ACCOUNT_LIMIT = 50
"""Wrong passwords of one account in :data:`CROWD_SECONDS`, from addresses of all kinds."""
CROWD_SECONDS = 600
TURN_SECONDS = 30
CREATION_LIMIT, CREATION_SECONDS = 20, 600
"""Accounts from one address: enough for a class or a family."""
ADDRESSES = "login_addresses"
"""The attribute with the addresses from which an account was played last."""
MOST_ADDRESSES = 16
LONGEST_NAME = 200
"""Characters; no account has a name so long, and SQLite refuses to look for one of 50,000."""

TOO_OFTEN = (
    "Too many wrong passwords for this name from your address. Wait five minutes, then try again."
)
WAIT = (
    "Too many wrong passwords were tried for this name, or from your address. Try again in half "
    "a minute."
)
TOO_MANY_NEW = (
    "Too many accounts were made from your address. Log into one that you have, or try again in "
    "ten minutes."
)
_CACHE = ConnectionProxy(caches, "throttle")


@dataclass(frozen=True, slots=True)
class Attempt:
    """One password that may be tried, or may not."""

    refusal: str = ""  # why it is not even looked at, for whoever typed it; empty if it is
    counted: tuple[str, ...] = ()

    def take_back(self) -> None:
        """It was the right one, or nothing came of it: it does not count."""
        for key in self.counted:
            with suppress(ValueError):  # the window of this count has ended meanwhile
                _CACHE.decr(key)


def attempt(username: str, address: str) -> Attempt:
    """Count a password that is about to be tried; it counts as wrong until it is taken back.

    What is asked for without an address comes from the program itself, and is not counted.
    """
    if not address:
        return Attempt()
    source = network_of(address)
    name = unicodedata.normalize("NFKC", username).casefold()  # finer than any search for it
    pair = _key("pair", name, source)
    if _CACHE.get(pair, 0) >= PAIR_LIMIT:
        return Attempt(TOO_OFTEN)
    crowds = {_key("address", source): ADDRESS_LIMIT, _key("account", name): ACCOUNT_LIMIT}
    full = [key for key, limit in crowds.items() if not _take(key, limit, CROWD_SECONDS)]
    if full and not _was_here(username, source):
        free = [_CACHE.add(f"{key}-turn", 1, TURN_SECONDS) for key in full]  # each has one turn
        if not all(free):
            return Attempt(WAIT)
    if not _take(pair, PAIR_LIMIT, PAIR_SECONDS):
        return Attempt(TOO_OFTEN)  # another thread was faster
    return Attempt(counted=(pair, *crowds))


def cut(username: str) -> str:
    """A name that can be looked for, whatever was typed."""
    return username.replace("\0", "")[:LONGEST_NAME]  # PostgreSQL refuses to hear of it


def creation(address: str) -> Attempt:
    """Count an account that is about to be made; ``take_back`` it if it was not."""
    if not address:
        return Attempt()
    key = _key("creation", network_of(address))
    if not _take(key, CREATION_LIMIT, CREATION_SECONDS):
        return Attempt(TOO_MANY_NEW)
    return Attempt(counted=(key,))


def network_of(address: str) -> str:
    """What counts as one address: of IPv6 the /64 that one customer has."""
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return address
    if isinstance(found, ipaddress.IPv4Address):
        return address
    return str(found.ipv4_mapped or ipaddress.ip_network((found, 64), strict=False))


def _was_here(username: str, source: str) -> bool:
    # Asked of the database: Evennia's own cache of it belongs to the reactor thread.
    found = AccountDB.objects.filter(
        username__iexact=username, db_attributes__db_key__in=(ADDRESSES, "creator_ip")
    ).values_list("db_attributes__db_value", flat=True)
    known = (each if isinstance(each, list) else [each] for each in found)
    return source in {network_of(each) for each in itertools.chain.from_iterable(known)}


def _take(key: str, limit: int, seconds: int) -> bool:
    """Count one more of a window of so many seconds; whether it is within the limit."""
    _CACHE.add(key, 0, seconds)
    try:
        count: int = _CACHE.incr(key)
    except ValueError:  # the window ended between the two
        return _take(key, limit, seconds)
    if count == limit + 1:
        logger.log_sec(f"Throttle: more than {limit} in {seconds} s of {key}.")
    return count <= limit


def _key(kind: str, *parts: str) -> str:
    # Whatever was typed, of whatever length.
    digest = hashlib.blake2b(repr(parts).encode(), digest_size=16).hexdigest()
    return f"{kind}-{digest}"
