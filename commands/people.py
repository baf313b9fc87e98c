"""Commands that show who is here, time and weather, and deeds."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import evennia
from evennia.utils.utils import iter_to_str, time_format

from commands.base import PlayerCommand, whereabouts
from keepsake.agent.runtime import now
from typeclasses.agents import Agent
from world.almanac import almanac
from world.deed.asking import hint_of
from world.deed.progress import DEEDS, is_over, progress, records

MOST_RUMOURS = 4
"""The most hints shown of deeds that the player has not begun."""


class CmdWho(PlayerCommand):
    """See who is playing, who lives here, and where to find them.

    Usage:
      who
      where <name>
    """

    key = "who"
    aliases = ("doing", "where")

    def act(self) -> None:
        """List players with their idle time, and agents with their place; or show one agent's."""
        if self.args and (place := whereabouts(self.args.removeprefix("is ").rstrip("?"))):
            self.msg(place)
            return
        agents = sorted(Agent.objects.all_family(), key=lambda agent: agent.key)
        lives = []
        for agent in agents:
            place = agent.location.key if agent.location else "away"
            lives.append((agent.key, f"{place}, asleep" if agent.db.asleep else place))
        lines = ["|wPlaying now|n", *_rows(_players()), "", "|wLiving here|n", *_rows(lives)]
        self.msg(text=("\n".join(lines), {"type": "who"}))


def _players() -> list[tuple[str, str]]:
    """Return each player's name, and for how long they are idle; the last active one first."""
    active: dict[Any, float] = {}
    for session in evennia.SESSION_HANDLER.get_sessions():
        if session.logged_in and (who := session.get_puppet() or session.get_account()):
            active[who] = max(active.get(who, 0), session.cmd_last_visible)
    rows = []
    for who, since in sorted(active.items(), key=lambda item: -item[1]):
        seconds = time.time() - since
        idle = f"idle {time_format(seconds, 1)}" if seconds >= 60 else ""
        rows.append((who.get_display_name(None), idle))
    return rows


def _rows(rows: Sequence[tuple[str, str]]) -> list[str]:
    """Return a line for each name with its note; narrow, because a phone shows 40 columns."""
    wide = max((len(name) for name, _ in rows), default=0)
    lines = [f"  |c{name:<{wide}}|n  {note}" if note else f"  |c{name}|n" for name, note in rows]
    return lines or ["  nobody"]


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
        """Show the almanac's time, sky and tide."""
        today = almanac(now().astimezone())
        told = today.sky if self.cmdstring in ("weather", "tide") else f"{today.clock} {today.sky}"
        self.msg((told, {"type": "time"}))


class CmdDeeds(PlayerCommand):
    """See which deeds (quests) you have begun and done, and hints of others.

    Usage:
      deeds

    The people here remember a deed, and it changes a place or a person. Find out
    how: look, ask, carry things about, and mind the hour and the tide. Some deeds
    take two players, some take days. Some can end in more than one way, and
    happen only once in the village.
    """

    key = "deeds"
    aliases = ("quests", "score")
    help_category = "The world"

    def act(self) -> None:
        """Show the four lists that are not empty."""
        done = progress(self.caller)
        world = records()
        titles = ("You have begun", "You have done", "Done by others", "Talked of in the village")
        lists: dict[str, list[str]] = {title: [] for title in titles}
        begun, ended, of_others, talked = lists.values()
        for deed in DEEDS.values():
            mine = done.get(deed.id, {})
            record = world.get(deed.id, {})
            name = f"  |c{deed.name}|n"
            who = record.get("who", ())
            end = mine.get("end", "")
            if end:
                hint = deed.steps[end].hint if end in deed.steps else ""
                ended.append(f"{name}\n    {hint}".rstrip())
            elif is_over(deed, mine, record):
                of_others.append(f"{name}, by {iter_to_str(who)}")
            elif mine:
                begun.append(f"{name}\n    {hint_of(deed, mine)}")
            elif deed.hint:
                talked.append(f"  {deed.hint}")
        del talked[MOST_RUMOURS:]
        shown = ["\n".join([f"|w{title}|n", *lines]) for title, lines in lists.items() if lines]
        self.msg(text=("\n\n".join(shown) or "There are no deeds.", {"type": "deeds"}))
