"""Names and numbers in texts, as they can be compared: who, where, when, how many.

No model and no word list of names: what is written with a capital inside a sentence is a
name, and so is a word that begins one and is called a name elsewhere or does what only
somebody can do (``Tom says``, ``Tom's``). Numbers are one, however they are written:
``twenty-three``, ``23``, ``the 23rd``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from keepsake.language.words import COMMON_WORDS, DAY, MONTHS, stem

_NUMBER_WORDS = """
    zero:0 one:1 two:2 three:3 four:4 five:5 six:6 seven:7 eight:8 nine:9 ten:10 eleven:11 twelve:12
    thirteen:13 fourteen:14 fifteen:15 sixteen:16 seventeen:17 eighteen:18 nineteen:19 twenty:20
    thirty:30 forty:40 fifty:50 sixty:60 seventy:70 eighty:80 ninety:90 dozen:12 hundred:100
    thousand:1000 first:1 second:2 third:3 fourth:4 fifth:5 sixth:6 seventh:7 eighth:8 ninth:9
    tenth:10 eleventh:11 twelfth:12 thirteenth:13 fourteenth:14 fifteenth:15 sixteenth:16
    seventeenth:17 eighteenth:18 nineteenth:19 twentieth:20 thirtieth:30 fortieth:40 fiftieth:50
"""
_VALUES = {word: int(value) for word, _, value in (e.partition(":") for e in _NUMBER_WORDS.split())}
_MONTHS = frozenset(map(str.casefold, MONTHS))
_VAGUE = frozenset({"one", "first", "second"})
"""Alone they are pronouns, adverbs, a moment: no figure that a summary could lose."""
_PEOPLE_DO_WORDS = """
    says said asks asked told tells replies replied answers answered whispers whispered shouts
    shouted adds added wants wanted arrives arrived leaves left gives gave came comes sat sits
    warms looked nods nodded smiles smiled laughs laughed promised promises owes owed knows knew
    lives lived sells sold
"""
_PEOPLE_DO = frozenset(_PEOPLE_DO_WORDS.split())
"""Verbs after a word that begins a sentence which show that somebody is named there."""
_NOT_NAMES_WORDS = """
    yesterday today tomorrow tonight everybody everyone everything somebody someone something
    nobody nothing anybody anyone both each another others later meanwhile perhaps maybe however
    finally then once again also besides therefore outside inside upstairs downstairs people
    nearby evening morning night afternoon rain snow time work life memory summary
"""
_NOT_NAMES = frozenset(_NOT_NAMES_WORDS.split())
_MARKS = re.compile(
    r"\(\s*memor(?:y|ies)[^()]{0,60}\)|\(repeated \d+×\)|^\s*#+[^\n]*$"
    rf"|^\s*(?:(?:[-*•]|\d{{1,3}}[.)])\s+)?{DAY}: |^\s*(?:[-*•]|\d{{1,3}}[.)])\s+",
    re.I | re.M,
)
"""What a prompt adds to a text: references, counts, headings, list signs, days of lines."""
_CURSOR = re.compile(r"^~([^~<>\n]{1,40})>\s*\S+", re.M)
_TOKEN = re.compile(
    r"(?P<number>\d+(?:[.,:]\d+)*)|(?P<word>[^\W\d_]+(?:['’][^\W\d_]+)*)|(?P<end>[.!?…:;\"“”(\[\n])"
    r"|(?P<quote>(?<!\w)['‘])"
)


@dataclass(frozen=True, slots=True)
class Detail:
    """A name or a number that stands in a text."""

    shown: str
    keys: tuple[str, ...]
    number: bool = False


class _Token(NamedTuple):
    """A word or a number; a tuple, as there are thousands."""

    text: str
    low: str
    begins: bool
    before: str
    """What stands between it and the token before."""

    @property
    def gap(self) -> bool:
        """Whether that is more than a blank or a hyphen."""
        return self.before not in (" ", "-")

    @property
    def capital(self) -> bool:
        return self.text[0].isupper()


def details(texts: Iterable[str]) -> dict[tuple[str, ...], Detail]:
    """The names and numbers in ``texts``, by their keys, in order of appearance.

    A name of several words (``Corran Head``) is one. Months and days of the week are
    names; ``one``, ``first`` and ``second`` are numbers only beside a month or another
    number (``the second of June``, ``one hundred``).
    """
    read = [_tokens(text) for text in texts]
    named, plain = _named(read)
    found: dict[tuple[str, ...], Detail] = {}
    for tokens in read:
        for each in (*_names(tokens, named, plain), *_numbers(tokens)):
            found.setdefault(each.keys, each)
    return found


def vocabulary(texts: Iterable[str]) -> set[str]:
    """Every key that stands in ``texts``: stems of all words, and all numbers."""
    return set().union(*map(_keys, texts))


def numbers(text: str) -> tuple[Detail, ...]:
    """The numbers in ``text``, in order; ``one`` and the like as in :func:`details`."""
    return tuple(_numbers(_tokens(text)))


def counts(word: str) -> bool:
    """Whether ``word``, in lower case, is a number or may be a part of one."""
    return word[0].isdigit() or word in _VALUES


@lru_cache(maxsize=32_768)
def key(word: str) -> str:
    """What ``word`` is compared by, whatever its ending: ``Tom's``, ``baskets``."""
    bare = re.sub(r"['’]s?$", "", word.casefold())
    return stem(bare) or bare


