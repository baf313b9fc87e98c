"""Keeps secrets out of the event log.

What models and players say is logged as it was said, but for three things: secrets that this
process knows (the keys of model servers), user names and passwords in addresses, and words
that look like somebody logging in where everybody can hear it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from functools import lru_cache

HIDDEN = "[secret]"
SHORTEST = 6
"""Characters of a secret that is looked for; a shorter one would be found in ordinary words."""
_NAMES = ("API_KEY", "APIKEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD")
_WORDS = re.compile(r"\w[\w'’-]*")
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
    rf"(?i)(?<!\w)(?P<head>@?(?P<other>user)?password{_BLANK})(?P<old>[^=\"”\n]{{1,80}}?)"
    r"(?P<sign>[^\S\n]{0,8}=[^\S\n]{0,8})(?P<word>[^\s\"”|]+)"
)
_NOUN = r"(?:password|passwd|passphrase|passcode|pwd|pw)"
_SAID = re.compile(
    rf"(?i)(?<!\w)(?P<head>{_NOUN}(?:\s{{1,8}}(?:is|was|be)|\s{{0,8}}[:=])?\s{{0,8}}[\"“'‘]?)"
    r"(?P<word>(?=[^\s\"“”]*\d)[^\s\"“”|]{6,})"
)
"""``the password is hunter22``; without a digit it may be any word: "the password is known"."""
_OWN = re.compile(
    r"(?i)(?P<head>(?:(?<!\w)(?:my|our|your|his|her|their)|['’]s)\s{1,8}(?:\w{1,20}\s{1,8})?"
    rf"{_NOUN}(?:\s{{1,8}}(?:is|was)|\s{{0,8}}[:=])\s{{0,8}}[\"“'‘]?)"
    r"(?P<word>[^\s\"“”|]{8,})"
)
"""``my password is correcthorse``: what somebody calls theirs, and is as long as one has to be."""
_MAY_LOG_IN = re.compile(
    r"[cC](?:[oO](?:[nN]{1,2}(?:[eE][cC][tT])?)?|[rR](?:[eE](?:[aA][tT][eE])?)?)[^\S\n]"
)
"""In whatever ``_LOGIN`` finds: a small part of its work, which spares most lines all of it."""
_MAY_BE_ABOUT_ONE = ("pass", "pw")
"""One of them is in whatever ``_PASSWORD``, ``_SAID`` and ``_OWN`` find, once that is folded."""
_PASSWORD_SIGNS = 6
_MARKS = "\"“”'‘’.,;!?()"
_MOST_KNOWN = 500
_REMEMBERED = 8192
"""Lines whose cleaned form is kept: much of what is logged was logged before."""
_SHORT = 80
"""Characters of a text of one line whose cleaned form is worth keeping."""


class Scrubber:
    """Takes secrets out of texts; for one thread."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        # Texts are cleaned line by line, so a secret of several lines is looked for by its lines.
        lines = (line.strip() for each in secrets for line in each.splitlines())
        known = {each for each in lines if len(each) >= SHORTEST}
        escaped = {json.dumps(each)[1:-1] for each in known}
        # The longest first, lest a part of one be all that is taken out.
        self._known: list[str] = sorted(known | escaped, key=len, reverse=True)
        self._heard: list[str] = []
        """Passwords that were said aloud, in lower case: an index tells of words like that."""
        self._suspects: dict[str, None] = {}
        """Words that may have been passwords, or just words."""
        self._line = lru_cache(_REMEMBERED)(self._cleaned)

    def clean(self, text: str) -> str:
        """``text`` without secrets; quick where most of its lines were seen before."""
        if "\n" not in text:
            return self._line(text) if len(text) <= _SHORT else self._cleaned(text)
        heard, lines = len(self._heard), text.split("\n")
        cleaned = "\n".join(map(self._line, lines))
        # What a line further down tells is a password may stand in one above it.
        return cleaned if heard == len(self._heard) else "\n".join(map(self._line, lines))

    def clean_words(self, text: str) -> str:
        """The same of a list of words that somebody used: also what may be an ordinary word."""
        cleaned = self.clean(text)
        if not self._suspects or self._suspects.keys().isdisjoint(
            _WORDS.findall(cleaned.casefold())
        ):
            return cleaned
        return _WORDS.sub(
            lambda found: HIDDEN if found[0].casefold() in self._suspects else found[0], cleaned
        )

    def _cleaned(self, line: str) -> str:
        line, heard = self._without_known(line), len(self._heard)
        if "://" in line:
            line = _ADDRESS.sub(f"{HIDDEN}@", line)
        if _MAY_LOG_IN.search(line):
            line = _LOGIN.sub(self._hidden, line)
        folded = line.casefold()
        if any(each in folded for each in _MAY_BE_ABOUT_ONE):
            line = _PASSWORD.sub(self._hidden_both, line)
            line = _OWN.sub(self._hidden, _SAID.sub(self._hidden, line))
        return line if heard == len(self._heard) else self._without_known(line)

    def _without_known(self, line: str) -> str:
        for secret in self._known:
            if secret in line:
                line = line.replace(secret, HIDDEN)
        if self._heard:
            folded = line.casefold()
            for secret in self._heard:
                if secret in folded:
                    line = re.sub(re.escape(secret), HIDDEN, line, flags=re.IGNORECASE)
        return line

    def _hidden(self, found: re.Match[str]) -> str:
        """What stands there instead."""
        self._heed(found["word"])
        return f"{found['head']}{HIDDEN}"

    def _hidden_both(self, found: re.Match[str]) -> str:
        """The same of an old and a new password; in front of another's stands only a name."""
        self._heed(found["word"])
        if found["other"]:
            return f"{found['head']}{found['old']}{found['sign']}{HIDDEN}"
        self._heed(found["old"])
        return f"{found['head']}{HIDDEN}{found['sign']}{HIDDEN}"

    def _heed(self, said: str) -> None:
        """What can only be a password is not forgotten, whoever speaks of it in whatever words."""
        word = said.strip(_MARKS + " ").casefold()
        if len(word) < _PASSWORD_SIGNS or word in self._heard or HIDDEN in word:
            return
        if not any(map(str.isdigit, word)):  # else it is no word that somebody would miss
            self._suspects[word] = None
            if len(self._suspects) > _MOST_KNOWN:
                del self._suspects[next(iter(self._suspects))]
        elif len(self._heard) < _MOST_KNOWN:
            self._heard.append(word)
            self._line.cache_clear()


def secrets_in(environ: Mapping[str, str]) -> list[str]:
    """The values in the environment whose names say that they are secret."""
    return [value for name, value in environ.items() if name.upper().endswith(_NAMES)]
