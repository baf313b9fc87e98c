"""Commands for builders: deeds, reloading the world's files, muting, reports and audit."""

from __future__ import annotations

import re
import time
from datetime import UTC, datetime

from evennia.accounts.models import AccountDB
from twisted.python.failure import Failure

from keepsake.agent.runtime import runtime
from keepsake.agent.surroundings.world_clock import WorldClock
from keepsake.contrib.evennia.audit import AUDIT, REPORTS, newest
from keepsake.contrib.evennia.commands.base import (
    TIMEOUT_SECONDS,
    BuilderCommand,
    find_player,
    plain,
    shortened,
    table,
    tell,
)
from keepsake.contrib.evennia.wording import counted, listed, quoted
from keepsake.errors import KeepsakeError
from world.atlas import Atlas
from world.build import build_world, read_world
from world.deed.effects import reset
from world.deed.files import WorldDeed
from world.deed.progress import DEEDS, doers, progress, records
from world.scenes import scenes

MOST_ROWS = 30
"""The most lines that are shown of the reports or of the audit: the newest."""
_UNITS = {"m": 60, "h": 3600, "d": 86_400, "w": 604_800}
_FOR = re.compile(
    r"(?P<name>.+?)\s+for\s+(?P<number>\d{1,4})\s*(?P<unit>[mhdw])\w*\s*(?::\s*(?P<why>.*))?$", re.I
)

type _WorldFiles = tuple[Atlas, dict[str, WorldDeed]]


class CmdDeed(BuilderCommand):
    """See deeds and who did them, reset a deed, reload the world's files.

    Usage:
      @deed                          all deeds, and who has begun or done them
      @deed/reset <deed>             reset it for everybody
      @deed/reset <deed> = <player>  reset it for one player
      @world/reload                  reload all files of the world

    A deed is a quest: a file in |wdeeds|n of the world, and named like it. A reset restores
    the texts and exits that the deed changed, and returns its things to their
    place in |wthings.yaml|n. Agents still remember the deed.

    |w@world/reload|n makes what is in the files but not in the game, and applies
    changes of the files. If a builder or a deed has changed the same text in the
    game, the game's text stays and is listed. If a file has a mistake, nothing is
    changed, and you see the line and how to correct it. Reloading deletes nothing;
    |w@destroy|n does.

    Example:
      @deed/reset twelfth_cup = Tom
    """

    key = "@deed"
    aliases = ("@world",)
    switch_options = ("reset", "reload")

    def run(self) -> None:
        """Show, reset or reload."""
        if "reset" in self.switches:
            deed = _find_deed(self.lhs)
            player = find_player(self.rhs, "See: @deed") if self.rhs is not None else None
            names = reset(deed, player)
            whose = f" for {listed(names)}" if names else ""
            tell(self.caller, f"|gReset|n: {deed.name} can be done again{whose}.")
        elif "reload" in self.switches:
            read = runtime().in_thread(read_world, TIMEOUT_SECONDS)
            read.addCallbacks(self._build, self._refused)
        elif self.cmdstring.endswith("world"):
            raise KeepsakeError("@world needs a switch", "Try: @world/reload")
        else:
            self.page(_deed_table())

    def _build(self, found: _WorldFiles) -> None:
        atlas, deeds = found
        scenes.cache_clear()
        built = build_world(atlas, deeds)
        changes = [f"|w{what}|n: {', '.join(ids)}" for what, ids in built.items() if ids]
        self.page("\n".join(["|gReloaded|n: all files of the world.", *changes]))

    def _refused(self, failure: Failure) -> None:
        tell(self.caller, "|rNothing was changed.|n")
        self.failed(failure)


def _find_deed(words: str) -> WorldDeed:
    wanted = words.strip().casefold()
    found = [d for d in DEEDS.values() if wanted in (d.id, d.name.casefold())]
    if not found:
        there = listed([deed.id for deed in DEEDS.values()]) or "none"
        raise KeepsakeError(f"There is no deed {quoted(plain(wanted))}", f"There are: {there}")
    return found[0]


def _deed_table() -> str:
    world = records()
    rows = []
    for deed in DEEDS.values():
        begun = [p.key for p in doers(deed) if not progress(p)[deed.id]["end"]]
        done = [p.key for p in doers(deed) if progress(p)[deed.id]["end"]]
        how = "once" if deed.once else "by each"
        end = world.get(deed.id, {}).get("end", "")
        rows.append((deed.id, how, end, listed(done) or "nobody", listed(begun)))
    shown = table(("Deed", "Done", "End", "By", "Begun by"), rows)
    return f"{shown}\n{counted(len(rows), 'deed')}" if rows else "There are no deeds."


class CmdMute(BuilderCommand):
    """Mute a player for a while: they can look and walk, but not speak.

    Usage:
      @mute <name> for <time>[ : reason]    30m, 12h, 2d, 1w
      @unmute <name>

    When they try to speak, they see the reason.
    """

    key = "@mute"
    aliases = ("@unmute",)
    help_category = "Admin"

    def run(self) -> None:
        """Mute or unmute the account, and notify its player."""
        asked = _FOR.match(self.args.strip())
        lifts = self.cmdstring.endswith("unmute")
        name = self.args.strip() if lifts or asked is None else asked["name"]
        if (account := AccountDB.objects.filter(username__iexact=name).first()) is None:
            raise KeepsakeError(f"There is no account {quoted(name)}", "Try: @mute tom for 1h")
        if lifts:
            account.attributes.remove("muted_until")
            account.attributes.remove("muted_for")
            account.msg("You are no longer muted.")
            tell(self.caller, f"{plain(account.key)} is no longer muted.")
            return
        if asked is None:
            raise KeepsakeError("The time is missing", "Try: @mute tom for 1h")
        if account.locks.check_lockstring(account, "_:perm(Builder)"):
            raise KeepsakeError(f"{plain(account.key)} is a builder", "Ask an admin")
        until = time.time() + int(asked["number"]) * _UNITS[asked["unit"].lower()]
        account.attributes.add("muted_until", until)
        account.attributes.add("muted_for", asked["why"] or "")
        at = WorldClock.of_world().shown(datetime.fromtimestamp(until, UTC))
        when = f"until {at:%Y-%m-%d %H:%M}"
        why = f" Reason: {asked['why']}" if asked["why"] else ""
        account.msg(f"You are muted {when}.{why}")
        tell(self.caller, f"|gMuted|n {plain(account.key)} {when}.")


class CmdReports(BuilderCommand):
    """Read what players reported, the newest last.

    Usage:
      @reports

    Reports older than a year are in the files `logs/reports-*`.
    """

    key = "@reports"
    help_category = "Admin"
    book = REPORTS
    columns: tuple[str, ...] = ("by", "about", "place", "text")

    def run(self) -> None:
        """Show the newest lines as a table."""
        rows = []
        for each in newest(self.book, MOST_ROWS):
            texts = [plain(shortened(str(each.get(field, "")), 200)) for field in self.columns]
            rows.append((str(each.get("t"))[:19].replace("T", " "), *texts))
        heads = ("When", *(each.capitalize() for each in self.columns))
        tell(self.caller, table(heads, rows) if rows else "There are no entries yet.")


class CmdAudit(CmdReports):
    """Read what builders typed, the newest last.

    Usage:
      @audit

    Lines older than a year are in the files `logs/audit-*`.
    """

    key = "@audit"
    locks = "cmd:perm(Admin)"
    book = AUDIT
    columns = ("who", "address", "line")
