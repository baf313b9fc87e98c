"""Commands between players: `page`, `ignore`, `report`."""

from __future__ import annotations

import time

import evennia
from evennia.commands.default import comms
from evennia.objects.models import ObjectDB
from evennia.utils import create

from commands.base import PlayerCommand, find_character, whereabouts
from keepsake.agent.surroundings.identity import identity_of
from keepsake.archive.message_types import MessageType
from keepsake.contrib.evennia.audit import REPORTS, append
from keepsake.contrib.evennia.creation import notify_builders
from keepsake.contrib.evennia.wording import CannotDo, counted, harmless, listed, quoted, spoken
from keepsake.language.perception import inner_quotes, one_line, unquoted
from typeclasses.accounts import Account

LONGEST_REPORT = 500  # characters
REPORTS_AN_HOUR = 6


class CmdIgnore(PlayerCommand):
    """Stop seeing what somebody says and does. Repeat the command to see it again.

    Usage:
      ignore            whom you ignore
      ignore <name>     start or stop ignoring them

    They are not notified. If they change their name, you still ignore them.
    """

    key = "ignore"
    help_category = "Speaking"

    def act(self) -> None:
        """List the ignored, or add or remove one."""
        ignored = dict(self.caller.db.ignored or {})
        if not self.args:
            names = listed(sorted(ignored.values())) if ignored else "nobody"
            self.msg(f"You ignore {names}.")
            return
        who = find_character(self.args)
        name = self.args.casefold()
        known = (number for number, each in ignored.items() if each.casefold() == name)
        number = who.id if who is not None else next(known, None)
        if number is None or who == self.caller:
            raise CannotDo(f"There is nobody else called {quoted(self.args)}.")
        if ignored.pop(number, None):
            self.caller.db.ignored = ignored
            self.msg(f"You hear {self.args} again.")
        elif who is not None:
            self.caller.db.ignored = {**ignored, number: who.key}
            self.msg(f"You no longer hear {who.key}. `ignore {who.key}` undoes it.")


class CmdReport(PlayerCommand):
    """Report somebody, or anything else, to the builders of this world.

    Usage:
      report <name> = <what happened>
      report <what happened>

    The builders see it with the time, your name and where you are.
    """

    key = "report"
    help_category = "Speaking"

    def act(self) -> None:
        """Store the report, and notify the builders who are online."""
        about, text = (self.lhs, self.rhs) if self.rhs else ("", self.args)
        text = one_line(text or "")[:LONGEST_REPORT]
        if not text:
            raise CannotDo("Report what? For instance: report thomas = He follows me everywhere.")
        now = time.time()
        owner = self.account or self.caller
        recent = [t for t in owner.attributes.get("reported") or () if now - t < 3600]
        if len(recent) >= REPORTS_AN_HOUR:
            raise CannotDo(f"You have sent {REPORTS_AN_HOUR} reports in an hour. Try again later.")
        place = self.caller.location.key if self.caller.location else ""
        try:
            append(
                REPORTS,
                by=self.caller.key,
                by_id=identity_of(self.caller),
                about=about[:80],
                place=place,
                text=text,
            )
        except OSError as error:
            raise CannotDo("The report could not be saved. Please try again later.") from error
        owner.attributes.add("reported", [*recent, now])
        notify_builders(f"|y[Report]|n {self.caller.key}: see @reports")
        self.msg("Thank you. The builders will read it.")


def mute_message(caller: ObjectDB) -> str:
    """Return the message that the caller is muted, with time and reason; empty if not muted."""
    account = getattr(caller, "account", None) or caller
    until = float(account.attributes.get("muted_until") or 0)
    if until <= time.time():
        return ""
    why = account.attributes.get("muted_for")
    left = f"another {counted(max(int((until - time.time()) / 60), 1), 'minute')}"
    return f"You are muted for {left}." + (f" Reason: {why}" if why else "")


def find_account(words: str) -> Account:
    """Return the account of that name, or the connected account whose name begins so.

    Raises:
        CannotDo: No account matches, or several do.
    """
    name = words.strip()
    if account := Account.objects.filter(username__iexact=name).first():
        return account
    playing = evennia.SESSION_HANDLER.all_connected_accounts() if name else []
    found = [each for each in playing if each.key.casefold().startswith(name.casefold())]
    if len(found) == 1:
        return found[0]
    if found:
        raise CannotDo(f"Which one do you mean: {listed([each.key for each in found], 'or')}?")
    who = find_character(name)
    if who and who.is_agent:
        raise CannotDo(f"{whereabouts(who.key)} Nothing was sent.".lstrip())
    raise CannotDo(f"There is no player called {quoted(name)}. Nothing was sent.")


class CmdPage(comms.CmdPage):
    """Send a line to a player, wherever they are. Nobody else reads it.

    Usage:
      page <player> <words>              put a |w=|n after a name with a space
      page <player>, <player> = <words>
      page                               your last pages; |wpage 5|n: the last five

    If nobody has that name, nothing is sent.
    """

    aliases = ()

    def parse(self) -> None:
        """Escape markup, which could forge lines of the game."""
        self.args = harmless(one_line(self.args))
        super().parse()

    def func(self) -> None:
        """Send the page, or show why it was refused."""
        try:
            to, words = self.read()
        except CannotDo as refusal:
            self.msg((str(refusal), {"type": MessageType.FAILURE}))
            return
        if to:
            self.send(to, words)
        else:
            super().func()

    def read(self) -> tuple[list[Account], str]:
        """Return the players and the words for them; no players if old pages are asked for.

        Raises:
            CannotDo: The caller is muted or ignored, a name is wrong, or the words are missing.
        """
        if refusal := mute_message(self.caller):
            raise CannotDo(refusal)
        if not self.args or self.switches or self.args.isdigit():
            return [], ""
        names = self.lhslist
        words = self.rhs
        if words is None:
            name, _, words = self.args.partition(" ")
            names = [name.rstrip(",:")]
        to = [find_account(name) for name in names]
        if not spoken(words):
            raise CannotDo(f"What do you want to say to {listed([each.key for each in to])}?")
        for account in to:
            if account.ignores(self.caller) or not account.access(self.caller, "msg"):
                raise CannotDo(f"{account.key} cannot be paged now. Nothing was sent.")
        return to, words.strip()

    def send(self, to: list[Account], words: str) -> None:
        """Keep the line for the players, as Evennia does, and show it in the words of this game."""
        caller = self.caller
        readers = " or ".join(f"id({each.id})" for each in (*to, caller))
        locks = f"read:{readers} or perm(Admin);delete:id({caller.id}) or perm(Admin)"
        tags = [("page", "comms")]
        create.create_message(caller, words, receivers=to, locks=locks, tags=tags)
        shown = inner_quotes(unquoted(words))
        away = [each.key for each in to if not each.sessions.count()]
        for each in to:
            each.msg(f'{caller.key} tells you from afar, "{shown}"')
        self.msg(f'You tell {listed([each.key for each in to])} from afar, "{shown}"')
        if away:
            be = "is" if len(away) == 1 else "are"
            self.msg(f"{listed(away)} {be} not here now, and can read it later with `page`.")
