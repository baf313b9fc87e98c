"""What somebody states of themselves: clauses that begin with "I", "my" or "we".

A clause that is part of a question, a condition, a wish, a tale or what somebody else is said
to have said is no statement. Only the beginning of a clause counts, since nobody can put
words into the mouth of the one whose clause begins with "I" without a word before it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from keepsake.language.patterns import opening
from keepsake.language.words import first_sentences

_LONGEST = 300
# Only marks that stand outside words: the apostrophe in "I'm" quotes nothing.
_QUOTED = re.compile(
    r'"[^"]*"?|[“„«][^”“»]*[”“»]?|(?<!\w)[\'‘](?![a-z]{1,2}\s)[^\'’]*(?:\w[\'’]\w[^\'’]*)*[\'’](?!\w)'
)
_TAG = re.compile(
    r",\s*(?:(?:can|could|would|do|don['’]t|did) you|you (?:know|see)|is(?:n['’]t)? (?:it|that)"
    r"|right|eh|see)\b[^,?]{0,30}\?$",
    re.I,
)
_PARTS = re.compile(
    r"\s*[;–—]\s*|:\s+(?=(?:I|my|we)\b)|\s+-\s+"
    r"|,?\s+(?:and|but|so|because|for|as)\s+(?=(?:I|my|we|now I)\b)"
    r"|,\s+(?=(?:I|my|we)\b)",
    re.I,
)
# Wherever one of these stands, nothing of the sentence is as it says.
_UNREAL = re.compile(
    r"^\W*(?:(?:and|but|well|oh|so|yes|no)\W+)*(?:if|unless|when(?:ever)?|once|suppose|imagine"
    r"|pretend|assume|had I|were I|in (?:my|a) (?:dreams?|story|play)|as if|maybe|perhaps"
    r"|wh(?:at|o|ere|y|ich)|how|let['’]?s)\b"
    r"|\b(?:if|unless|as if|as though|joking|jok(?:e|es)|kidding|jest(?:ing)?|not really)\b"
    r"|\bI wish\b|\b(?:will|shall|would|could|might|may) (?:be|have been) (?!right back|back)",
    re.I,
)
_REPORTED = re.compile(
    r"\b(?!I\b)\w+ (?:(?:once|just|always|only) )?(?:says?|said|tells?|told|thinks?|thought"
    r"|believes?|claims?|claimed|asked|asks|goes|writes?|wrote|sings?|sang|swears?|swore|insists?"
    r"|calls? me an?|takes? me for|repeat|write|say)\b"
    r"|\b(?:repeat after me|according to|rumou?r|quote)\b|^(?!(?:\w+, )?I\b)[^,]{1,40}:\s",
    re.I,
)


def unquoted(words: str, by: str = " ") -> str:
    """``words`` with ``by`` in place of what they quote."""
    return _QUOTED.sub(by, words)


def statements(words: str, own_name: str = "") -> Iterator[str]:
    """The clauses of ``words`` in which the speaker, calling ``own_name``, states something."""
    before = opening(own_name)
    for sentence in stated(words):
        if is_real(sentence):
            clauses = (before.sub("", part).strip() for part in _PARTS.split(sentence))
            yield from filter(None, clauses)


def is_real(sentence: str) -> bool:
    """Whether a sentence is neither a condition, a wish, a game nor what others have said."""
    return not (_UNREAL.search(sentence) or _REPORTED.search(sentence))


def stated(words: str) -> Iterator[str]:
    """The first sentences that state something, without what they quote."""
    for sentence in first_sentences(unquoted(words)):
        found = _TAG.sub("", sentence)[:_LONGEST]
        if not found.rstrip("\"'”’ )").endswith("?"):
            yield found
