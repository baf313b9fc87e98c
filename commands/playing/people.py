"""Who is here, and what it is like here and now."""

from __future__ import annotations

import time
from typing import Any

import evennia
from evennia.utils.utils import time_format

from commands.base import PlayerCommand
from keepsake.agent.runtime import runtime
from keepsake.contrib.evennia.wording import CannotDo
from typeclasses.agents import Agent
from typeclasses.clients import map_in_words, map_of, reads_aloud
from world.almanac import almanac_now


class CmdWho(PlayerCommand):
    """See who is playing, who lives here, and where to find them.

    Usage:
      who     where
    """

    key = "who"
    aliases = ("doing", "where")
    arg_regex = r"$"

    def act(self) -> None:
        """List players with their idle time, and agents with their place."""
        lines = ["|wPlaying now|n", *players(), "", "|wLiving here|n", *_agents()]
        self.msg(text=("\n".join(lines), {"type": "who"}))


class CmdTime(PlayerCommand):
    """See what time of the day and year it is, and the weather.

    Usage:
      time
      weather
    """

    key = "time"
    aliases = ("weather", "date", "tide")
    arg_regex = r"$"

    def act(self) -> None:
        """Say what the almanac says."""
        now = almanac_now(runtime().clock)
        self.msg(now.sky if self.cmdstring in ("weather", "tide") else f"{now.clock} {now.sky}")


def players() -> list[str]:
    """One line a player, the one who typed last first."""
    active: dict[Any, float] = {}
    for session in evennia.SESSION_HANDLER.get_sessions():
        if session.logged_in and (who := session.get_puppet() or session.get_account()):
            active[who] = max(active.get(who, 0), session.cmd_last_visible)
    newest = sorted(active.items(), key=lambda item: -item[1])
    rows = [_row(who.get_display_name(None), _note(who, since)) for who, since in newest]
    return rows or ["  nobody"]


def _note(who: Any, since: float) -> str:
    seconds = time.time() - since
    idle = f"idle {time_format(seconds, 1)}" if seconds >= 60 else ""
    away = f"away: {who.db.away}" if who.db.away else ""
    return ", ".join(filter(None, (idle, away)))


def _agents() -> list[str]:
    agents = sorted(Agent.objects.all_family(), key=lambda agent: agent.key)
    return [_row(agent.key, _whereabouts(agent)) for agent in agents] or ["  nobody"]


def _whereabouts(agent: Agent) -> str:
    place = agent.location.key if agent.location else "away"
    return f"{place}, asleep" if agent.is_asleep else place


def _row(name: str, note: str) -> str:
    return f"  |c{name:<24}|n {note}" if note else f"  |c{name}|n"


class CmdMap(PlayerCommand):
    """See the places round about, and the ways between them.

    Usage:
      map

    You are at the |wo|n. |w^|n is a place with a way up, |wv|n one with a way
    down. For a screen reader (|woption screenreader = on|n) it is in words.
    """

    key = "map"
    help_category = "The world"

    def act(self) -> None:
        """Draw it, or tell it."""
        if (here := self.caller.location) is None:
            raise CannotDo("You are nowhere, and there is no map of it.")
        aloud = reads_aloud(self.session)
        drawn = map_in_words(self.caller) if aloud else map_of(self.caller)
        self.msg(text=(f"You are at {here.key}.\n\n{drawn}", {"type": "map"}))
