"""Players' words, made safe to show to others.

What somebody types reaches other people's screens and agents' prompts. It is
folded to one line, its colour codes are shown instead of obeyed, and it is only
ever *inserted* into messages, never used as their template.
"""

from __future__ import annotations

import inflect

from keepsake.errors import KeepsakeError
from keepsake.language.perception import one_line

LONGEST_SPEECH = 1000
"""Characters that one act of speech or gesture may have; on an average of two bytes at most."""

LONGEST_NAME = 80
"""Characters that the name of something sought may have."""

_NOUNS = inflect.engine()
_ARTICLES = ("the ", "a ", "an ", "my ")


class CannotDo(KeepsakeError):
    """What somebody wants to do cannot be done; says why."""


def spoken(text: str) -> str:
    """What somebody says or does, as it may be put into a message for others.

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
    """``line`` with its markup shown instead of obeyed.

    A doubled bar is a plain one to every client, but the web client looks for links
    (``|lc…|lt…|le``) once more afterwards: a blank keeps those apart.
    """
    for code in ("lc", "lu", "lt", "le"):
        line = line.replace(f"|{code}", f"| {code}")
    return line.replace("|", "||")


def sought(text: str) -> str:
    """The name of something looked for: without an article, and not endless."""
    name = one_line(text)[:LONGEST_NAME]
    article = next((a for a in _ARTICLES if name.lower().startswith(a)), "")
    return name[len(article) :].strip()


def quoted(text: str) -> str:
    """``text`` in double quotes, for a message to the one who typed it."""
    return f'"{harmless(text)}"'


def counted(number: int, noun: str) -> str:
    """``1 note``, ``1,200 memories``."""
    return f"{number:,} {plural(noun, number)}"


def plural(noun: str, number: int) -> str:
    """``noun`` as it is said of so many."""
    return str(_NOUNS.plural(noun, number))


def listed(names: list[str], last: str = "and") -> str:
    """``a, b and c``."""
    if len(names) < 2:
        return "".join(names)
    return f"{', '.join(names[:-1])} {last} {names[-1]}"
