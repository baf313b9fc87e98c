"""Who is here, and what it is like here and now."""

from __future__ import annotations

import time
from typing import Any

import evennia
from django.utils import timezone
from evennia.utils.utils import time_format

from commands.base import PlayerCommand, people_here
from commands.wording import CannotDo, counted, quoted
from keepsake.agent.almanac import almanac_now
from keepsake.agent.services import services
from typeclasses.agents import Agent
from typeclasses.clients import map_in_words, map_of, reads_aloud


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
        lines = ["|wPlaying now|n", *players(), "", "|wLiving here|n", *_agents()]
        self.msg(text=("\n".join(lines), {"type": "who"}))


class CmdWhere(PlayerCommand):
    """See where you are, and where those who live here are.

    Usage:
      where
      where <name>
    """

    key = "where"
    aliases = ("whereis",)

    def act(self) -> None:
        """Tell of one, or of all."""
        here = self.caller.location
        agents = Agent.objects.all_family()
        if self.args:
            there = [*people_here(self.caller), *agents]
            one = self.find(self.args, there, f"Nobody lives here called {quoted(self.args)}.")
            place = _whereabouts(one) if one.is_agent else here.key
            self.msg(f"{one.get_display_name(self.caller)}: {place}.")
            return
        self.msg("\n".join([f"You are in {here.key if here else 'no place'}.", *_agents()]))


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
        now = almanac_now(services().clock)
        self.msg(now.sky if self.cmdstring in ("weather", "tide") else f"{now.clock} {now.sky}")


class CmdScore(PlayerCommand):
    """See how things stand with you.

    Usage:
      score
    """

    key = "score"
    aliases = ("sc", "stats")
    arg_regex = r"$"

    def act(self) -> None:
        """List what there is to say."""
        me, here = self.caller, self.caller.location
        days = (timezone.now() - me.db_date_created).days
        facts = [
            ("Name", me.key),
            ("Here for", counted(days, "day") if days else "less than a day"),
            ("Place", f"{here.key if here else 'none'}, {me.db.posture or 'standing'}"),
            ("Carries", counted(len(me.contents), "thing")),
            ("Follows", me.ndb.following.key if me.ndb.following else "nobody"),
            ("Away", me.db.away or "no"),
        ]
        self.msg("\n".join(f"  |w{name + ':':<10}|n {value}" for name, value in facts))


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
