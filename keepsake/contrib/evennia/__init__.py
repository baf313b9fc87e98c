"""Agents for any Evennia game: an app for ``INSTALLED_APPS``.

``keepsake.contrib.evennia.AgentNPC`` and the other classes are imported at their first use, because
Evennia's classes cannot be imported before Django is ready.
"""

from importlib import import_module

from keepsake.happening import Deed, Manner, Pose, Sight, Speech

__all__ = ["Deed", "Manner", "Pose", "Sight", "Speech"]
_WHERE = {
    "AgentMixin": "agents",
    "AgentNPC": "agents",
    "CharacterMixin": "characters",
    "CmdSetAgents": "cmdset",
    "NPCCmdSet": "cmdset",
    "happens": "hearing",
    "hear": "hearing",
    "person_of": "hearing",
    "persons_of": "hearing",
}


def __getattr__(name: str) -> object:
    if name not in _WHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_WHERE[name]}"), name)
