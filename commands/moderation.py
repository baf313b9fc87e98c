"""Keeping the peace: bans and silence for a time, and what players reported."""

from __future__ import annotations

import re
import time

import evennia
from evennia.accounts.models import AccountDB
from evennia.commands.default import admin
from evennia.server.models import ServerConfig

from keepsake.contrib.evennia.audit import AUDIT, REPORTS, newest
from keepsake.contrib.evennia.commands.base import BuilderCommand, plain, shortened, table
from keepsake.contrib.evennia.wording import quoted
from keepsake.errors import KeepsakeError
from typeclasses.accounts import ban_notice, current_bans, until_when

SHOWN = 30
_TO_THE_SECOND = 19
_UNITS = {"m": 60, "h": 3600, "d": 86_400, "w": 604_800}
_FOR = re.compile(r"\s+for\s+(?P<number>\d{1,4})\s*(?P<unit>[mhdw])\w*\s*$", re.I)


def with_reason(words: str) -> tuple[str, str]:
    """What stands before a colon with a blank behind it, and the reason that follows it."""
    found = re.split(r"\s*:\s+", words.strip(), maxsplit=1)
    return found[0], found[1] if len(found) > 1 else ""


def with_time(words: str) -> tuple[str, float | None]:
    """What is named, and until when (Unix time); None where no time is given."""
    found = _FOR.search(words)
    if found is None:
        return words.strip(), None
    seconds = int(found["number"]) * _UNITS[found["unit"].lower()]
    return words[: found.start()].strip(), time.time() + seconds


def _account(name: str) -> AccountDB:
    if found := AccountDB.objects.filter(username__iexact=name).first():
        return found
    raise KeepsakeError(f"There is no account {quoted(name)}", "See who there is: @accounts")


class CmdBanFor(BuilderCommand):
    """Keep somebody out, for a time or for good.

    Usage:
      @ban                                        who is banned, with numbers
      @ban <name or address>[ for <time>][ : reason]

    Anybody connected under that name is disconnected. A time is `30m`, `12h`, `2d` or `1w`.
    An address may have stars: `134.233.2.*`. `unban <number>` lifts the ban. Whoever is
    banned is told the reason at login. `boot <name> : reason` disconnects without a ban.

    Example:
      @ban thomas for 2d : shouting
    """

    key = "@ban"
    aliases = ("@bans",)
    locks = "cmd:perm(ban) or perm(Admin)"
    help_category = "Admin"

    def run(self) -> None:
        """List, or ban."""
        bans = current_bans()
        if not self.args.strip():
            shown = [(*b[:4], f"{b[4]} ({until_when(*b[5:])})".strip()) for b in bans]
            self.msg(admin.list_bans(self, shown))
            return
        words, reason = with_reason(self.args)
        name, until = with_time(words)
        name = name.casefold()
        stars = None
        if admin.IPREGEX.fullmatch(name):
            stars = re.compile(name.replace(".", r"\.").replace("*", "[0-9]{1,3}") + "$")
        else:
            _account(name)
        ban = ("", name, stars) if stars else (name, "", "")
        bans.append((*ban, time.ctime(), reason, until or 0.0))
        ServerConfig.objects.conf("server_bans", bans)
        gone = self._show_out(name, stars)
        how = until_when(until or 0.0)
        self.msg(f"|gBanned|n {plain(name)} {how}; connections closed: {gone}.")

    @staticmethod
    def _show_out(name: str, stars: re.Pattern[str] | None) -> int:
        gone = 0
        for session in list(evennia.SESSION_HANDLER.get_sessions()):
            address = session.address
            where = str(address[0] if isinstance(address, tuple | list) else address)
            theirs = stars.match(where) if stars else str(session.uname).casefold() == name
            if theirs and session.account:
                session.msg(ban_notice(str(session.uname), where))
                session.account.disconnect_session_from_account(session, "banned")
                gone += 1
        return gone


class CmdMute(BuilderCommand):
    """Take somebody's voice for a time: they may look and walk, and nobody hears them.

    Usage:
      @mute <name> for <time>[ : reason]    30m, 12h, 2d, 1w
      @unmute <name>

    They are told the reason whenever they try to speak.
    """

    key = "@mute"
    aliases = ("@unmute",)
    help_category = "Admin"

    def run(self) -> None:
        """Do it, and tell them."""
        words, reason = with_reason(self.args)
        name, until = with_time(words)
        account = _account(name)
        if self.cmdstring.endswith("unmute"):
            account.attributes.remove("muted_until")
            account.attributes.remove("muted_for")
            account.msg("You can be heard again.")
            self.msg(f"{plain(account.key)} can be heard again.")
            return
        if until is None:
            raise KeepsakeError("For how long?", "As in: @mute tom for 1h")
        if account.locks.check_lockstring(account, "_:perm(Builder)"):
            raise KeepsakeError(f"{plain(account.key)} is a builder", "Ask an admin")
        account.attributes.add("muted_until", until)
        account.attributes.add("muted_for", reason)
        why = f" Reason: {reason}" if reason else ""
        account.msg(f"You have been silenced {until_when(until)}.{why}")
        self.msg(f"|gSilenced|n {plain(account.key)} {until_when(until)}.")


class WrittenDown(BuilderCommand):
    """The newest lines of a book that is written down, as a table."""

    help_category = "Admin"
    book = ""
    columns = ""
    """Headings and fields: ``When:t By:by``."""

    def run(self) -> None:
        """Show the newest lines."""
        columns = dict(each.split(":") for each in self.columns.split())
        found = newest(self.book, SHOWN)
        for each in found:
            each["t"] = str(each.get("t"))[:_TO_THE_SECOND].replace("T", " ")
        rows = [
            [plain(shortened(str(each.get(field, "")), 200)) for field in columns.values()]
            for each in found
        ]
        self.msg(table(columns, rows) if rows else "There is nothing yet.")


class CmdReports(WrittenDown):
    """Read what players reported, the newest last.

    Usage:
      @reports

    Those of more than a year are in `logs/reports-*`.
    """

    key = "@reports"
    book, columns = REPORTS, "When:t By:by About:about Where:place What:text"


class CmdAudit(WrittenDown):
    """Read what builders typed, the newest last.

    Usage:
      @audit

    That of more than a year is in `logs/audit-*`.
    """

    key = "@audit"
    locks = "cmd:perm(Admin)"
    book, columns = AUDIT, "When:t Who:who Address:address Line:line"
