"""Makes players' words safe to show to others.

Typed text reaches other people's screens and agents' prompts. It is folded to one line, its
colour codes are shown instead of obeyed, and it is only ever *inserted* into messages, never
used as their template.
"""

from __future__ import annotations

import inflect

from keepsake.errors import KeepsakeError
from keepsake.language.perception import one_line

LONGEST_SPEECH = 1000
"""The most characters of one speech or gesture; it may have twice as many UTF-8 bytes."""

LONGEST_NAME = 80
"""The most characters of the name of something to look for."""

_NOUNS = inflect.engine()
_ARTICLES = ("the ", "a ", "an ", "my ")


class CannotDo(KeepsakeError):
    """A player's command cannot be done; says why."""


def spoken(text: str) -> str:
    """Return a player's speech or gesture so that it can be put into a message for others.

    Raises:
        CannotDo: It is longer than :data:`LONGEST_SPEECH`.
    """
    line = one_line(text)
    length = max(len(line), len(line.encode(errors="replace")) // 2)
    if length > LONGEST_SPEECH:
        raise CannotDo(
            f"That is {length:,} characters long",
            f"Nobody can take in more than {LONGEST_SPEECH:,} at once, and an emoji counts "
            "as two: say it in parts.",
        )
    return harmless(line)


def harmless(line: str) -> str:
    """Return ``line`` with its markup shown instead of obeyed.

    Every client shows a doubled bar as a plain one, but the web client searches the result for
    links (``|lc…|lt…|le``) again. A blank after the bar prevents that.
    """
    for code in ("lc", "lu", "lt", "le"):
        line = line.replace(f"|{code}", f"| {code}")
    return line.replace("|", "||")


def sought(text: str) -> str:
    """Return the name of something to look for, without an article, cut to ``LONGEST_NAME``."""
    name = one_line(text)[:LONGEST_NAME]
    article = next((a for a in _ARTICLES if name.lower().startswith(a)), "")
    return name[len(article) :].strip()


def quoted(text: str) -> str:
    """Return ``text`` in double quotes, for a message to the player who typed it."""
    return f'"{harmless(text)}"'


def counted(number: int, noun: str) -> str:
    """Return a number with its noun: ``1 note``, ``1,200 memories``."""
    return f"{number:,} {plural(noun, number)}"


def plural(noun: str, number: int) -> str:
    """Return ``noun`` in the singular or plural, as ``number`` needs it."""
    return str(_NOUNS.plural(noun, number))


def listed(names: list[str], last: str = "and") -> str:
    """Join names: ``a, b and c``."""
    if len(names) < 2:
        return "".join(names)
    return f"{', '.join(names[:-1])} {last} {names[-1]}"
