"""Pages between players; hearing nothing of somebody, reporting them, `forget me`."""

from __future__ import annotations

import time

import evennia
from evennia.commands.default import comms
from evennia.objects.models import ObjectDB

from commands.base import PlayerCommand, player_named, whereabouts
from keepsake.contrib.evennia.audit import REPORTS, append
from keepsake.contrib.evennia.creation import notify_builders
from keepsake.contrib.evennia.forgetting import forget_everywhere
from keepsake.contrib.evennia.wording import CannotDo, counted, harmless, listed, quoted, spoken
from keepsake.language.perception import one_line
from typeclasses.accounts import Account
from world.deed.effects import forget_player

LONGEST_REPORT = 500
REPORTS_AN_HOUR = 6
CONFIRM_SECONDS, FORGET_SECONDS = 120.0, 3600.0
"""How long a question waits for its answer, and the time between two forgettings."""


class CmdIgnore(PlayerCommand):
    """Stop seeing what somebody says and does. The same again: see it again.

    Usage:
      ignore            whom you ignore
      ignore <name>     ignore them, or no longer

    They are not told. If they change their name, you still ignore them.
    """

    key = "ignore"
    help_category = "Speaking"

    def act(self) -> None:
        """Show, add or take out."""
        ignored = dict(self.caller.db.ignored or {})
        if not self.args:
            names = listed(sorted(ignored.values())) if ignored else "nobody"
            self.msg(f"You ignore {names}.")
            return
        who, name = player_named(self.args), self.args.casefold()
        known = (number for number, each in ignored.items() if each.casefold() == name)
        number = who.id if who is not None else next(known, None)
        if number is None or who == self.caller:
            raise CannotDo(f"There is nobody called {quoted(self.args)} whom you could ignore.")
        if ignored.pop(number, None):
            self.caller.db.ignored = ignored
            self.msg(f"You hear {self.args} again.")
        elif who is not None:
            self.caller.db.ignored = {**ignored, number: who.key}
            self.msg(f"You no longer hear {who.key}. `ignore {who.key}` undoes it.")


class CmdReport(PlayerCommand):
    """Tell the builders of this world about somebody, or about anything else.

    Usage:
      report <name> = <what happened>
      report <what happened>

    The builders read it, with the time, your name and where you are.
    """

    key = "report"
    help_category = "Speaking"

    def act(self) -> None:
        """Keep it where builders read it, and tell those who are here."""
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
            append(REPORTS, by=self.caller.key, about=about[:80], place=place, text=text)
        except OSError as error:
            raise CannotDo("It could not be kept just now. Please try again later.") from error
        owner.attributes.add("reported", [*recent, now])
        notify_builders(f"|y[Report]|n {self.caller.key}: see @reports")
        self.msg("Thank you. The builders will read it.")


class CmdForgetMe(PlayerCommand):
    """Have your words taken out of every memory, summary, log and index.

    Usage:
      forget me

    You confirm it with your name. Agents forget what you said and did, what they
    said to you, and what they thought of you. It cannot be undone; only older
    backups still have it. Your account stays.
    """

    key = "forget"
    help_category = "The world"

    def act(self) -> None:
        """Ask, then do it."""
        caller, now = self.caller, time.time()
        name = caller.key
        asked = float(caller.ndb.asked_to_forget or 0)
        words, sure = self.args.casefold(), f"me {name}".casefold()
        if words not in ("me", sure):
            raise CannotDo("Forget what? `forget me` takes your words out of every memory.")
        if words == "me" or now - asked > CONFIRM_SECONDS:
            caller.ndb.asked_to_forget = now
            self.msg(
                "Everything that you ever said here will be deleted. Type within two minutes: "
                f"forget me {name}"
            )
        elif now - float(caller.attributes.get("forgotten") or 0) < FORGET_SECONDS:
            raise CannotDo("You were forgotten within the last hour. Try again later.")
        else:
            caller.attributes.add("forgotten", now)
            caller.ndb.asked_to_forget = 0
            self.msg("Your words are being deleted.")
            forget_everywhere(caller, self._told, also=forget_player)

    def _told(self, problems: list[str]) -> None:
        if problems:
            notify_builders(f"|r[Forget]|n {self.caller.key}: {'; '.join(problems)}")
            self.msg("Some could not be deleted; the builders have been told. Try again later.")
        else:
            self.msg("You are forgotten here.")


def silenced(caller: ObjectDB) -> str:
    """Why nobody hears them; empty if they are heard."""
    account = getattr(caller, "account", None) or caller
    until = float(account.attributes.get("muted_until") or 0)
    if until <= time.time():
        return ""
    why = account.attributes.get("muted_for")
    left = f"another {counted(max(int((until - time.time()) / 60), 1), 'minute')}"
    return f"You have been silenced for {left}." + (f" Reason: {why}" if why else "")


def account_named(words: str) -> Account:
    """The account of that name, else the one who plays and whose name begins so.

    Raises:
        CannotDo: There is none, or there are several.
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
    who = player_named(name)
    if who and who.is_agent:
        raise CannotDo(f"{whereabouts(who.key)} Nothing was sent.".lstrip())
    raise CannotDo(f"There is no player called {quoted(name)}. Nothing was sent.")


class CmdPage(comms.CmdPage):
    """Send a line to a player, wherever they are; nobody else reads it.

    Usage:
      page <player> <words>              put a |w=|n after a name with a space
      page <player>, <player> = <words>
      page                               your last pages; |wpage 5|n, five of them

    If nobody has that name, nothing is sent.
    """

    aliases = ()

    def parse(self) -> None:
        """Show markup instead of obeying it: it could forge lines of the game."""
        self.args = harmless(one_line(self.args))
        super().parse()

    def func(self) -> None:
        """Page them, or tell why nothing comes of it."""
        try:
            self.check()
        except CannotDo as refusal:
            self.msg((str(refusal), {"type": "failure"}))
        else:
            super().func()

    def check(self) -> None:
        """Put exact names and the words where Evennia's command looks for them.

        Raises:
            CannotDo: The caller is muted, nobody is meant, or somebody does not want to hear it.
        """
        if refusal := silenced(self.caller):
            raise CannotDo(refusal)
        if not self.args or self.switches or self.args.isdigit():
            return
        names, words = self.lhslist, self.rhs
        if words is None:
            name, _, words = self.args.partition(" ")
            names = [name.rstrip(",:")]
        to = [account_named(name) for name in names]
        if not spoken(words):
            raise CannotDo(f"What do you want to say to {listed([each.key for each in to])}?")
        for account in to:
            if account.ignores(self.caller):
                raise CannotDo(f"{account.key} cannot be paged now. Nothing was sent.")
        self.lhslist, self.rhs = [each.key for each in to], words
        self.args = f"{','.join(self.lhslist)}={words}"
