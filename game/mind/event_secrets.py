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
_NAMES = re.compile(r"(?:API_?KEY|TOKEN|SECRET|PASSWORD|PASSWD)$", re.IGNORECASE)
_ADDRESS = re.compile(r"(?<=://)[^\s/@\"']+@")
# Two words and no more, up to the end of the line or of the speech: `connect Tom c67jHL8p`.
# "connect the pipes" has no password's length, "create a new world for us" too many words.
_NAME = r"(?:\"[^\"\n]{1,80}\"|“[^”\n]{1,80}”|[^\s\"“”]{1,80})"
_WORD = r"(?:\"[^\"\n]{8,}\"|“[^”\n]{8,}”|[^\s\"“”]{8,})"
_END = r"(?=[\"”'’]|\s*(?:$|\|))"
_LOGIN = re.compile(
    rf"(?i)(?<![\w-])(?P<head>(?:connect|conn?|co|create|cre?)[ \t]+{_NAME}[ \t]+)"
    rf"(?P<word>{_WORD}){_END}"
)
_PASSWORD = re.compile(
    r"(?i)(?<!\w)(?P<head>@?(?:user)?password[ \t]+)[^=\"”\n]{1,80}=[ \t]*(?P<word>[^\s\"”|]+)"
)
_PASSWORD_SIGNS = 8
_NO_WORD = re.compile(r"\d")
"""A password with a digit in it is no word that somebody would miss."""
_MOST_KNOWN = 500
_REMEMBERED = 8192
"""Lines whose cleaned form is kept: a prompt is the one before it, and a few lines more."""


class Scrubber:
    """Takes secrets out of texts.

    Args:
        secrets: Values that never may stand anywhere.
    """

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        known = {each.strip() for each in secrets if len(each.strip()) >= SHORTEST}
        escaped = {json.dumps(each)[1:-1] for each in known}
        # The longest first, lest a part of one be all that is taken out.
        self._known: list[str] = sorted(known | escaped, key=len, reverse=True)

        self._line = lru_cache(_REMEMBERED)(self._cleaned)

    def clean(self, text: str) -> str:
        """``text`` without secrets; quick where most of its lines were seen before."""
        if "\n" not in text:
            return self._cleaned(text)
        return "\n".join([self._line(line) for line in text.split("\n")])

    def _cleaned(self, line: str) -> str:
        for secret in self._known:
            if secret in line:
                line = line.replace(secret, HIDDEN)
        if "://" in line:
            line = _ADDRESS.sub(f"{HIDDEN}@", line)
        line = _LOGIN.sub(self._hidden, line)
        return _PASSWORD.sub(self._hidden, line)

    def _hidden(self, found: re.Match[str]) -> str:
        """What stands there instead; a word that can only be a password is not forgotten."""
        word = found["word"].strip("\"“”'.")
        known = word in self._known or len(self._known) >= _MOST_KNOWN
        if len(word) >= _PASSWORD_SIGNS and _NO_WORD.search(word) and not known:
            self._known.append(word)  # whoever speaks of it, in whatever words
            self._line.cache_clear()
        return f"{found['head']}{HIDDEN}"


def secrets_in(environ: Mapping[str, str]) -> list[str]:
    """The values in the environment whose names say that they are secret."""
    return [value for name, value in environ.items() if _NAMES.search(name)]
