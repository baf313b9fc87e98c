"""Who an agent is: what its page keeps secret."""

from __future__ import annotations

import re
from functools import lru_cache

from keepsake.language.perception import sentences

_SECRET_PARTS = re.compile(
    r"^#+[ \t]*secrets?\b.*?(?=^#|\Z)|(?:^|(?<=[.!?]\s))[-*\s]*secrets?:.*?(?=\n\s*\n|^#|\Z)",
    re.I | re.M | re.S,
)


@lru_cache(maxsize=512)  # of each agent, asked with each of its thoughts
def open_lines(profile: str) -> tuple[str, ...]:
    """The sentences of a persona that anybody may hear, as they are written.

    Left out is each sentence with ``(secret)`` in it, a paragraph from ``Secret:`` on, and what
    stands below a heading ``Secret``. Where the line breaks are lost, that is all the rest.
    """
    lines = _SECRET_PARTS.sub("", profile).splitlines()
    shown = "\n".join("" if line.startswith("#") else line for line in lines)
    found = (" ".join(each.split()) for each in sentences(shown))
    return tuple(each for each in found if "(secret)" not in each.casefold())
