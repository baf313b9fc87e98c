"""The login screen's `create` command, and the check of new account names."""

from __future__ import annotations

import re

from django.conf import settings
from django.core.exceptions import ValidationError
from evennia.commands.default import unloggedin as default
from evennia.utils.utils import class_from_module

from keepsake.contrib.evennia.creation import names_in_use
from keepsake.errors import NameRefused
from keepsake.language.perception import closed, one_line
from keepsake.names import check_player_name, name_within, shown
from world.vocabulary import world_words

_TWO_WORDS = re.compile(r'(?:"([^"]+)"|([^"\s]+))\s+(?:"([^"]+)"|([^"\s]+))')
CREATE_USAGE = (
    "Usage: |wcreate <name> <password>|n\n"
    "Put a name or password with blanks into double quotes: "
    '|wcreate "Old Tom" "long pass phrase"|n'
)


class PlayerNameValidator:
    """Refuses names that are unsafe, taken, or look like or hold the name of somebody else.

    Evennia's ``Account.create`` runs it, and so do the login screen's ``create`` and the web
    site's registration. AUTH_USERNAME_VALIDATORS in the settings names it.
    """

    def __call__(self, name: str) -> None:
        """Raise ``ValidationError`` with the reason and the cure if the name is refused."""
        # Also the characters of deleted accounts: agents remember the player of each by its name.
        taken = list(names_in_use())
        try:
            kept = check_player_name(name, taken, world_words())
        except NameRefused as refusal:
            raise ValidationError(closed(str(refusal))) from refusal
        if kept != name:
            raise ValidationError(f"Write the name as {kept!r}.")
        if other := name_within(name, taken):
            reason = f"The name {shown(name)} holds the name {shown(other)}. Choose another one."
            raise ValidationError(reason)


class CmdUnconnectedCreate(default.CmdUnconnectedCreate):
    """Make an account and enter the world.

    Usage:
      create <name> <password>
      create "<name>" "<password>"

    Your character has the same name, and is in the world at once.
    """

    key = "create"
    aliases = ("cre", "cr")
    arg_regex = r"\s.*?|$"

    def func(self) -> None:
        """Create the account with its character, and log this session in."""
        session = self.caller
        found = _TWO_WORDS.fullmatch(self.args.strip())
        if found is None:
            session.msg(CREATE_USAGE)
            return
        name = one_line(found[1] or found[2])
        password = found[3] or found[4]
        account, errors = class_from_module(settings.BASE_ACCOUNT_TYPECLASS).create(
            username=name, password=password, ip=session.address, session=session
        )
        if account is None:
            session.msg("\n".join(f"|R{str(error).strip()}|n" for error in errors))
            return
        session.sessionhandler.login(session, account)
        session.msg("\n|whelp start|n says what you can do here.")
