"""Who is here."""

from __future__ import annotations

import time

import evennia
from evennia.utils.utils import time_format

from commands.base import PlayerCommand
from typeclasses.agents import Agent


class CmdWho(PlayerCommand):
    """See who is playing, who lives here, and where to find them.

    Usage:
      who
    """

    key = "who"
    aliases = ("doing",)
    arg_regex = r"$"

    def act(self) -> None:
        """List players with their idle time, and agents with their place."""
        lines = ["|wPlaying now|n", *_players(), "", "|wLiving here|n", *_agents()]
        self.msg(text=("\n".join(lines), {"type": "who"}))


def _players() -> list[str]:
    """One line a player, the one who typed last first."""
    active: dict[str, float] = {}
    for session in evennia.SESSION_HANDLER.get_sessions():
        if session.logged_in and (who := session.get_puppet() or session.get_account()):
            name = who.get_display_name(None)
            active[name] = max(active.get(name, 0), session.cmd_last_visible)
    newest = sorted(active.items(), key=lambda item: -item[1])
    return [_row(name, _idle(time.time() - since)) for name, since in newest] or ["  nobody"]


def _idle(seconds: float) -> str:
    return f"idle {time_format(seconds, 1)}" if seconds >= 60 else ""


def _agents() -> list[str]:
    agents = sorted(Agent.objects.all_family(), key=lambda agent: agent.key)
    return [_row(agent.key, _whereabouts(agent)) for agent in agents] or ["  nobody"]


def _whereabouts(agent: Agent) -> str:
    place = agent.location.key if agent.location else "away"
    return f"{place}, asleep" if agent.is_asleep else place


def _row(name: str, note: str) -> str:
    return f"  |c{name:<24}|n {note}" if note else f"  |c{name}|n"
