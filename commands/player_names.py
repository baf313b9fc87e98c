"""What a player may be called; named in the settings as a user name validator."""

from __future__ import annotations

from itertools import chain

from django.core.exceptions import ValidationError
from evennia.accounts.models import AccountDB

from keepsake.errors import NameRefused
from keepsake.names import check_agent_name
from typeclasses.agents import Agent


class PlayerNameValidator:
    """Refuses names that are unsafe, taken, or look like an agent's or a player's.

    Every way to an account runs it: the login screen's ``create``, the web site's
    registration, Evennia's own ``Account.create``.
    """

    def __call__(self, name: str) -> None:
        """Raise ``ValidationError`` with the reason and the cure, or do nothing."""
        agents = Agent.objects.all_family().values_list("db_key", flat=True)
        accounts = AccountDB.objects.values_list("username", flat=True)
        try:
            kept = check_agent_name(name, taken=chain(agents, accounts))
        except NameRefused as refusal:
            raise ValidationError(str(refusal)) from refusal
        if kept != name:
            raise ValidationError(f"Write the name as {kept!r}.")
