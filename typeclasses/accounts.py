"""People's accounts."""

from __future__ import annotations

from typing import Any

from evennia.accounts.accounts import DefaultAccount, DefaultGuest


class Account(DefaultAccount):
    """A person who logs in."""

    def at_post_create_character(self, character: Any, **kwargs: Any) -> None:
        """Leave renaming and deleting the account's one character to the admins.

        Evennia's web site would let its player give it any name, an agent's too.
        """
        super().at_post_create_character(character, **kwargs)
        character.locks.add("edit:perm(Admin);delete:perm(Admin)")


class Guest(DefaultGuest):
    """Evennia wants the class to exist; guest logins are switched off."""