@lru_cache(maxsize=2048)
def _tokens(text: str) -> tuple[_Token, ...]:
    """Words and digits of ``text``, each with whether it begins a sentence or a speech."""
    found: list[_Token] = []
    begins, before = True, 0
    text = _CURSOR.sub(r"\1\n", _MARKS.sub("\n", text))
    for match in _TOKEN.finditer(text):
        if match.lastgroup in ("end", "quote"):
            begins = True
            continue
        word = match[0]
        found.append(_Token(word, word.casefold(), begins, text[before : match.start()]))
        begins, before = False, match.end()
    return tuple(found)


@lru_cache(maxsize=2048)
def _keys(text: str) -> frozenset[str]:
    """What one text adds to a vocabulary; a check of a summary asks for most lines three times."""
    tokens = _tokens(text)
    numbers = (each for number in _numbers(tokens, vague=True) for each in number.keys)
    return frozenset((*(key(token.low) for token in tokens), *numbers))


def _named(read: Iterable[Sequence[_Token]]) -> tuple[set[str], set[str]]:
    """Words that are surely names, and words that are also written small."""
    named: set[str] = set()
    plain: set[str] = set()
    for tokens in read:
        for token in tokens:
            if not token.capital:
                plain.add(token.low)
            elif not token.begins and _may_be_name(token):
                named.add(key(token.low))
    return named, plain


def _may_be_name(token: _Token) -> bool:
    low = re.split("['’]", token.low)[0]
    shouted = token.text.isupper() and len(token.text) > 3
    usual = low in COMMON_WORDS and low not in _MONTHS
    return not (shouted or usual or low in _NOT_NAMES or low in _VALUES or len(low) < 2)


def _names(tokens: Sequence[_Token], named: set[str], plain: set[str]) -> Iterator[Detail]:
    """Runs of words that are names."""
    run: list[_Token] = []
    for index, token in enumerate(tokens):
        is_name = token.capital and _may_be_name(token) and _is_name(tokens, index, named, plain)
        if run and (token.gap or token.begins or not is_name):
            yield _name(run)
            run = []
        if is_name:
            run.append(token)
    if run:
        yield _name(run)


def _is_name(tokens: Sequence[_Token], index: int, named: set[str], plain: set[str]) -> bool:
    token = tokens[index]
    if not token.begins or key(token.low) in named:
        return True
    if token.low in plain:
        return False
    if token.low.endswith(("'s", "’s")):
        return True
    after = tokens[index + 1] if index + 1 < len(tokens) else None
    return after is not None and not after.gap and after.low in _PEOPLE_DO


def _name(run: list[_Token]) -> Detail:
    shown = re.sub(r"['’]s?$", "", _as_written(run))
    return Detail(shown, tuple(key(token.low) for token in run))


def _as_written(run: Sequence[_Token]) -> str:
    return run[0].text + "".join(f"{token.before}{token.text}" for token in run[1:])


def _numbers(tokens: Sequence[_Token], *, vague: bool = False) -> Iterator[Detail]:
    """The numbers among ``tokens``, words put together: two hundred and five."""
    index = 0
    while index < len(tokens):
        token = tokens[index]
        if token.text[0].isdigit():
            yield Detail(token.text, (_digits(token.text),), number=True)
            index += 1
        elif token.low in _VALUES:
            end, value = _in_words(tokens, index)
            alone = end == index + 1 and token.low in _VAGUE
            beside = tokens[max(index - 2, 0) : index + 3]  # the second of June, June the second
            dated = any(each.low in _MONTHS and each.capital for each in beside)
            if vague or not alone or dated:
                shown = _as_written(tokens[index:end])
                yield Detail(shown, (str(value),), number=True)
            index = end
        else:
            index += 1


def _digits(text: str) -> str:
    """Digits without leading zeros and commas for thousands; never an int, however long."""
    if re.fullmatch(r"\d{1,3}(?:,\d{3})+", text):
        text = text.replace(",", "")
    return text.lstrip("0") or "0"


def _in_words(tokens: Sequence[_Token], start: int) -> tuple[int, int]:
    """Where the number that begins at ``start`` ends, and its value."""
    total, part, index = 0, _VALUES[tokens[start].low], start + 1
    while index < len(tokens) and not tokens[index].gap:
        word, step = tokens[index].low, 1
        if word == "and" and (total or part >= 100) and index + 1 < len(tokens):
            word, step = tokens[index + 1].low, 2
        value = _VALUES.get(word)
        if value is None or not (joined := _joined(part, value)):
            break
        part = joined
        if value == 1000:
            total, part = total + part, 0
        index += step
    return index, total + part


def _joined(part: int, value: int) -> int:
    """``part`` with the next word's ``value``; 0 if they are two numbers."""
    if value in (100, 1000) or (value == 12 and part < 10):
        return part * value if 0 < part < value else value if part == 0 else 0
    room = part == 0 or (part % 100 == 0 and value < 100) or (part % 10 == 0 and value < 10)
    return part + value if room and part != 10 else 0
