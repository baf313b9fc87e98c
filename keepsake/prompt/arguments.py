"""What follows a verb: names of things, of people, and words said to them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from keepsake.language.perception import disarm, shorten
from keepsake.language.words import pattern

LONGEST_ARGUMENT = 80
"""Characters of the name of a thing."""
LONGEST_WORDS = 400
"""Characters of what an agent writes down or searches for; ends at a word."""

_QUOTE = '"“”„«»'
_ARTICLE = re.compile(
    r"^(?:(?:up|down|at|to|into|the|a|an|my|this|that|through|towards?)\s+)+", re.I
)
_LONGEST_TITLE = 60


def leading_name(text: str, present: Sequence[str]) -> str:
    """The longest name in ``present`` that ``text`` begins with, as written in ``text``."""
    for name in sorted(present, key=len, reverse=True):
        if name and pattern(rf"{re.escape(name)}(?!\w)", re.I).match(text):
            return text[: len(name)]
    return ""


def halves(text: str, sign: str) -> tuple[str, str, str]:
    """What stands before and after the first ``sign`` (a pattern), and a blank if there is one."""
    match = re.search(sign, text)
    return (text[: match.start()], " ", text[match.end() :]) if match else (text, "", "")


def thing_name(text: str) -> str:
    """The name of a thing or exit: no article, quotes or full stop; short; no leading ``@``."""
    text = disarm(text).strip(f"{_QUOTE}'‘’.,!?*()[] ")
    bare = _ARTICLE.sub("", text)
    return shorten((bare or text).lstrip("@ "), LONGEST_ARGUMENT)


def gift(rest: str, present: Sequence[str]) -> tuple[str, str]:
    """The thing and the person in ``lamp to Tom``, ``lamp = Tom`` and ``Tom the lamp``."""
    thing, sign, who = halves(rest, r"\s+to\s+|\s*=\s*")
    if not sign and (who := leading_name(rest, present)):
        thing = rest[len(who) :]
    return thing_name(thing), thing_name(who)


def own_words(text: str) -> str:
    """What the agent says to itself alone: one harmless line; empty if there is no word."""
    line = disarm(text).strip(f"{_QUOTE}'‘’*[] ").lstrip("@ ")
    return shorten(line, LONGEST_WORDS) if any(char.isalnum() for char in line) else ""


def entry(rest: str) -> str:
    """``the garden: I sowed`` and ``garden = I sowed`` as ``garden: I sowed``; or empty."""
    title, sign, text = halves(rest, r"\s*[:=]\s*|\s+(?:-|–|—)\s+")
    title, text = shorten(thing_name(title).rstrip(" :-"), _LONGEST_TITLE), own_words(text)
    return f"{title}: {text}" if sign and title and text else ""


def numbers(rest: str) -> str:
    """``memories 65 to 70``, ``#65-70`` and ``(70..65)`` as ``65-70``; or empty."""
    found = [int(each) for each in re.findall(r"\d{1,9}", rest)[:2]]
    return "-".join(str(each) for each in sorted(set(found)))
