"""What a screen shows, as the text of a memory, and that text as a line of a prompt.

Two steps, apart on purpose. :func:`perceive` makes one clean line and keeps the
words: it goes into the archive. :func:`for_prompt` takes the teeth out of text
that could pass for the script's own machinery: it is applied on rendering, so
that a better rule tomorrow also covers what was archived yesterday.
"""

from __future__ import annotations

import calendar
import re
import unicodedata
from collections.abc import Callable
from datetime import date
from functools import lru_cache

_COMMON = """
    a about after again all also am an and any are as at away back be because been before being
    but by came can come could did do does doing done down each even every for from get go goes
    going gone good got had has have having he hello her here hers hey hi him his how i if in into
    is it its just know like look looks made make many may me might mine more most much must my
    never no not now of off oh ok okay on one only or other our out over own please put quite
    really right said say says see seem she should so some something still such take tell than
    thank thanks that the their them then there these they thing things this those though to too
    try under until up us very want was way we well went were what when where which while who why
    will with would yes yet you your yours
"""
COMMON_WORDS = frozenset(_COMMON.split())
"""Words that say nothing about what happened."""

MONTHS = tuple(calendar.month_name)[1:]

_MARKS = "".join(c for c in map(chr, range(0x300, 0x10000)) if unicodedata.category(c)[0] == "M")
_LETTERS = rf"[^\W_]+(?:[{_MARKS}]+[^\W_]*)*"
"""Letters and figures, with the vowels and accents that many scripts write as marks."""
WORD = re.compile(rf"{_LETTERS}(?:['’]{_LETTERS})?")
UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\ud7ff\uf900-\ufaff\U00020000-\U0003ffff]"
)
"""A sign of a script that is written without blanks between words."""
_ENDINGS = ("ing", "ied", "ies", "'s", "’s", "ed", "es", "s", "y")
_END = re.compile(r"[.!?…]+[\"”’')\]]*(?=\s|$)")
_ABBREVIATIONS = frozenset({"mr", "mrs", "ms", "dr", "st", "no", "vs", "etc"})
LAST_COMMA = re.compile(r'("(?:\\.|[^"\\])*")|,(?=\s*[}\]])', re.DOTALL)
"""A text of JSON, or a comma behind which nothing comes: only the first is JSON."""
SENTENCE_GAP = re.compile(r"(?<=[.!?…])\s+|(?<=[。！？])")
"""Where one sentence ends and the next begins, in any language."""


def short_day(day: date) -> str:
    """``4 May``."""
    return f"{day.day} {MONTHS[day.month - 1][:3]}"


words: Callable[[str], list[str]] = WORD.findall
"""The words of a text in order, as written."""


