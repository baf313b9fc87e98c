"""What the login screen adds to Evennia's: a name that is nobody else's, and a first step."""

from __future__ import annotations

import re
from itertools import chain
from typing import Any

from django.conf import settings
from django.core.exceptions import ValidationError
from evennia.accounts.models import AccountDB
from evennia.commands.default import unloggedin as default
from evennia.utils.utils import class_from_module

from keepsake.errors import NameRefused
from keepsake.language.perception import one_line
from keepsake.names import check_agent_name
from typeclasses.agents import Agent

_TWO_WORDS = re.compile(r'(?:"([^"]+)"|([^"\s]+))\s+(?:"([^"]+)"|([^"\s]+))')
CREATE_USAGE = (
    "Usage: |wcreate <name> <password>|n\n"
    "Put a name or password with blanks into double quotes: "
    '|wcreate "Old Tom" "long pass phrase"|n'
)


class PlayerNameValidator:
    """Refuses names that are unsafe, taken, or look like an agent's or a player's.

    Every way to an account runs it: the login screen's ``create``, the web site's
    registration, Evennia's own ``Account.create``. The settings name it.
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


class CmdUnconnectedCreate(default.CmdUnconnectedCreate):
    """Make an account and walk in.

    Usage:
      create <name> <password>
      create "<name>" "<password>"

    You stand in the world at once, under that name.
    """

    key = "create"
    aliases = ("cre", "cr")
    arg_regex = r"\s.*?|$"

    def func(self) -> None:
        """Create the account with its character, and log this session in."""
        session, found = self.caller, _TWO_WORDS.fullmatch(self.args.strip())
        if found is None:
            session.msg(CREATE_USAGE)
            return
        name, password = one_line(found[1] or found[2]), found[3] or found[4]
        account, errors = class_from_module(settings.BASE_ACCOUNT_TYPECLASS).create(
            username=name, password=password, ip=session.address, session=session
        )
        if account is None:
            session.msg("\n".join(f"|R{str(error).strip()}|n" for error in errors))
            return
        session.sessionhandler.login(session, account)
        session.msg(f"\n{_first_step(account)}")


def _first_step(account: Any) -> str:
    """Tell a newcomer who is at hand to talk to."""
    character = account.db._last_puppet
    here = character.location.contents if character and character.location else []
    agents = [obj for obj in here if isinstance(obj, Agent)]
    if not agents:
        return "Type |wlook|n to look around, |whelp start|n for the first minute."
    agent = min(agents, key=lambda each: bool(each.db.asleep))
    name, word = agent.key, agent.key.lower()
    is_here, line = "is here with you", f"talk {word} Good evening."
    if agent.db.asleep:
        is_here, line = "is here, asleep", f"wake {word}"
    return f"|c{name}|n {is_here}. Try: |w{line}|n\n|whelp start|n tells what else you can do."
