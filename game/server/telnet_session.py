"""The Server's side of a connection: input limits and line wrapping.

Evennia sends a paragraph as one line. The web client and most game clients wrap it. Plain
``telnet`` breaks it at the last column, in the middle of a word.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from evennia.server.serversession import ServerSession
from evennia.utils.ansi import strip_ansi

from game.server.limits import ADDRESS, PLAYER, TOO_FAST, Buckets

DEFAULT_WIDTH = 78
WIDEST = 100
"""The longest line in columns: longer ones are hard to read, even in a wide window."""

NARROWEST = 20
WINDOW = {"SCREENWIDTH": (NARROWEST, 300), "SCREENHEIGHT": (5, 300)}
"""The smallest and the largest numbers of columns and lines of a window. Evennia draws tables and
rules as wide as the client says: a window of millions of columns would take all memory."""
_WORDS = re.compile(r"(\s*)((?:\|lc.*?\|le|\S)+)")
"""A word or a link with the blanks before it, so that columns keep their places."""
_BRACES = re.compile(r"\{{2,}")
"""Braces of which Evennia's parser of colour codes shows only every other one."""

BUILDER = "Builder"
"""The permission that lifts the limits of player and address."""
_buckets = Buckets()


class WrappingSession(ServerSession):
    """A connection. Text is wrapped to the window of a telnet client."""

    def data_in(self, **kwargs: Any) -> None:
        """Take a line, unless its player or its address has sent too many lately."""
        who = ("player", self.uid) if self.logged_in else ("connection", self.sessid)
        named = ((who, PLAYER), (("address", str(self.address)), ADDRESS))
        empty = _buckets.charge(len(repr(kwargs)), named)
        if empty is None or (self.account and self.account.check_permstring(BUILDER)):
            super().data_in(**kwargs)
        elif empty.should_warn():
            self.msg(TOO_FAST)

    def update_flags(self, **kwargs: Any) -> None:
        """Take options that the player typed or saved, with a usable size of the window."""
        usable = _usable(kwargs)
        super().update_flags(**usable)
        if usable != kwargs:
            told = (f"{name} is {least} to {most}." for name, (least, most) in WINDOW.items())
            self.msg(f"That size cannot be used. {' '.join(told)}")

    def load_sync_data(self, sessdata: dict[str, Any]) -> None:
        """Take what the Portal knows of the client, with a usable size of the window."""
        flags = sessdata.get("protocol_flags")
        if isinstance(flags, dict):
            sessdata = {**sessdata, "protocol_flags": _usable(flags)}
        super().load_sync_data(sessdata)

    def data_out(self, **kwargs: Any) -> None:
        """Wrap the text on its way out, and keep its braces."""
        if not (kwargs.get("options") or {}).get("raw"):
            match kwargs.get("text"):
                case str() as text:
                    kwargs["text"] = self._shown(text)
                case [str() as text, *rest]:
                    kwargs["text"] = (self._shown(text), *rest)
        super().data_out(**kwargs)

    def _shown(self, text: str) -> str:
        if "telnet" in str(self.protocol_key):
            # A client that has not sent its width counts as 78 columns wide.
            said = (self.protocol_flags or {}).get("SCREENWIDTH", {}).get(0) or DEFAULT_WIDTH
            text = wrap(text, min(max(int(said), NARROWEST), WIDEST))
        return _BRACES.sub(lambda braces: braces[0] * 2, text)


def _usable(flags: Mapping[str, Any]) -> dict[str, Any]:
    """Return a client's options with the size of its window within :data:`WINDOW`."""
    usable = dict(flags)
    for name, (least, most) in WINDOW.items():
        sizes = usable.get(name)
        if isinstance(sizes, Mapping):  # by number of the window
            usable[name] = {each: min(max(int(n), least), most) for each, n in sizes.items()}
    return usable


def wrap(text: str, width: int) -> str:
    """Break every line that is too long at its blanks.

    Colour codes have no width. A line keeps its indentation, up to half the width, and the blanks
    between its words. Lines that fit (tables, drawings) are left as they are.
    """
    lines: list[str] = []
    for line in text.split("\n"):
        if len(line) <= width or _length(line) <= width:
            lines.append(line)
            continue
        indent = min(len(line) - len(line.lstrip(" ")), width // 2)
        current = " " * indent
        used = indent
        for gap, word in _WORDS.findall(line):
            length = _length(word)
            if used > indent and used + len(gap) + length > width:
                lines.append(current)
                current = " " * indent
                used = indent
            blank = gap if used > indent else ""
            current = f"{current}{blank}{word}"
            used = used + len(blank) + length
        lines.append(current)
    return "\n".join(lines)


def _length(text: str) -> int:
    return len(strip_ansi(text))