def writable(text: str) -> str:
    """``text`` without halves of characters (lone surrogates), which no file or model takes."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


@lru_cache(maxsize=32_768)
def stem(word: str) -> str:
    """``word`` in lower case without its commonest endings: walks, walked, walking."""
    word = word.casefold()
    short = word[: -next((len(each) for each in _ENDINGS if word.endswith(each)), -len(word))]
    return short if len(short) > 2 else word


def telling(text: str) -> set[str]:
    """The stems of the words of ``text`` that say something about what happened."""
    return {stem(word) for word in words(text) if word.casefold() not in COMMON_WORDS}


def stems(text: str) -> set[str]:
    """The stems of all words of ``text``."""
    return set(map(stem, words(text)))


def sentences(text: str) -> list[str]:
    """The sentences of ``text``; what stands in one pair of quotes stays together."""
    balanced = text.count('"') % 2 == 0 and text.count("“") == text.count("”")
    found, start = [], 0
    for match in _END.finditer(text):
        head = text[start : match.end()]
        if balanced and (head.count('"') % 2 or head.count("“") != head.count("”")):
            continue
        last = "".join(words(head)[-1:]).casefold()
        short = len(last) == 1 or last in _ABBREVIATIONS
        if short and head.casefold().endswith(f"{last}.") and match.end() < len(text):
            continue
        found.append(head.strip())
        start = match.end()
    found.append(text[start:].strip())
    return [sentence for sentence in found if sentence]


def closed(text: str) -> str:
    """``text`` with a full stop, if it ends with nothing of the kind."""
    return text if text.rstrip("\"”’')]")[-1:] in {*".!?…"} else f"{text.rstrip(',;: ')}."


@lru_cache(maxsize=8192)  # Python keeps a few hundred; these hold names, and a world has many
def pattern(source: str, flags: re.RegexFlag = re.NOFLAG) -> re.Pattern[str]:
    """``re.compile`` with a longer memory."""
    return re.compile(source, flags)


PROMPT_LIMIT = 700
"""Characters of one memory that a prompt shows; the archive keeps all of them."""
BYTES_PER_CHARACTER = 2
"""On an average over a line. A tokenizer may need a token for each byte of what it does not know:
of 700 such emoji, three quarters of a prompt."""

_ESCAPES = re.compile(
    r"\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?"  # operating system command: window title, links
    r"|\x1b\[[0-9;:?<=>!]*[ -/]*[@-~]"  # colours, cursor movement, MXP line modes
    r"|\x1b[ -/]*[0-~]"
    r"|\x9b[0-9;:?]*[@-~]"
)
_MARKUP = re.compile(
    r"\|(?:[|/_>-]"
    r"|\[?#[0-9a-fA-F]{6}|\[?#[0-9a-fA-F]{3}"
    r"|\[?=[a-z]|\[?[0-5]{3}|\[[rgybmcwxRGYBMCWX]|[rgybmcwxRGYBMCWXnuUhHiIsS*^]|l[ctue])"
    r"|\(#\d+\)"  # a database number
)
_PLAIN = {"||": "|", "|/": "\n", "|-": " ", "|_": " ", "|>": " "}
_RULE = " \t-=_*+~.|#<>/\\─━═│┌┐└┘├┤┬┴┼╭╮╰╯"
_SENTENCE_END = tuple(".!?…:;,\"'”’)]")

_CURSOR = re.compile(r"~\s*([^\s~<>][^~<>]{0,40}?)\s*>")
_TOKEN = re.compile(r"<([^<>\s]{1,40})>")
_STANDINS = str.maketrans("<>", "‹›")
_MARKUP_STANDINS = str.maketrans({"|": "¦", "{": "(", "}": ")", "\\": "/"})
_LONGEST_WORDS = 1200
_INSTRUCT = re.compile(r"\[(/?(?:INST|SYS|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_\w+))\]", re.I)
_QUOTES = str.maketrans(dict.fromkeys('`"“”„', "'"))
_APOSTROPHES = "'’‘"
_LONGEST_NAME = 48
_APART = str.maketrans(dict.fromkeys(':;,()[]`"“”„|*+#>', " "))
"""What parts a name from its neighbours in a file or a prompt."""
_HEADINGS, _RULES = "#~> ", ("--", "==", "``")


def perceive(raw: str, *, own_name: str = "") -> str:
    """One line of plain text from what a screen shows; empty if it shows nothing.

    Colour codes, links, escape sequences, control and invisible characters and
    database numbers go; lines are joined to sentences; words stay as they are.
    """
    text, *links = _ESCAPES.sub("", raw).replace("|lu", "|lc").split("|lc")
    for link in links:  # |lccommand|lttext|le
        command, sign, shown = link.partition("|lt")
        text += shown if sign else command
    text = _MARKUP.sub(lambda code: _PLAIN.get(code[0], ""), text)
    lines = map(one_line, text.splitlines())
    line = ""
    for each in lines:  # as sentences
        if not each.strip(_RULE):
            continue
        if line and not line.endswith(_SENTENCE_END) and not each[0].islower():
            line += "."
        line = f"{line} {each}" if line else each
    if own_name:
        line = pattern(rf"^~?{re.escape(own_name)}>\s*").sub("", line)
    return line


@lru_cache(maxsize=16_384)  # the windows of a hundred agents
def for_prompt(text: str, *, limit: int = PROMPT_LIMIT) -> str:
    """``text`` as one harmless line of a prompt.

    A cursor (``~Mira>``), a heading, a rule or a model's control token (``<eos>``,
    ``<|im_end|>``, ``[INST]``) inside it becomes plain text; what is longer than
    ``limit`` characters, or than twice as many bytes, is cut at a word. Applying it twice
    changes nothing.

    What stood in the last prompt mostly stands in the next one too, hence the cache.
    """
    line = one_line(text)
    line = _CURSOR.sub(r"\1:", line)
    line = _TOKEN.sub(r"(\1)", line).replace("<|", "(|")  # half a token is one with what follows
    # Nested ones are only seen once the inner one is gone; what is left over cannot match.
    line = line.translate(_STANDINS) if _TOKEN.search(line) or _CURSOR.search(line) else line
    line = _INSTRUCT.sub(r"(\1)", line)
    # Neither a heading nor a rule nor a fence begins it.
    while line != (bare := line.lstrip(_HEADINGS)) or line.startswith(_RULES):
        line = bare.lstrip(bare[0]) if bare.startswith(_RULES) else bare
    line = shorten(line, limit)
    coded, most = line.encode(), limit * BYTES_PER_CHARACTER
    if len(coded) <= most:
        return line
    return _broken_off(coded[: most - len("…".encode())].decode(errors="ignore"))


def disarm(text: str) -> str:
    """``text`` with nothing left that the game or a model would take for machinery."""
    line = for_prompt(text, limit=_LONGEST_WORDS).translate(_MARKUP_STANDINS)
    return line.replace("$", "") if "(" in line else line  # $function(…)


def quoted(text: str, limit: int) -> str:
    """``text`` as it may stand between single quotes, which it cannot close."""
    line = f" {shorten(for_prompt(text).translate(_QUOTES), limit)} "
    inside = zip(line, line[1:], line[2:], strict=False)
    kept = (c for a, c, b in inside if c not in _APOSTROPHES or (a.isalnum() and b.isalnum()))
    return f"'{''.join(kept)}'"


def fit_name(text: str) -> str:
    """A name as a page keeps it; ``somebody`` for a text that is no name."""
    clean = for_prompt(" ".join(text.translate(_APART).split()), limit=_LONGEST_NAME).strip(" -")
    return clean if any(map(str.isalnum, clean)) else "somebody"


def one_line(text: str) -> str:
    """``text``, single-spaced, :func:`plain`, and with accents as one character (NFC)."""
    # What Python calls printable is; nearly every text is, and every prompt asks this of a hundred.
    line = " ".join((text if text.isprintable() else plain(text)).split())
    return unicodedata.normalize("NFC", line)


def plain(text: str) -> str:
    """``text`` without control, invisible, direction and broken characters; line ends stay."""
    # Blanks between words are control characters too (tab, separators): they stay blanks.
    return "".join(
        c if c == "\n" else " " if c.isspace() else c
        for c in text
        if c.isspace() or unicodedata.category(c) not in ("Cc", "Cf", "Cs", "Co", "Cn")
    )


def shorten(text: str, limit: int) -> str:
    """``text`` cut at a word so that it has at most ``limit`` characters, ``…`` included."""
    if len(text) <= limit:
        return text
    return _broken_off(text[: limit - 1])


def _broken_off(head: str) -> str:
    """A text of which only ``head`` is left, which ends with a word if one ends near."""
    return f"{head.rsplit(' ', 1)[0] if ' ' in head[(len(head) + 1) // 2 :] else head}…"
