"""Converts game output into the text of a memory, and that text into a line of a prompt.

These are two separate steps. :func:`plain_line` makes one clean line for the archive
and keeps its words. :func:`for_prompt` neutralises text that could pass for prompt
markup. It runs when a prompt is rendered, so that an improved rule also covers
memories that are already archived.
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
QUOTES = {'"': '"', "“": "”", "„": "“", "«": "»", "「": "」"}
"""Quotation marks: each opening one with the one that closes it."""
_INNER = str.maketrans({'"': "'", "“": "‘", "”": "’", "„": "‚"})
COMMON_WORDS = frozenset(_COMMON.split())
"""Stop words: words that say nothing about what happened."""

MONTHS = tuple(calendar.month_name)[1:]

_MARKS = "".join(c for c in map(chr, range(0x300, 0x10000)) if unicodedata.category(c)[0] == "M")
_LETTERS = rf"[^\W_]+(?:[{_MARKS}]+[^\W_]*)*"
"""Letters and digits, with vowels and accents that many scripts write as combining marks."""
WORD = re.compile(rf"{_LETTERS}(?:['’]{_LETTERS})?")
UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\ud7ff\uf900-\ufaff\U00020000-\U0003ffff]"
)
"""A character of a script that is written without spaces between words."""
_ENDINGS = ("ing", "ied", "ies", "'s", "’s", "ed", "es", "s", "y")
_END = re.compile(r"[.!?…؟]+[\"”’')\]]*(?=\s|$)")
_ABBREVIATIONS = frozenset({"mr", "mrs", "ms", "dr", "st", "no", "vs", "etc"})
LAST_COMMA = re.compile(r'("(?:\\.|[^"\\])*")|,(?=\s*[}\]])', re.DOTALL)
"""A JSON string (group 1), or a trailing comma, which is not valid JSON."""
CLAUSE_GAP = re.compile(r"(?<=[.;!?…])\s+")
"""Between parts of what was said, at a semicolon, too: what belongs together stands in one."""
SENTENCE_GAP = re.compile(r"(?<=[.!?…؟])\s+|(?<=[。！？])")
"""The boundary between two sentences, in any language."""


def short_day(day: date) -> str:
    """Return a date such as ``4 May``."""
    return f"{day.day} {MONTHS[day.month - 1][:3]}"


words: Callable[[str], list[str]] = WORD.findall
"""Returns the words of a text in order, as written."""


def writable(text: str) -> str:
    """Return ``text`` without lone surrogates, which cannot be encoded for a file or a model."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


@lru_cache(maxsize=32_768)
def stem(word: str) -> str:
    """Return ``word`` in lower case without common endings: walks, walked, walking."""
    word = word.casefold()
    short = word[: -next((len(each) for each in _ENDINGS if word.endswith(each)), -len(word))]
    return short if len(short) > 2 else word


def unquoted(text: str) -> str:
    """Return a text without the quotation marks around all of it, or one that has no partner.

    ``"Hush," he said.`` keeps its marks, because they are around a part of it.
    """
    bare = text.strip()
    close = QUOTES.get(bare[:1])
    if close and len(bare) > 2 and bare.find(close, 1) == len(bare) - 1:
        return bare[1:-1].strip()
    if close and close not in bare[1:]:
        return bare[1:].strip()
    opening = next((each for each, end in QUOTES.items() if bare.endswith(end)), "")
    inches = bare[-2:-1].isalnum()  # a board of 5"
    if opening and opening not in bare[:-1] and not inches:
        return bare[:-1].strip()
    return bare


def inner_quotes(words: str) -> str:
    """Return words with single quotation marks, to stand between double ones."""
    return words.translate(_INNER)


@lru_cache(maxsize=8192)  # the lines of a hundred full pages about people
def telling(text: str) -> frozenset[str]:
    """Return the stems of the words of ``text``, without stop words."""
    return frozenset(stem(word) for word in words(text) if word.casefold() not in COMMON_WORDS)


def stems(text: str) -> set[str]:
    """Return the stems of all words of ``text``."""
    return set(map(stem, words(text)))


