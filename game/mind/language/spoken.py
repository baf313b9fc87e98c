"""Whether somebody speaks of such a thing at all: holds what a model reads to the words."""

from __future__ import annotations

import re

_SELF = re.compile(r"(?:I|I['’]\w+|my|we|our)\b", re.I)
_DENIED = re.compile(r"\b(?:not|never|no|nobody|neither|nor|hardly)\b|n['’]t\b", re.I)
_OF_THEIRS = re.compile(
    r"(?:my|our) (?:[\w-]+ )?(?P<who>brother|sister|mother|father|wife|husband|son|daughter|aunt"
    r"|uncle|cousin|grand\w+|friend|neighbour|master|child(?:ren)?|dog|cat|horse)\b",
    re.I,
)
_WITHOUT_DOING = re.compile(
    r"(?:I|we)(?: \w+ly| just| once| also)* (?:saw|see|met|meet|know|knew|like|love|hate|fear|want"
    r"|wish|need|hear|heard|think|believe|trust|miss|remember|dream|dreamt|promise|hope)\b",
    re.I,
)
"""What nobody does for a living."""
_WORDS = {
    attribute: re.compile(rf"\b(?:{words})", re.I)
    for attribute, words in {
        "home": r"live|lodg|dwell|stay|settle|moved|home|house|room",
        "spouse": r"wife|husband|married|wed",
        "betrothed": r"engaged|betrothed|promised to",
        "name": r"name|call",
        "age": r"years|winters|summers|old|turn|age|\d",
        "birthday": r"birthday|born",
        "origin": r"from|born|grew|raised|come",
        "plan": r"going|plan|intend|leav|will|want|soon|tomorrow|next",
        "likes": r"lik|lov|enjoy|ador|fond|prefer|favou?rite|delight|happiest",
        "dislikes": r"hat|dislik|detest|loath|despis|sick of|tired of",
        "fears": r"fear|afraid|scare|fright|terrif|dread",
        "allergy": r"allerg|ill|sick|swell|rash|itch",
        "skill": r"can|play|speak|learn|know how|good at|master|taught",
        "owns": r"own|have|['’]ve|got|bought|inherit|my|keep",
        "children": r"child|son|daughter|kid",
    }.items()
}
"""How people speak of each; of kin and beasts only by that word itself."""


def says(attribute: str, statement: str) -> bool:
    """Whether ``statement`` may tell that of its speaker: "I hate eels" names no liking."""
    if not _SELF.match(statement) or _DENIED.search(statement):
        return False
    if theirs := _OF_THEIRS.match(statement):
        who = theirs["who"].casefold()
        return who == attribute or (attribute == "spouse" and who in ("wife", "husband"))
    if attribute == "work":
        return not _WITHOUT_DOING.match(statement)
    found = _WORDS.get(attribute)
    if found is None:
        found = re.compile(rf"\b{re.escape(attribute)}\b", re.I)
    return found.search(statement) is not None
