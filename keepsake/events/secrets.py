"""Keeps secrets out of the event log.

The log holds the words of models and players unchanged, except for three things: secrets that this
process knows (the keys of model servers), user names and passwords in URLs, and speech that looks
like a log-in command or tells a password.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping

HIDDEN = "[secret]"
"""Stands in place of a secret."""
SHORTEST = 6
"""The fewest characters of a secret. A shorter one would be found in ordinary words."""
_NAMES = ("API_KEY", "APIKEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD")
"""What the names of environment variables with secrets contain."""
_ADDRESS = re.compile(r"(?<=://)[^\s/@\"']+@")
"""The name and password of a web address."""
# Every blank is bounded: unbounded repetitions side by side take hours on a hostile line.
_BLANK = r"[^\S\n]{1,8}"
# Exactly two words up to the end of the line or of the speech: `connect Tom c67jHL8p`. In "connect
# the pipes" the second word is too short for a password, and "create a new world for us" has too
# many words. A word with letters and digits counts as a password, with any words after it.
_NAME = r"(?:\"[^\"\n]{1,80}\"|“[^”\n]{1,80}”|[^\s\"“”]{1,80})"
_WORD = r"(?:\"[^\"\n]{8,}\"|“[^”\n]{8,}”|[^\s\"“”]{8,})"
_MIXED = r"(?=[^\s\"“”]*\d)(?=[^\s\"“”]*[^\W\d_])[^\s\"“”]{8,}"
_END = r"(?=[\"”'’]|\s*(?:$|\|))"
_LOGIN = re.compile(
    rf"(?i)(?<![\w-])(?P<head>(?:connect|conn?|co|create|cre?){_BLANK}{_NAME}{_BLANK})"
    rf"(?P<word>{_WORD}{_END}|{_MIXED})"
)
_PASSWORD = re.compile(
    rf"(?i)(?<!\w)(?P<head>@?(?:user)?password{_BLANK})(?P<word>[^=\"”\n]{{1,80}}?"
    r"[^\S\n]{0,8}=[^\S\n]{0,8}[^\s\"”|]+)"
)
"""``password old = new``, ``@userpassword Tom = new``: all of it is hidden."""
_SAID = re.compile(
    r"(?i)(?<!\w)(?P<head>(?:password|passwd|passphrase|passcode|pwd|pw)(?:\s{1,8}(?:is|was|be)"
    r"|\s{0,8}[:=])?\s{0,8}[\"“'‘]?)(?P<word>(?=[^\s\"“”]*\d)[^\s\"“”|]{6,})"
)
"""``the password is hunter22``. The word needs a digit, so "the password is known" stays."""
_BEGINS_LOGIN = re.compile(r"c(?:o|onn?|onnect|re?|reate)\s")
_NAMES_PASSWORD = re.compile(r"p(?:ass(?:word|wd|phrase|code)|w)")
"""Quick checks on lower-case text: the patterns above can only match if one of these does."""
_MARKS = "\"“”'‘’.,;!?() "
"""Characters around a word that are no part of a password."""
_MOST_KNOWN = 500
"""The most passwords that are kept, to be hidden when they are said again."""


class Scrubber:
    """Removes secrets from texts; for one thread."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        # Texts are cleaned line by line, so each line of a longer secret counts as a secret.
        lines = (line.strip() for each in secrets for line in each.splitlines())
        known = {each for each in lines if len(each) >= SHORTEST}
        known |= {json.dumps(each)[1:-1] for each in known}
        # Longest first, so that a secret inside another one is not replaced alone; in lower case.
        self._known = sorted(map(str.casefold, known), key=len, reverse=True)

    def clean(self, text: str) -> str:
        """Return ``text`` without secrets, and without passwords found in earlier texts."""
        if not self._suspects(text):
            return text
        known = len(self._known)
        lines = (self._cleaned(each) if self._suspects(each) else each for each in text.split("\n"))
        cleaned = "\n".join(lines)
        # A password that a later line reveals may be in a line above it.
        return cleaned if known == len(self._known) else self._without_known(cleaned)

    def _suspects(self, text: str) -> bool:
        """Whether the text may hold a secret; quick, because most prompts hold none."""
        folded = text.casefold()
        secret = "://" in folded or any(each in folded for each in self._known)
        return secret or bool(_BEGINS_LOGIN.search(folded) or _NAMES_PASSWORD.search(folded))

    def _cleaned(self, line: str) -> str:
        line = _ADDRESS.sub(f"{HIDDEN}@", self._without_known(line))
        for pattern in (_LOGIN, _PASSWORD, _SAID):
            line = pattern.sub(self._hidden, line)
        return line

    def _without_known(self, text: str) -> str:
        folded = text.casefold()
        for secret in self._known:
            if secret in folded:
                text = re.sub(re.escape(secret), HIDDEN, text, flags=re.IGNORECASE)
        return text

    def _hidden(self, found: re.Match[str]) -> str:
        """Return the replacement, and remember the hidden words that have a digit as secrets."""
        for said in found["word"].split("="):
            word = said.strip(_MARKS).casefold()
            new = len(word) >= SHORTEST and word not in self._known and HIDDEN not in word
            if new and any(map(str.isdigit, word)) and len(self._known) < _MOST_KNOWN:
                self._known.append(word)
        return f"{found['head']}{HIDDEN}"


def secrets_in(environ: Mapping[str, str]) -> list[str]:
    """Return the values of environment variables whose names say that they are secret."""
    return [value for name, value in environ.items() if name.upper().endswith(_NAMES)]
