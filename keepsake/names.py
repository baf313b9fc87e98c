"""The rules for agents' names, and for the names of their folders.

Players type a name, and people compare names by eye. Names are written into prompts, markup and
file paths. So a name must be safe in all of these and must not look like another name.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Container, Iterable

from keepsake.errors import NameRefused
from keepsake.language.perception import COMMON_WORDS

SHORTEST = 2
"""The fewest characters of a name; single letters are commands, such as ``n`` and ``l``."""
LONGEST = 24
"""The most characters of a name, which is in every line of a talk."""
_SHOWN = 32
"""How many characters of a refused name are shown."""

_RESERVED_WORDS = """
    me self myself here there all any you yourself everyone everybody someone somebody anyone
    anybody nobody noone none nothing something it he she they them him her this that
    admin administrator root system server god superuser builder player guest agent evennia
    keepsake memory assistant user narrator stranger say says look go get give take wait whisper
    emote north south east west up down in out
"""
RESERVED = frozenset(_RESERVED_WORDS.split()) | COMMON_WORDS - {"may", "will"}
"""Words that commands, prompts or sentences read as something other than a name."""

_CURE = (
    f"Choose {SHORTEST} to {LONGEST} Latin letters; between them single spaces, hyphens or "
    "apostrophes, as in Mira, Old Tom, Anne-Lise or O'Hara"
)
_JOINTS = str.maketrans("'-", "  ")
_APOSTROPHES = str.maketrans({"’": "'", "‘": "'", "ʼ": "'", "‐": "-", "‑": "-"})

# Letters that look alike after case folding and without accents, following Unicode TR 39. Only
# letters of other scripts that pass for Latin ones, digits, and ligatures.
_PAIRS = """
    аa еe оo рp сc хx уy іl јj ѕs кk мm нh тt вb гr ԁd һh ԛq ԝw ӏl зe
    αa βb γy εe ηn ιl κk μm νv οo ρp τt υu χx ωw ζz
    0o 1l 2z 3e 5s 6b 8b 9g |l !l
    il ıl øo łl đd ħh ŧt æae œoe þp ðd ŋn ĸk
"""
_LOOKALIKES = str.maketrans({pair[0]: pair[1:] for pair in _PAIRS.split()})

_ASCII = str.maketrans(
    {
        **{"ø": "o", "Ø": "O", "ł": "l", "Ł": "L", "đ": "d", "Đ": "D", "ð": "d", "Ð": "D"},
        **{"ħ": "h", "Ħ": "H", "æ": "ae", "Æ": "AE", "œ": "oe", "Œ": "OE", "þ": "p", "Þ": "P"},
        **{"ß": "ss", "ẞ": "SS", "ŧ": "t", "Ŧ": "T", "ŋ": "n", "Ŋ": "N", "ı": "i", "ĸ": "k"},
        **{"ĳ": "ij", "Ĳ": "IJ"},
    }
)
_LONGEST_FOLDER = 80
"""The most letters of a folder's name; file systems allow 255 bytes, and suffixes are added."""
_ARTICLE = re.compile(r"^(?:the|an?|my|your|our) ")
"""What makes no other name of a word: "The Quay" is the quay."""


def check_agent_name(name: str, taken: Iterable[str] = ()) -> str:
    """Return the name as it will be stored: NFC, single spaces, plain apostrophes.

    ``taken``: The names of everybody else in the world.

    Raises:
        NameRefused: It is empty, too long, contains a character that is not a Latin letter, is a
            reserved word, or looks like a name in ``taken``.
    """
    if len(name) > 10 * LONGEST:  # first, because it may be megabytes
        raise NameRefused(f"The name {shown(name)} has {len(name)} characters", _CURE)
    cleaned = " ".join(unicodedata.normalize("NFC", name.translate(_APOSTROPHES)).split(" "))
    cleaned = re.sub(" +", " ", cleaned).strip(" ")
    if problem := _problem(cleaned):
        raise NameRefused(f"The name {shown(name)} {problem}", _CURE)
    looks = skeleton(cleaned)
    for other in taken:
        if skeleton(other) == looks:
            raise NameRefused(
                f"The name {shown(cleaned)} is taken, or looks like {shown(other)}",
                "Choose one that nobody can mistake for it",
            )
    return cleaned


