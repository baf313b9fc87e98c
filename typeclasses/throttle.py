"""Limits on password attempts and new accounts, counted together for every kind of log-in.

Telnet and web socket use :class:`typeclasses.accounts.Account`, web pages the Django backend
``game.web.middleware``. The counts are in Django's cache in the Server's process, where counting
is atomic across threads.

Wrong passwords are counted in three ways:

* **for one account from one address**: at the limit, every further password of this pair is
  refused for a while, even the right one. Nobody else is affected.
* **for one address** over all names, and **for one account** from all addresses: at the limit, a
  player who has logged in to that account from that address before is not affected. All others
  share one attempt every half minute for each full count. Password spraying and botnets become
  slow, and no right password is locked out.
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

PAIR_LIMIT = 5
"""Wrong passwords allowed for one account from one address in :data:`PAIR_SECONDS`."""
PAIR_SECONDS = 300
"""Seconds for which such a wrong password counts."""
ADDRESS_LIMIT = 20
"""Wrong passwords allowed from one address in :data:`WINDOW_SECONDS`, over all names."""
ACCOUNT_LIMIT = 50
"""Wrong passwords allowed for one account in :data:`WINDOW_SECONDS`, from all addresses."""
WINDOW_SECONDS = 600
"""Seconds for which other wrong passwords count."""
RETRY_SECONDS = 30
"""Seconds between two tries that are let through although their limit is reached."""
CREATION_LIMIT = 20
"""New accounts allowed from one address in :data:`CREATION_SECONDS`: enough for a class."""
CREATION_SECONDS = 600
"""Seconds for which a new account counts."""
ADDRESSES = "login_addresses"
"""The attribute with the addresses of an account's last log-ins, the newest first."""
MOST_ADDRESSES = 16
"""How many addresses of an account are kept: of a home, an office, a phone and some journeys."""
LONGEST_NAME = 200
"""Characters kept of a name. No account's name is longer; SQLite refuses to search for 50,000."""

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
class AccessAttempt:
    """One attempt to log in or to make an account, allowed or refused."""

    refusal: str = ""  # the reason shown to the player; empty if allowed
    counted: tuple[str, ...] = ()

    def take_back(self) -> None:
        """Uncount the attempt: the password was right, or it was not checked."""
        for key in self.counted:
            with suppress(ValueError):  # the window of this count has ended
                _CACHE.decr(key)


def attempt(username: str, address: str) -> AccessAttempt:
    """Count a password before it is checked. It counts as wrong until it is taken back.

    An attempt without an address comes from the program itself and is not counted.
    """
    if not address:
        return AccessAttempt()
    source = network_of(address)
    name = unicodedata.normalize("NFKC", username).casefold()  # finer than any search for it
    pair = _key("pair", name, source)
    if _CACHE.get(pair, 0) >= PAIR_LIMIT:
        return AccessAttempt(TOO_OFTEN)
    crowds = {_key("address", source): ADDRESS_LIMIT, _key("account", name): ACCOUNT_LIMIT}
    full = [key for key, limit in crowds.items() if not _take(key, limit, WINDOW_SECONDS)]
    if full and not _has_logged_in(username, source):
        free = [_CACHE.add(f"{key}-turn", 1, RETRY_SECONDS) for key in full]  # each has one turn
        if not all(free):
            return AccessAttempt(WAIT)
    if not _take(pair, PAIR_LIMIT, PAIR_SECONDS):
        return AccessAttempt(TOO_OFTEN)  # another thread was faster
    return AccessAttempt(counted=(pair, *crowds))


def clean_name(username: str) -> str:
    """Return a name that the database can search for, from any input."""
    return username.replace("\0", "")[:LONGEST_NAME]  # PostgreSQL refuses NUL characters


def creation(address: str) -> AccessAttempt:
    """Count an account before it is created. Call ``take_back`` if it was not created."""
    if not address:
        return AccessAttempt()
    key = _key("creation", network_of(address))
    if not _take(key, CREATION_LIMIT, CREATION_SECONDS):
        return AccessAttempt(TOO_MANY_NEW)
    return AccessAttempt(counted=(key,))


def network_of(address: str) -> str:
    """Return the unit that counts as one address: for IPv6, a customer's /64 network."""
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return address
    if isinstance(found, ipaddress.IPv4Address):
        return address
    return str(found.ipv4_mapped or ipaddress.ip_network((found, 64), strict=False))


def _has_logged_in(username: str, source: str) -> bool:
    # Read from the database: Evennia's cache belongs to the reactor thread.
    found = AccountDB.objects.filter(
        username__iexact=username, db_attributes__db_key__in=(ADDRESSES, "creator_ip")
    ).values_list("db_attributes__db_value", flat=True)
    known = (each if isinstance(each, list) else [each] for each in found)
    return source in {network_of(each) for each in itertools.chain.from_iterable(known)}


def _take(key: str, limit: int, seconds: int) -> bool:
    """Count one attempt in a window of ``seconds``. Return whether it is within the limit."""
    _CACHE.add(key, 0, seconds)
    try:
        count: int = _CACHE.incr(key)
    except ValueError:  # the window ended between the two
        return _take(key, limit, seconds)
    if count == limit + 1:
        logger.log_sec(f"Throttle: more than {limit} in {seconds} s of {key}.")
    return count <= limit


def _key(kind: str, *parts: str) -> str:
    # The hash allows any input of any length.
    digest = hashlib.blake2b(repr(parts).encode(), digest_size=16).hexdigest()
    return f"{kind}-{digest}"
