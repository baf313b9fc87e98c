"""An agent's persona: its open sentences, and those that are marked as secret."""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from functools import lru_cache

from keepsake.language.perception import sentences

SECRET = "(secret)"
"""Marks a sentence of a persona that the agent tells nobody."""
_SECRET_PARTS = re.compile(
    r"^#+[ \t]*secrets?\b.*?(?=^#|\Z)|(?:^|(?<=[.!?]\s))[-*\s]*secrets?:.*?(?=\n\s*\n|^#|\Z)",
    re.I | re.M | re.S,
)
_LABEL = re.compile(r"^[-*\s]*secrets?:\s*", re.I)
_MARK = re.compile(re.escape(SECRET), re.I)
_ENTRY = re.compile(r"[-*\s]*(?P<name>[^\s:,;.][^:,;.]{0,47}): (?P<what>\S.*)")


@lru_cache(maxsize=512)  # each thought of each agent calls it
def open_lines(profile: str) -> tuple[str, ...]:
    """Return the sentences of a persona that anybody may hear, with single spaces.

    It omits each sentence with ``(secret)`` in it, a paragraph from ``Secret:`` on, and the text
    below a heading ``Secret``. If the line breaks are lost, that is all of the remaining text.
    """
    found = _sentences(_SECRET_PARTS.sub("", profile))
    return tuple(each for each in found if SECRET not in each.casefold())


@lru_cache(maxsize=512)  # each answer of each agent calls it
def secret_lines(profile: str) -> tuple[str, ...]:
    """Return the sentences of a persona that :func:`open_lines` omits, without their marks."""
    hidden = [_LABEL.sub("", part) for part in _SECRET_PARTS.findall(profile)]
    found = [sentence for part in hidden for sentence in _sentences(part)]
    marked = _sentences(_SECRET_PARTS.sub("", profile))
    found += [each for each in marked if SECRET in each.casefold()]
    bare = (" ".join(_MARK.sub(" ", each).split()) for each in found)
    return tuple(each for each in bare if each)


@lru_cache(maxsize=512)  # each answer of a small model calls it
def known_of(profile: str) -> tuple[tuple[str, str], ...]:
    """Return what a persona says of others: a name and what stands behind its colon.

    That is each open sentence such as ``Joss: the ferryman; he pays for soup with news.``
    """
    found = (_ENTRY.fullmatch(each) for each in open_lines(profile))
    return tuple((each["name"], each["what"]) for each in found if each is not None)


@lru_cache(maxsize=512)  # each thought of each agent calls it
def changes_between(written: str, now: str) -> tuple[tuple[str, str], ...]:
    """Return where two versions of a persona differ: the former sentences, and those instead.

    One of the two is empty where sentences were added or taken away.
    """
    before = _lines_of(written)
    after = _lines_of(now)
    steps = SequenceMatcher(None, before, after, autojunk=False).get_opcodes()
    return tuple(
        (" ".join(before[a:b]), " ".join(after[c:d])) for op, a, b, c, d in steps if op != "equal"
    )


def _lines_of(text: str) -> list[str]:
    """Return all sentences of a persona, with marks and headings."""
    lines = (sentences(line) for line in text.splitlines())
    return [" ".join(each.split()) for found in lines for each in found]


def _sentences(text: str) -> list[str]:
    """Return the sentences of a part of a persona, without headings."""
    shown = "\n".join("" if line.startswith("#") else line for line in text.splitlines())
    return [" ".join(each.split()) for each in sentences(shown)]
