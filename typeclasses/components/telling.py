"""Telling the builders who are connected what they should know of at once."""

from __future__ import annotations

import evennia

_BUILDER = "_:perm(Builder)"


def tell_builders(text: str) -> int:
    """Show ``text`` to every builder who is connected; on the reactor thread.

    Returns:
        How many were told.
    """
    told = {}
    for session in evennia.SESSION_HANDLER.get_sessions():
        who = session.puppet or session.account
        if who is not None and who.locks.check_lockstring(who, _BUILDER):
            told[id(who)] = who
    for who in told.values():
        who.msg(text)
    return len(told)
