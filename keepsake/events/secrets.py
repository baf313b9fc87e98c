"""Keeps secrets out of the event log.

What models and players say is logged as it was said, but for three things: secrets that this
process knows (the keys of model servers), user names and passwords in addresses, and words
that look like somebody logging in where everybody can hear it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping

HIDDEN = "[secret]"
SHORTEST = 6
"""Characters of a secret that is looked for; a shorter one would be found in ordinary words."""
_NAMES = ("API_KEY", "APIKEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD")
_ADDRESS = re.compile(r"(?<=://)[^\s/@\"']+@")
# Every blank is bounded: what may repeat without end beside its like takes hours on a hostile line.
_BLANK = r"[^\S\n]{1,8}"
# Two words and no more, up to the end of the line or of the speech: `connect Tom c67jHL8p`.
# "connect the pipes" has no password's length, "create a new world for us" too many words.
# What has letters and digits is taken for a password whatever follows.
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
"""``the password is hunter22``; without a digit it may be any word: "the password is known"."""
_BEGINS_LOGIN = re.compile(r"c(?:o|onn?|onnect|re?|reate)\s")
_NAMES_PASSWORD = re.compile(r"p(?:ass(?:word|wd|phrase|code)|w)")
"""In lower case, what a text has in which one of the patterns above finds anything."""
_MARKS = "\"“”'‘’.,;!?() "
_MOST_KNOWN = 500


class Scrubber:
    """Takes secrets out of texts; for one thread."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        # Texts are cleaned line by line, so a secret of several lines is looked for by its lines.
        lines = (line.strip() for each in secrets for line in each.splitlines())
        known = {each for each in lines if len(each) >= SHORTEST}
        known |= {json.dumps(each)[1:-1] for each in known}
        # The longest first, lest a part of one be all that is taken out; in lower case.
        self._known = sorted(map(str.casefold, known), key=len, reverse=True)

    def clean(self, text: str) -> str:
        """``text`` without secrets, and without passwords that were said in an earlier text."""
        if not self._suspects(text):
            return text
        known = len(self._known)
        lines = (self._cleaned(each) if self._suspects(each) else each for each in text.split("\n"))
        cleaned = "\n".join(lines)
        # What a line further down tells is a password may stand in one above it.
        return cleaned if known == len(self._known) else self._without_known(cleaned)

    def _suspects(self, text: str) -> bool:
        """Whether there may be a secret in it; quick, as in most prompts there is none."""
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
        """What stands there instead; from now on what it hides is known, if it has a digit."""
        for said in found["word"].split("="):
            word = said.strip(_MARKS).casefold()
            new = len(word) >= SHORTEST and word not in self._known and HIDDEN not in word
            if new and any(map(str.isdigit, word)) and len(self._known) < _MOST_KNOWN:
                self._known.append(word)
        return f"{found['head']}{HIDDEN}"


def secrets_in(environ: Mapping[str, str]) -> list[str]:
    """The values in the environment whose names say that they are secret."""
    return [value for name, value in environ.items() if name.upper().endswith(_NAMES)]
