"""Checks of a summary that a model wrote, before anything is forgotten for it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import groupby

from keepsake.language.words import is_closed, sentences, shares_telling, telling, words

_LEAST_WORDS = 3
_TOKENS = re.compile(r"</?(?:s|eos|bos|pad|start_of_turn|end_of_turn|\|[^<>\s]{1,30}\|)>.*", re.S)
_THOUGHT = re.compile(r"<think>.*?(?:</think>|$)", re.S | re.I)
_LINE_START = re.compile(r"^(?:[>\s]+|[-*•]\s+|\d{1,3}[.)](?:\s+|$))+")
_LISTED = re.compile(r"^[>\s]*(?:[-*•]|\d{1,3}[.)])\s+\S")
_LABEL = re.compile(
    r"^(?:(?:sure|okay|ok|certainly|of course)[,.!]?\s*)?"
    r"(?:here(?: is|'s|’s)[^.:\n]{0,80}:|\W*(?:final |brief |short )?summary\W*?:)[\s*_]*",
    re.I,
)
_META = re.compile(
    r"\b(?:here(?: is|'s|’s) (?:a|the|my|your)\b[^.]{0,30}\bsummary"
    r"|(?:this|the|following|above) (?:is (?:a|the) )?summary|summary of (?:the|these|my) memor"
    r"|(?:this|the) (?:text|passage|transcript|excerpt|prompt)\b|meta-?commentary"
    r"|first-person perspective|as an ai\b|language model|the user\b|i(?:'m| am) (?:sorry|unable)"
    r"|these memories (?:show|describe|are)|let me know if)",
    re.I,
)
_CLAUSE_END = re.compile(r"[.!?…\"“”\n]+")


def without_tokens(answer: str) -> str:
    """What a model wrote without its thoughts, and up to its first control token."""
    return _TOKENS.sub("", _THOUGHT.sub("", answer))


def clean(summary: str) -> str:
    """The summary as one paragraph, or as lines, without what a model puts around it.

    Tokens, thoughts, headings, quote marks, a leading "Here is a summary:", and a last sentence
    that was cut off, unless it is the only one. Where the model wrote a list, each entry stays a
    line with the sign ``- ``, once.
    """
    text = without_tokens(summary).replace("```", "")
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("#")]
    if any(_LISTED.match(line) for line in lines):
        return _clean_list(lines)
    bare = [" ".join(_LINE_START.sub("", line).split()) for line in lines]
    text = _LABEL.sub("", " ".join(line for line in bare if line)).strip()
    if len(text) > 1 and text[0] in '"“' and text[-1] in '"”' and not set(text[1:-1]) & set('"“”'):
        text = text[1:-1].strip()
    parts = sentences(text)
    if len(parts) > 1 and not is_closed(parts[-1]):
        parts.pop()
    text = " ".join(parts)
    return f'{text}"' if text.count('"') % 2 and not text.endswith('"') else text


def _clean_list(lines: Sequence[str]) -> str:
    """The entries of a list, each once; what stands around them is left away."""
    entries = [" ".join(_LINE_START.sub("", line).split()) for line in lines if _LISTED.match(line)]
    if len(entries) > 1 and not is_closed(entries[-1]):
        entries.pop()
    return "\n".join(f"- {entry}" for entry in dict.fromkeys(filter(None, entries)))


def check(summary: str, source_texts: Sequence[str]) -> str | None:
    """Why ``summary``, after :func:`clean`, is not one of ``source_texts``; None if it may be.

    Returns:
        A reason that follows "it": ``is empty``, ``repeats itself`` …
    """
    said, source = words(summary), " ".join(source_texts)
    if not said:
        return "is empty"
    if sum(any(c.isalpha() for c in word) for word in said) < _LEAST_WORDS:
        return "has no sentence, only list numbers or single words"
    if _talks_about_itself(summary, source):
        return "talks about being a summary instead of being one"
    if repetition := _repetition(summary, said):
        return repetition
    if len(summary) > len(source):
        return f"is longer than its source ({len(summary)} against {len(source)} characters)"
    common = shares_telling(source, telling(summary))
    return None if common else "has no word in common with its source"


def _talks_about_itself(summary: str, source: str) -> bool:
    """Whether a clause of it speaks as a model does; one that somebody said so is a quotation."""
    if not _META.search(summary):
        return False
    said = _bare(source)
    clauses = [clause for clause in _CLAUSE_END.split(summary) if _META.search(clause)]
    return not clauses or any(_bare(clause) not in said for clause in clauses)


def _bare(text: str) -> str:
    """Its words alone, with a blank on either side of each."""
    return f" {' '.join(words(text)).casefold()} "


def _repetition(summary: str, said: Sequence[str]) -> str | None:
    plain = [" ".join(words(sentence)).casefold() for sentence in sentences(summary)]
    often, count = Counter(plain).most_common(1)[0]
    if often and (count > 2 or (count == 2 and len(plain) < 4)):
        return f"repeats a sentence {count} times"
    low = [word.casefold() for word in said]
    if max((len(list(run)) for _, run in groupby(low)), default=1) > 3:
        return "repeats a word over and over"
    fours = list(zip(low, low[1:], low[2:], low[3:], strict=False))
    if len(fours) > 12 and len(set(fours)) < 0.75 * len(fours):
        return "repeats itself"
    if len(low) > 40 and len(set(low)) < 0.25 * len(low):
        return "repeats itself"
    return None
