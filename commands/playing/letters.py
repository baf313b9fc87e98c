"""Letters between players, kept as Evennia's contrib keeps them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from django.utils import timezone
from evennia.comms.models import Msg
from evennia.contrib.game_systems.mail import mail
from evennia.utils import create

from commands.audit import AuditedCommand
from commands.playing.manners import AccountSpeech, account_named, silenced
from commands.wording import CannotDo, counted

NEW, READ = "new", "-"
"""Tags of a letter; Evennia's contrib finds its letters by them."""
_LONGEST_SUBJECT = 60


class CmdMail(AccountSpeech, AuditedCommand, mail.CmdMail):
    """Write letters to players, and read yours; they wait for whoever is not here.

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

    def func(self) -> Any:
        """Do it, or tell why nothing comes of it."""
        try:
            return self._act()
        except CannotDo as refusal:
            self.msg((str(refusal), {"type": "failure"}))
            return None

    def _act(self) -> Any:
        if "delete" in self.switches:
            return self._delete(self._letter(self.lhs))
        if "reply" in self.switches:
            old = self._letter(self.lhs)
            self._send(old.senders, f"Re: {old.header}", self.rhs, old)
        elif "forward" in self.switches:
            number, _, words = (self.rhs or "").partition("/")
            old = self._letter(number)
            self._send(self._named(), f"Sent on: {old.header}", words.strip() or "…", old)
        elif self.rhs is not None:
            subject, sign, text = self.rhs.partition("/")
            self._send(self._named(), subject.strip() if sign else "", text if sign else subject)
        elif self.lhs:
            self._read(self._letter(self.lhs))
        else:
            self._list()
        return None

    def _letters(self) -> list[Msg]:
        return list(self.get_all_mail().order_by("db_date_created"))

    def _letter(self, number: str) -> Msg:
        letters, number = self._letters(), number.strip()
        if not number.isdecimal() or not 0 < int(number) <= len(letters):
            have = counted(len(letters), "letter") if letters else "none"
            raise CannotDo(f"Which letter? You have {have}. |wmail|n lists them.")
        return letters[int(number) - 1]

    def _named(self) -> list[Any]:
        names = [name for name in self.lhslist if name]
        if not names:
            raise CannotDo("To whom? For instance: mail ada = The cup/It is in the well.")
        return [account_named(name) for name in names]

    def _send(self, to: Iterable[Any], subject: str, text: str | None, old: Any = None) -> None:
        if refusal := silenced(self.caller):
            raise CannotDo(refusal)
        if not (words := (text or "").strip()):
            raise CannotDo("What do you want to write? See: help mail")
        if not (there := list(to)):
            raise CannotDo("Whoever wrote it is not here any more. Nothing was sent.")
        self.refuse(there)
        if old is not None:
            words = f"{words}\n\n|wBefore that, {_writer(old)} wrote:|n\n{old.message}"
            _mark_read(old)
        for account in there:
            header = subject[:_LONGEST_SUBJECT]
            letter = create.create_message(self.caller, words, receivers=account, header=header)
            letter.tags.add(NEW, category="mail")
            account.msg(f"A letter from {self.caller.key} has come. |wmail|n shows it.")
        self.msg("Your letter is on its way.")

    def _read(self, letter: Msg) -> None:
        subject = [f"|wAbout:|n {letter.header}"] if letter.header else []
        head = [f"|wFrom:|n {_writer(letter)}, {_sent(letter)}", *subject]
        self.msg("\n".join([*head, "", letter.message]))
        _mark_read(letter)

    def _list(self) -> None:
        rows = ["|wYour letters|n"]
        for number, letter in enumerate(self._letters(), start=1):
            new = " |gnew|n" if letter.tags.has(NEW, category="mail") else ""
            rows.append(f"  {number:>2}. {_title(letter)}, {_sent(letter)}{new}")
        self.msg("\n".join(rows) if rows[1:] else "You have no letters.")

    def _delete(self, letter: Msg) -> Iterator[str]:
        """Ask first: a letter that is gone does not come back."""
        answer = yield f"Throw away the letter {_title(letter)}? yes or no"
        if str(answer or "").strip().casefold() in ("y", "yes"):
            letter.delete()
            self.msg("It is gone.")
        else:
            self.msg("You keep it.")


def _mark_read(letter: Msg) -> None:
    letter.tags.remove(NEW, category="mail")
    letter.tags.add(READ, category="mail")


def _title(letter: Msg) -> str:
    return f"from {_writer(letter)}" + (f": {letter.header}" if letter.header else "")


def _writer(letter: Msg) -> str:
    return ", ".join(each.key for each in letter.senders) or "somebody who is gone"


def _sent(letter: Msg) -> str:
    return f"{timezone.localtime(letter.db_date_created):%d %B, %H:%M}"
