"""The login screen's own commands."""

from __future__ import annotations

import re
from typing import Any

from django.conf import settings
from evennia.commands.default import unloggedin as default
from evennia.utils.utils import class_from_module

from keepsake.contrib.evennia.wording import one_line
from typeclasses.agents import Agent

_TWO_WORDS = re.compile(r'(?:"([^"]+)"|([^"\s]+))\s+(?:"([^"]+)"|([^"\s]+))')
CREATE_USAGE = (
    "Usage: |wcreate <name> <password>|n\n"
    "Put a name or password with blanks into double quotes: "
    '|wcreate "Old Tom" "long pass phrase"|n'
)


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
        session, words = self.caller, name_and_password(self.args)
        if words is None:
            session.msg(CREATE_USAGE)
            return
        account_class = class_from_module(settings.BASE_ACCOUNT_TYPECLASS)
        name, password = one_line(words[0]), words[1]
        account, errors = account_class.create(
            username=name, password=password, ip=session.address, session=session
        )
        if account is None:
            session.msg("\n".join(f"|R{str(error).strip()}|n" for error in errors))
            return
        session.sessionhandler.login(session, account)
        welcome(account, session)


def name_and_password(args: str) -> tuple[str, str] | None:
    """The two words of ``create``, each perhaps in double quotes; None if they are not two."""
    found = _TWO_WORDS.fullmatch(args.strip())
    return (found[1] or found[2], found[3] or found[4]) if found else None


def welcome(account: Any, session: Any) -> None:
    """Tell a newcomer who is at hand to talk to."""
    character = account.db._last_puppet
    here = character.location.contents if character and character.location else []
    agents = [obj for obj in here if isinstance(obj, Agent)]
    agent = min(agents, key=lambda each: each.is_asleep, default=None)
    hint = "Type |wlook|n to look around, |whelp start|n for the first minute."
    if agent is not None:
        hint = f"{_greeted(agent)}\n|whelp start|n tells what else you can do."
    session.msg(f"\n{hint}")


def _greeted(agent: Agent) -> str:
    name = agent.key
    if agent.is_asleep:
        return f"|c{name}|n is here, asleep. Try: |wwake {name.lower()}|n"
    return f"|c{name}|n is here with you. Try: |wtalk {name.lower()} Good evening.|n"


class CmdUnconnectedHelp(default.CmdUnconnectedHelp):
    """Say what can be done before logging in.

    Usage:
      help
    """

    key = "help"
    aliases = ("h", "?")

    def func(self) -> None:
        """Show it."""
        self.caller.msg(HELP)


HELP = """
|wcreate <name> <password>|n   become somebody new and walk in
|wconnect <name> <password>|n  come back as somebody you were
|wlook|n                       show the first screen again
|wscreenreader|n               switch to plain output for a screen reader
|wencoding|n                   choose the text encoding of your client
|wquit|n                       hang up

For instance: |wcreate Ada c67jHL8p|n
A password has eight characters or more, and is not only digits.
"""