def name_within(name: str, taken: Iterable[str]) -> str:
    """Return the name of somebody else that this name holds as words; empty if there is none.

    Lines that others read begin with a name, so "Old Mira" would be taken for Mira, and what
    "Mira's" does for something of hers.
    """
    words = [skeleton(word.removesuffix("'s")) for word in name.split()]
    for other in taken:
        theirs = [skeleton(word) for word in other.split()]
        starts = range(len(words) - len(theirs) + 1) if theirs else ()
        if any(words[start : start + len(theirs)] == theirs for start in starts):
            return other
    return ""


def check_player_name(
    name: str, taken: Iterable[str] = (), words: Container[str] = frozenset()
) -> str:
    """Return a player's name as it will be stored; see :func:`check_agent_name`.

    A player has no name that is a word of the world, as Soup or Will: nobody could tell a line
    about the player from a line about soup.

    Args:
        taken: The names of everybody else in the world.
        words: The words of the world's own texts, in lower case.

    Raises:
        NameRefused: An agent may not have it either, or it is one of those words.
    """
    cleaned = check_agent_name(name, taken)
    word = _ARTICLE.sub("", cleaned.casefold())
    is_name = word == "may"  # the one function word that many people are called
    if not is_name and (word in COMMON_WORDS or word in words):
        raise NameRefused(
            f"The name {shown(cleaned)} is a word that people here use",
            "Choose a name that means nothing else, or add one: Will Harrow, Old Tom",
        )
    return cleaned


def skeleton(name: str) -> str:
    """Return the visual form of a name: names with the same skeleton look alike."""
    plain = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", name).casefold())
    letters = "".join(c for c in plain if not unicodedata.combining(c)).translate(_LOOKALIKES)
    return "".join(filter(str.isalnum, letters)).replace("rn", "m").replace("vv", "w")


def folder_name(name: str) -> str:
    """Return a folder name for any text that is valid on every file system.

    It is plain ASCII, never empty, and has at most 80 characters. Two names with different
    skeletons never share a folder.
    """
    plain = unicodedata.normalize("NFKD", name.translate(_ASCII))
    plain = "".join(c for c in plain if not unicodedata.combining(c))
    plain = re.sub(r"[ '’-]+", "-", plain).strip("-")
    if not re.fullmatch(r"[A-Za-z-]+", plain) or len(plain) > _LONGEST_FOLDER:
        digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:16]
        return f"{re.sub('[^A-Za-z]+', '', plain)[:40]}_{digest}"
    return plain


def shown(text: str) -> str:
    """Return ``text`` quoted for a message: escaped, and shortened if it is long."""
    if len(text) > _SHOWN:
        text = f"{text[:_SHOWN]}…"
    # A bar would start a colour code in the game's output.
    return repr(text.encode("utf-8", "backslashreplace").decode()).replace("|", "¦")


def _problem(name: str) -> str:
    """Return why ``name`` is refused, to follow "The name 'x'"; empty if it is not."""
    if not name:
        return "is empty"
    if strange := next((c for c in name if not (_is_latin(c) or c in " '-")), None):
        kind = unicodedata.name(strange, f"U+{ord(strange):04X}").lower()
        return f"holds {shown(strange)} ({kind})"
    if len(name) < SHORTEST:
        return "has only one letter"
    if len(name) > LONGEST:
        return f"has {len(name)} characters"
    if not all(map(str.isalpha, name.translate(_JOINTS).split(" "))):
        return "has a space, hyphen or apostrophe at its edge or two in a row"
    parts = {part.casefold() for part in re.split("[ -]", name)}
    if name.casefold() in RESERVED or parts & (_CORE | _SPEECH):
        return "holds a word that sentences or commands read as something else"
    return ""


_CORE = frozenset(["admin", "administrator", "superuser", "evennia", "keepsake", "root"])
_SPEECH_VERBS = "say ask tell talk shout whisper pose think feel add answer mutter yell"
_SPEECH_FORMS = "said told thought felt replies replied cries cried"
_SPEECH = frozenset(
    f"{verb}{end}" for verb in _SPEECH_VERBS.split() for end in ("s", "ing", "ed")
) | frozenset(_SPEECH_FORMS.split())
"""Words that follow a name in what people read: a player "Mira says" would seem to be Mira."""


def _is_latin(char: str) -> bool:
    """Return whether it is a letter of a living Latin alphabet, not a phonetic look-alike."""
    code = ord(char)
    in_block = code < 0x17F or 0x218 <= code <= 0x21B or 0x1E00 <= code <= 0x1EFF
    return in_block and unicodedata.category(char) in ("Lu", "Ll") and char not in "ŉµ"