def sentences(text: str) -> list[str]:
    """Return the sentences of ``text``; text in one pair of quotation marks is not split."""
    balanced = text.count('"') % 2 == 0 and text.count("“") == text.count("”")
    found = []
    start = 0
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
    """Return ``text`` with a full stop, unless it already ends with such a mark."""
    return text if text.rstrip("\"”’')]")[-1:] in {*".!?…"} else f"{text.rstrip(',;: ')}."


@lru_cache(maxsize=8192)  # re caches only a few hundred; these hold names, and a world has many
def pattern(source: str, flags: re.RegexFlag = re.NOFLAG) -> re.Pattern[str]:
    """Compile a regular expression, with a larger cache than the one of ``re``."""
    return re.compile(source, flags)


PROMPT_LIMIT = 700
"""Characters of a memory that a prompt shows; the archive keeps the whole text."""
BYTES_PER_CHARACTER = 2
"""The limit in bytes, as an average over a line. A tokenizer may need a token for each byte of an
unknown character: 700 such emoji would take three quarters of a prompt."""

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
"""The most characters of a line that a model may say; a player could not read more at once."""
_INSTRUCT = re.compile(r"\[(/?(?:INST|SYS|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_\w+))\]", re.I)
_QUOTES = str.maketrans(dict.fromkeys('`"“”„', "'"))
_APOSTROPHES = "'’‘"
_LONGEST_NAME = 48
"""The most characters of a name in a file or a prompt; a game may have longer ones."""
_APART = str.maketrans(dict.fromkeys(':;,()[]`"“”„|*+#>', " "))
"""Replaces characters that separate a name from other text in a file or a prompt."""
_JOINERS = "\u200c\u200d"
_JOINED = (
    "[\u0600-\u08ff\u0900-\u0dff\u1000-\u109f\u1780-\u18af\ufb50-\ufdff\ufe70-\ufefc"
    "\u2190-\u2bff\ufe0f\U0001f000-\U0001faff]"
)
"""The scripts that are spelled with the zero-width joiner and non-joiner (Arabic and its relatives,
those of India and Sri Lanka, Burmese, Khmer, Mongolian), and symbols, which emoji are made of."""
_STRAY_JOINERS = re.compile(f"(?<!{_JOINED})[{_JOINERS}]+|[{_JOINERS}]+(?!{_JOINED}|[{_JOINERS}])")
_HEADINGS = "#~> "
"""Characters that begin a heading, an own act or a command in a prompt."""
_RULES = ("--", "==", "``")
"""What begins a rule or a fence in markdown."""


def plain_line(raw: str, *, own_name: str = "") -> str:
    """Return game output as one line of plain text; empty if nothing is visible.

    Colour codes, links, escape sequences, control and invisible characters and
    database numbers are removed; lines are joined as sentences; words do not change.
    """
    text, *links = _ESCAPES.sub("", raw).replace("|lu", "|lc").split("|lc")
    for link in links:  # |lccommand|lttext|le
        command, sign, shown = link.partition("|lt")
        text += shown if sign else command
    text = _MARKUP.sub(lambda code: _PLAIN.get(code[0], ""), text)
    lines = map(one_line, text.splitlines())
    line = ""
    for each in lines:  # join them as sentences
        if not each.strip(_RULE):
            continue
        if line and not line.endswith(_SENTENCE_END) and not each[0].islower():
            line += "."
        line = f"{line} {each}" if line else each
    if own_name:
        line = pattern(rf"^~?{re.escape(own_name)}>\s*").sub("", line)
    return line


@lru_cache(maxsize=16_384)  # the windows of a hundred agents
def is_question(words: str) -> bool:
    """Return whether words end as a question, in any script with a question mark."""
    return words.rstrip(" \"'”’»)」』").endswith(("?", "？", "؟"))


