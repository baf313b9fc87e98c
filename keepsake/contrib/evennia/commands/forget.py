"""`forget me`: players delete their own words from every memory."""

from __future__ import annotations

import time
from typing import Any

from keepsake.contrib.evennia.audit import AuditedCommand
from keepsake.contrib.evennia.creation import notify_builders
from keepsake.contrib.evennia.forgetting import forget_everywhere

CONFIRM_SECONDS = 120.0
FORGET_SECONDS = 3600.0
"""Seconds to confirm `forget me`, and the shortest time between two uses of it."""


class CmdForgetMe(AuditedCommand):
    """Delete your words from every memory, summary, log and index.

    Usage:
      forget me

    You confirm it with your name. Agents forget what you said and did, what they
    said to you, and what they thought of you. It cannot be undone. Older backups
    still have your words. Your account stays.
    """

    key = "forget"
    help_category = "The world"
    locks = "cmd:all()"
    arg_regex = r"\s|$"

    def func(self) -> None:
        """Ask for confirmation, then delete."""
        caller = self.caller
        now = time.time()
        words = self.args.strip().casefold()
        sure = f"me {caller.key}".casefold()
        if words not in ("me", sure):
            self._refuse("Forget what? `forget me` deletes your words from every memory.")
        elif now - float(caller.attributes.get("forgotten") or 0) < FORGET_SECONDS:
            self._refuse("Your words were deleted within the last hour. Try again later.")
        elif words == "me" or now - float(caller.ndb.asked_to_forget or 0) > CONFIRM_SECONDS:
            caller.ndb.asked_to_forget = now
            self.msg(
                "Everything that you ever said here will be deleted. Type within two minutes: "
                f"forget me {caller.key}"
            )
        else:
            caller.attributes.add("forgotten", now)
            caller.ndb.asked_to_forget = 0
            self.msg("Your words are being deleted.")
            forget_everywhere(caller, self._report_result, also=_forget_in_game)

    def _refuse(self, why: str) -> None:
        self.caller.msg((why, {"type": "failure"}))

    def _report_result(self, problems: list[str]) -> None:
        if problems:
            notify_builders(f"|r[Forget]|n {self.caller.key}: {'; '.join(problems)}")
            self.msg("Not all could be deleted. The builders have been notified. Try again later.")
        else:
            self.msg("Your words have been deleted.")


def _forget_in_game(character: Any) -> None:
    """Delete the game's own data about a character, by its hook ``at_forgotten``."""
    getattr(character, "at_forgotten", lambda: None)()
