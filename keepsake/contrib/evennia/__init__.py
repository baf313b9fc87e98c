"""Agents for any Evennia game: an app for ``INSTALLED_APPS``.

``keepsake.contrib.evennia.AgentNPC`` and the other classes are imported at their first use, because
Evennia's classes cannot be imported before Django is ready.
"""

from importlib import import_module

_HERE = "keepsake.contrib.evennia"
_HAPPENING = "keepsake.happening"
_WHERE = {
    "AgentMixin": f"{_HERE}.agents",
    "AgentNPC": f"{_HERE}.npcs",
    "CharacterMixin": f"{_HERE}.characters",
    "CmdSetAgents": f"{_HERE}.cmdset",
    "SimpleNPC": f"{_HERE}.npcs",
    "NPCCmdSet": f"{_HERE}.cmdset",
    "happens": f"{_HERE}.hearing",
    "hear": f"{_HERE}.hearing",
    "person_of": f"{_HERE}.hearing",
    "persons_of": f"{_HERE}.hearing",
    "Deed": _HAPPENING,
    "Manner": _HAPPENING,
    "Pose": _HAPPENING,
    "Sight": _HAPPENING,
    "Speech": _HAPPENING,
}
"""The module of each name."""


def __getattr__(name: str) -> object:
    if name not in _WHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_WHERE[name]), name)
