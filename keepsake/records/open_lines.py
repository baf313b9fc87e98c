"""What a persona keeps to itself: the marks by which its author says so.

A model is shown the whole persona, marks and all, and told what they mean. Rules that speak without
a model are given the open lines alone.
"""

from __future__ import annotations

import re

from keepsake.language.words import sentences

_SECRET = re.compile(r"\(secret\)", re.I)
_PARTS = re.compile(
    r"^#+[ \t]*secrets?\b.*?(?=^#|\Z)|(?:^|(?<=[.!?]\s))[-*\s]*secrets?:.*?(?=\n\s*\n|^#|\Z)",
    re.I | re.M | re.S,
)
_HEADING = re.compile(r"^#.*$", re.M)


def open_lines(profile: str) -> list[str]:
    """The sentences of a persona that anybody may hear, as they are written.

    Left out is each sentence with ``(secret)`` in it, a paragraph from ``Secret:`` on, and what
    stands below a heading ``Secret``. Where the line breaks are lost, that is all the rest.
    """
    shown = _HEADING.sub("", _PARTS.sub("", profile))
    found = (" ".join(each.split()) for each in sentences(shown))
    return [each for each in found if not _SECRET.search(each)]
