"""People's accounts."""

from evennia.accounts.accounts import DefaultAccount, DefaultGuest


class Account(DefaultAccount):
    """A person who logs in."""


class Guest(DefaultGuest):
    """Evennia wants the class to exist; guest logins are switched off."""
