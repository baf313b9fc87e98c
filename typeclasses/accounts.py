"""People's accounts."""

from __future__ import annotations

import time
from typing import Any

from evennia.accounts.accounts import DefaultAccount, DefaultGuest
from evennia.server.models import ServerConfig

from typeclasses import throttle

_UNTIL = 5
"""Where a ban says until when it holds (Unix time), after what Evennia keeps of it; 0 for ever."""


def current_bans() -> list[tuple[Any, ...]]:
    """The bans that hold, as Evennia keeps them; those that are over go from the database."""
    bans = list(ServerConfig.objects.conf("server_bans") or [])
    holding = [ban for ban in bans if len(ban) <= _UNTIL or not 0 < ban[_UNTIL] < time.time()]
    if len(holding) < len(bans):
        ServerConfig.objects.conf("server_bans", holding)
    return holding


class Account(DefaultAccount):
    """A person who logs in."""

    @classmethod
    def authenticate(
        cls, username: str, password: str, ip: str = "", **kwargs: Any
    ) -> tuple[Account | None, list[str]]:
        """Try a password, unless too many were wrong; the account, or what to tell whoever tries.

        The pages' way is ``game.web.site.log_in``, with the same throttle.
        """
        username = throttle.cut(username)
        attempt = throttle.attempt(username, ip)
        if attempt.refusal:
            return None, [attempt.refusal]
        account, errors = super().authenticate(username, password, ip=ip, **kwargs)
        if account is not None:
            attempt.take_back()
        return account, errors

    @classmethod
    def create(cls, *args: Any, **kwargs: Any) -> tuple[Account | None, list[str]]:
        """Make an account, unless too many came from its address (``ip``)."""
        attempt = throttle.creation(kwargs.get("ip") or "")
        if attempt.refusal:
            return None, [attempt.refusal]
        account, errors = super().create(*args, **kwargs)
        if account is None:
            attempt.take_back()
        return account, errors

    def at_post_login(self, session: Any = None, **kwargs: Any) -> None:
        """Walk in, and keep in mind from where."""
        super().at_post_login(session=session, **kwargs)
        if address := getattr(session, "address", ""):
            self.came_from(address)

    def came_from(self, address: str) -> None:
        """A right password came from there: others' wrong ones will not keep it out."""
        source = throttle.network_of(address)
        known = list(self.attributes.get(throttle.ADDRESSES, default=()))
        if known[:1] != [source]:
            newest = [source, *(each for each in known if each != source)]
            self.attributes.add(throttle.ADDRESSES, newest[: throttle.MOST_ADDRESSES])

    @classmethod
    def is_banned(cls, **kwargs: Any) -> bool:
        """Whether a name or an address is banned now; what was for a time ends by itself."""
        current_bans()
        return bool(super().is_banned(**kwargs))

    def at_post_create_character(self, character: Any, **kwargs: Any) -> None:
        """Leave renaming and deleting the account's one character to the admins.

        Evennia's web site would let its player give it any name, an agent's too.
        """
        super().at_post_create_character(character, **kwargs)
        character.locks.add("edit:perm(Admin);delete:perm(Admin)")


class Guest(DefaultGuest):
    """Evennia wants the class to exist; guest logins are switched off."""