@lru_cache(maxsize=16_384)  # the windows of a hundred agents
def for_prompt(text: str, *, limit: int = PROMPT_LIMIT) -> str:
    """Return ``text`` as one harmless line of a prompt.

    A cursor (``~Mira>``), a heading, a rule or a model's control token (``<eos>``,
    ``<|im_end|>``, ``[INST]``) becomes plain text. Text over ``limit`` characters, or over twice
    as many bytes, is cut at a word. A second call changes nothing.

    It is cached, because most lines of a prompt appear in the next prompt too.
    """
    line = one_line(text)
    line = _CURSOR.sub(r"\1:", line)
    line = _TOKEN.sub(r"(\1)", line).replace("<|", "(|")  # half a token may join with later text
    # Removing an inner token may reveal an outer one. Then replace all angle brackets.
    line = line.translate(_STANDINS) if _TOKEN.search(line) or _CURSOR.search(line) else line
    line = _INSTRUCT.sub(r"(\1)", line)
    # The line must not begin with a heading, a rule or a fence.
    while line != (bare := line.lstrip(_HEADINGS)) or line.startswith(_RULES):
        line = bare.lstrip(bare[0]) if bare.startswith(_RULES) else bare
    line = shorten(line, limit)
    coded = line.encode()
    most = limit * BYTES_PER_CHARACTER
    if len(coded) <= most:
        return line
    return _broken_off(coded[: most - len("…".encode())].decode(errors="ignore"))


def disarm(text: str) -> str:
    """Return ``text`` without anything that the game or a model would treat as markup."""
    line = for_prompt(text, limit=_LONGEST_WORDS).translate(_MARKUP_STANDINS)
    return line.replace("$", "") if "(" in line else line  # $function(…)


def quoted(text: str, limit: int) -> str:
    """Return ``text`` in single quotation marks, without any that could close them."""
    line = f" {shorten(for_prompt(text).translate(_QUOTES), limit)} "
    inside = zip(line, line[1:], line[2:], strict=False)
    kept = (c for a, c, b in inside if c not in _APOSTROPHES or (a.isalnum() and b.isalnum()))
    return f"'{''.join(kept)}'"


def fit_name(text: str) -> str:
    """Return a name as pages store it; ``somebody`` if the text contains no name."""
    clean = for_prompt(" ".join(text.translate(_APART).split()), limit=_LONGEST_NAME).strip(" -")
    return clean if any(map(str.isalnum, clean)) else "somebody"


def one_line(text: str) -> str:
    """Return ``text`` with single spaces, as :func:`plain`, and with composed accents (NFC)."""
    # A printable text is plain already. Most are, and every prompt has a hundred lines.
    line = " ".join((text if text.isprintable() else plain(text)).split())
    return unicodedata.normalize("NFC", line)


def plain(text: str) -> str:
    """Remove control, invisible, direction and broken characters; newlines stay.

    A joiner stays where spelling needs it: between letters of a script that has them, or in an
    emoji of several.
    """
    return _STRAY_JOINERS.sub("", visible(text))


def visible(piece: str) -> str:
    """Return a piece of a text as :func:`plain`; joiners stay, as their neighbours may follow."""
    shown = []
    for character in piece:
        if character == "\n" or character in _JOINERS:
            shown.append(character)
        elif character.isspace():  # tabs and separators are control characters, too
            shown.append(" ")
        elif unicodedata.category(character) not in ("Cc", "Cf", "Cs", "Co", "Cn"):
            shown.append(character)
    return "".join(shown)


def shorten(text: str, limit: int) -> str:
    """Return ``text`` cut at a word to at most ``limit`` characters, including the ``…``."""
    if len(text) <= limit:
        return text
    return _broken_off(text[: limit - 1])


def _broken_off(head: str) -> str:
    """Return ``head`` with ``…``, cut back to a whole word if one ends in its second half."""
    whole = head.rsplit(" ", 1)[0] if " " in head[(len(head) + 1) // 2 :] else head
    return f"{whole.rstrip(_JOINERS)}…"


def names(text: str, name: str) -> bool:
    """Return whether ``text`` has ``name`` as a whole word, in any case, with any apostrophe."""
    whole = pattern(rf"(?<!\w){re.escape(straightened(name))}(?!\w)", re.I)
    return bool(name) and whole.search(straightened(text)) is not None


def straightened(text: str) -> str:
    """Return a text with straight apostrophes."""
    return text.replace("’", "'")
