"""People's accounts."""

from __future__ import annotations

import time
from typing import Any

from evennia.accounts.accounts import DefaultAccount, DefaultGuest
from evennia.server.models import ServerConfig

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
