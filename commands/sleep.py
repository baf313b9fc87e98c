"""Sleep: builders put agents to bed and wake them; players shout and shake."""

from __future__ import annotations

from datetime import timedelta

from commands.base import PlayerCommand
from commands.building.base import BuilderCommand, plain, table
from commands.playing.speech import SpeechCommand
from commands.wording import CannotDo
from keepsake.agent import tending
from keepsake.agent.mind import Mind
from keepsake.agent.services import running, services
from keepsake.sleep.config import SleepConfig
from keepsake.sleep.tiredness import Tiredness, wakes_at
from typeclasses.agents import Agent, all_agents
from typeclasses.deeds.happening import happened
from typeclasses.minds import mind_by_number


class CmdSleep(BuilderCommand):
    """See which agents sleep, and put one to bed.

    Usage:
      @sleep                see who sleeps, and how tired the others are
      @sleep <agent>        it walks home and falls asleep there
      @sleep/here <agent>   it falls asleep where it stands, without walking home

    With |w@sleep/here|n the name may be left out, if one agent alone is in the room.

    Agents also sleep by themselves, once they have been awake for long or
    have thought a lot, and nobody talks to them; |wvault/config/sleep.md|n
    says when. Asleep, an agent puts its journal and what it knows of people
    in order, reflects, has its memory compacted when that is due, and tidies
    up; the table shows what it is at. It wakes at its hour, when
    somebody calls it loudly or shakes it, and by |w@wake|n. What is left of its
    night's work then waits for its next sleep.

    Example:
      @sleep mira

    See also: |whelp @wake|n, |whelp @history|n, |whelp @journal|n
    """

    key = "@sleep"
    switch_options = ("here",)

    def run(self) -> None:
        """Show the table, or put somebody to bed."""
        if not self.args.strip() and not self.switches:
            self.page(_sleepers())
            return
        agent = self.agent_named(self.args)
        who, here = plain(self.caller.key), "here" in self.switches
        self.told(agent, tending.put_to_bed(agent, self.mind(agent), who, here=here))


class CmdWakeAgent(BuilderCommand):
    """Wake an agent, wherever it sleeps.

    Usage:
      @wake <agent>

    Without a name the agent in the room is meant. It is as fresh as after a
    whole night. What is left of its night's work
    waits for its next sleep; nothing is lost.

    Example:
      @wake mira

    See also: |whelp @sleep|n
    """

    key = "@wake"

    def run(self) -> None:
        """Wake it."""
        agent = self.agent_named(self.args)
        self.told(agent, tending.wake(agent, self.mind(agent), self.caller.key))


def _sleepers() -> str:
    """The table of all agents: what they are about, how tired they are."""
    agents = all_agents()
    if not agents:
        return "There are no agents. Make one with @agent/create <name> = <profile>."
    rows = [_row(agent, mind_by_number(agent.id)) for agent in agents]
    config = services().sleeping.current
    how = (
        f"Tired after {config.awake_hours:g} hours awake"
        + (f" or {config.awake_tokens:,} tokens" if config.awake_tokens else "")
        if config.sleep
        else "Agents do not tire here"
    )
    shown = table(("Agent", "State", "Awake", "Thought", "Tired"), rows)
    return f"{shown}\n{how}; |wvault/config/sleep.md|n."


def _row(agent: Agent, mind: Mind | None) -> tuple[str, str, str, str, str]:
    if mind is None:
        return agent.key, "opening" if running() else "services not running", "", "", ""
    config, tiredness = services().sleeping.current, mind.sleeper.tiredness
    awake = f"{tiredness.awake_seconds / 3600:.1f} h"
    state = mind.thinker.state.value
    if mind.sleeper.asleep:
        state = _asleep(mind, config)
    elif mind.sleeper.going_home:
        state = "going home to sleep"
    return agent.key, state, awake, f"{tiredness.tokens:,}", f"{_share(config, tiredness):.0%}"


def _asleep(mind: Mind, config: SleepConfig) -> str:
    since, step = mind.sleeper.fell_asleep, mind.sleeper.nights.step
    if since is None:
        return "asleep"
    until = wakes_at(since, config).astimezone()
    work = f", {step.value}" if step else ", its work waits" if mind.sleeper.working else ""
    return f"asleep {since.astimezone():%H:%M} to {until:%H:%M}{work}"


def _share(config: SleepConfig, tiredness: Tiredness) -> float:
    """How tired it is; 1.0 is tired enough to go to bed."""
    hours = timedelta(seconds=tiredness.awake_seconds) / timedelta(hours=config.awake_hours)
    tokens = tiredness.tokens / config.awake_tokens if config.awake_tokens else 0.0
    return max(hours, tokens)


class CmdShout(SpeechCommand):
    """Shout, so that you are heard next door too.

    Usage:
      shout <words>

    Whoever sleeps wakes when you shout their name; in the same room also when
    you shout |wWake up!|n

    Example:
      shout Mira! The roof is on fire!
    """

    key = "shout"
    aliases = ("yell",)
    arg_regex = r"\s|$"

    def speak(self) -> None:
        """Let it be heard here, and one exit away."""
        speech = self.speech(
            self.args, "Shout what? For instance: shout Mira! The soup boils over!"
        )
        self.show(
            "shout",
            you='You shout, "{speech}"',
            others='{actor} shouts, "{speech}"',
            speech=speech,
        )
        here = self.caller.location
        rooms = dict.fromkeys(way.destination for way in here.exits)  # one exit away
        for room in (each for each in rooms if each is not None and each is not here):
            room.msg_contents(
                ('{actor} shouts from {place}, "{speech}"', {"type": "shout"}),
                from_obj=self.caller,
                mapping={"actor": self.caller, "place": here, "speech": speech},
            )


class CmdWake(PlayerCommand):
    """Shake somebody who sleeps until they wake.

    Usage:
      wake <name>
      wake

    The beginning of a name will do; |wwake|n alone ends your own sleep. You can
    also |wshout|n their name.
    """

    key = "wake"

    def act(self) -> None:
        """Shake them."""
        if not self.args and self.caller.is_asleep:
            self.execute_cmd("stand")
            return
        if not self.args:
            raise CannotDo("Wake whom? For instance: wake mira")
        target = self.find_person(self.args.removeprefix("up "))
        if not target.is_asleep:
            raise CannotDo(f"{target.get_display_name(self.caller)} is awake.")
        self.show(
            "wake",
            you="You shake {target} by the shoulder.",
            others="{actor} shakes {target} by the shoulder.",
            target=target,
            to_target="{actor} shakes you by the shoulder.",
        )
        target.attributes.remove("posture")  # of a player
        happened(self.caller)
