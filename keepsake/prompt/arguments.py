"""What follows a verb: names of things, of people, and words said to them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from keepsake.language.patterns import pattern
from keepsake.language.perception import shorten
from keepsake.language.speech import disarm

LONGEST_ARGUMENT = 80
"""Characters of the name of a thing."""
LONGEST_WORDS = 400
"""Characters of what an agent writes down or searches for; ends at a word."""

_QUOTE = '"“”„«»'
_ARTICLE = re.compile(
    r"^(?:(?:up|down|at|to|into|the|a|an|my|this|that|through|towards?)\s+)+", re.I
)


_NAMED = re.compile(r"([A-Z][\w'’-]*(?: [A-Z][\w'’-]*)?)(?=\s*[:,]|\s+[\"“]|\s*$)")
_LONGEST_TITLE = 60
_RANGE = re.compile(
    r"(?:memor(?:y|ies)|numbers?|no\.?|from)?\s*#?\s*(\d{1,9})"
    r"(?:\s*(?:-|–|—|\.\.+|to|and|through)\s*#?(\d{1,9}))?",
    re.I,
)
_TURNED_TO = ("tell", "ask", "greet", "answer", "reply", "talk", "speak")


def addressed(word: str, rest: str, present: Sequence[str]) -> str:
    """``rest`` as speech: ``tell Tom that it rains`` becomes ``Tom, it rains``.

    ``word``: The verb as it was written, lower case.
    """
    to = re.match(r"(?:to|with|at)\s+", rest, re.I)
    told = rest[to.end() :] if to else rest
    name = leading_name(told, present)
    if not name and to and (named := _NAMED.match(told)):
        name = named[1]
    turned = word.removesuffix("s") in _TURNED_TO
    if not name or not (to or turned):
        return rest
    words = re.sub(r"^[\s,:]*(?:that\s+)?", "", told[len(name) :]).strip(_QUOTE + " ")
    if word.startswith("ask") and (about := re.match(r"about\s+", words)):
        words = f"tell me about {words[about.end() :]}"
    if word.startswith("greet") and not words:
        return f"Hello, {name}!"
    return f"{name}, {words}" if words else ""


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
    """``memories 65 to 70``, ``#65-70`` and ``(65..70)`` as ``65-70``; or empty."""
    match = _RANGE.fullmatch(rest.strip(f"{_QUOTE}'‘’.,!?*()[] "))
    if not match:
        return ""
    first, last = int(match[1]), int(match[2] or match[1])
    return f"{min(first, last)}-{max(first, last)}" if first != last else f"{first}"
