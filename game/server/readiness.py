"""Tells whether the world is built and here to stay.

`keepsake start` builds the world before there is a Server. Where Evennia's own command starts a
world that was never built, its first Server builds it and is then replaced: until the second is
up, a login can be cut off.
"""

from __future__ import annotations

import os
from typing import Any

import evennia
from evennia.accounts.models import AccountDB
from evennia.objects.models import ObjectDB
from evennia.objects.objects import DefaultCharacter
from evennia.server.models import ServerConfig

from game.server.portal_watchdog import connected


def reset_is_due() -> bool:
    """True in the very first Server, which Evennia replaces as soon as the world is built."""
    if ServerConfig.objects.conf("last_initial_setup_step") != "done":
        return True
    built_at = ServerConfig.objects.conf("server_epoch", default=0.0)
    return bool(built_at > evennia.EVENNIA_SERVER_SERVICE.start_time)


_problem = ""


def report_problem(error: Exception) -> None:
    """Let :func:`report` tell why the agents could not be woken."""
    global _problem  # noqa: PLW0603 - one Server a process
    _problem = f"The agents could not be woken: {error}"


def report(_request: dict[str, Any]) -> dict[str, Any]:
    """Answer the control operation ``ready``.

    Returns:
        ``ready``, the Server's ``pid``, ``admin_room``: the name of the room that the
        admin sees after a login, or None, and ``problem``: why the agents could not be
        woken, or an empty string.
    """
    return {
        "ready": not reset_is_due() and connected(),
        "pid": os.getpid(),
        "admin_room": _admin_room(),
        "problem": _problem,
    }


def prepare_trial(_request: dict[str, Any]) -> bool:
    """Answer the control operation ``prepare_trial``: the admin's next login is a trial.

    Nobody in the world notices it. Returns whether there is an admin to try with.
    """
    character = _admins_body()
    if character is None or character.sessions.count():
        return False
    character.unannounced = True
    return True


def _admins_body() -> Any:
    """The character that the admin comes into at a login; None if there is none any more.

    An admin that has lost it gets it back, else a login would leave them without a body, and
    without the builders' commands.
    """
    admin = AccountDB.objects.filter(id=1).first()
    if admin is None:
        return None
    body = admin.db._last_puppet or _first_character(admin)
    if body is not None and admin.db._last_puppet is None:
        admin.characters.add(body)
        admin.db._last_puppet = body
    return body


def _first_character(admin: Any) -> Any:
    """The character that was made with the admin's account."""
    first = ObjectDB.objects.filter(id=1).first()
    is_body = isinstance(first, DefaultCharacter) and first.access(admin, "puppet")
    return first if is_body else None


def _admin_room() -> str | None:
    character = _admins_body()
    if character is None:
        return None
    # Evennia takes a character off the map while nobody plays it.
    room = character.location or character.db.prelogout_location or character.home
    return room.key if room else None
