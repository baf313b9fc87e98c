"""`forget me`: players delete their own words from every memory."""

from __future__ import annotations

import time

from keepsake.archive.message_types import MessageType
from keepsake.contrib.evennia.audit import AuditedCommand
from keepsake.contrib.evennia.creation import notify_builders
from keepsake.contrib.evennia.forgetting import (
    FORGOTTEN_AT,
    forget_everywhere,
    is_being_forgotten,
)

CONFIRM_SECONDS = 120.0
"""Seconds in which `forget me` must be confirmed."""
FORGET_SECONDS = 3600.0
"""Seconds between two uses of `forget me`: each rewrites all stores."""


class CmdForgetMe(AuditedCommand):
    """Delete your words from every memory, summary, log and index.

    Usage:
      forget me

    You confirm it with your name. Agents forget what you said and did, what they
    said to you, and what they thought of you. It cannot be undone. If the world
    stops meanwhile, it goes on at the next start. Older backups still have your
    words. Your account stays.
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
        elif is_being_forgotten(caller):
            self._refuse("Your words are being deleted. You will read when it is done.")
        elif now - float(caller.attributes.get(FORGOTTEN_AT) or 0) < FORGET_SECONDS:
            self._refuse("Your words were deleted within the last hour. Try again later.")
        elif words == "me" or now - float(caller.ndb.asked_to_forget or 0) > CONFIRM_SECONDS:
            caller.ndb.asked_to_forget = now
            self.msg(
                "Everything that you ever said here will be deleted. Type within two minutes: "
                f"forget me {caller.key}"
            )
        else:
            caller.ndb.asked_to_forget = 0
            self.msg("Your words are being deleted.")
            forget_everywhere(caller, self._report_result)

    def _refuse(self, why: str) -> None:
        self.caller.msg((why, {"type": MessageType.FAILURE}))

    def _report_result(self, problems: list[str]) -> None:
        if problems:
            notify_builders(f"|r[Forget]|n {self.caller.key}: {'; '.join(problems)}")
            self.msg(
                "Not all could be deleted yet. The builders have been notified. It goes on "
                "when the world starts again, or when you type it again."
            )
        else:
            self.msg("Your words have been deleted.")
