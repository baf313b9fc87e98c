"""Letters between players: Evennia's contrib, which obeys ``ignore`` and ``@mute``."""

from __future__ import annotations

from typing import Any

from evennia.contrib.game_systems.mail import mail

from commands.playing.manners import AccountSpeech, account_named
from keepsake.contrib.evennia.audit import AuditedCommand
from keepsake.contrib.evennia.wording import CannotDo
from typeclasses.accounts import Account


class CmdMail(AccountSpeech, AuditedCommand, mail.CmdMail):
    """Write letters to players, and read yours; they wait until somebody logs in.

    Usage:
      mail                                    your letters
      mail <number>                           read one
      mail <player> = <subject>/<text>        write one
      mail/reply <number> = <text>            answer one
      mail/forward <player> = <number>        send one on
      mail/delete <number>                    throw one away

    Example:
      mail ada = The cup/It is in the well.

    Several players are separated by commas. The subject may be left out.
    """

    key = "mail"
    aliases = ("@mail",)
    switch_options = ("delete", "forward", "reply")
    help_category = "Comms"

    def check(self) -> None:
        """Raise CannotDo for a letter that is not there, and for words that may not be sent."""
        sending = bool({"forward", "reply"} & {*self.switches}) or self.rhs is not None
        if sending:
            super().check()
        number = (self.rhs or "").partition("/")[0] if "forward" in self.switches else self.lhs
        if self.switches or (self.lhs and not sending):
            have, number = self.get_all_mail().count(), (number or "").strip()
            if not number.isdecimal() or not 0 < int(number) <= have:
                raise CannotDo(f"Which letter? You have {have}. |wmail|n lists them.")

    def get_all_mail(self) -> Any:
        """The caller's letters, the oldest first, of those who are still here."""
        there = super().get_all_mail().filter(db_sender_accounts__isnull=False)
        return there.order_by("db_date_created").distinct()

    def search_targets(self, namelist: Any) -> list[Account]:
        """The accounts of these names; empty, with the reason, if one is none."""
        return [account_named(name) for name in namelist if name]

    def send_mail(self, recipients: Any, subject: str, message: str, caller: Any) -> None:
        """Send it, unless one of them ignores the caller."""
        self.refuse(recipients)
        super().send_mail(recipients, subject, message, caller)
