"""What builders do to agents, typed in the game or at the dashboard's buttons.

All of it runs on the reactor thread.
"""

from __future__ import annotations

from keepsake.agent.body import Body
from keepsake.agent.mind import Mind

type Tended = tuple[bool, str]
"""Whether anything was done, and what, in words."""


def pause(agent: Body, mind: Mind) -> Tended:
    """Let it perceive and remember, but not think."""
    if agent.db.paused:
        return False, f"{agent.key} is paused already"
    agent.db.paused = True
    if mind.sleeper.asleep:
        return True, f"{agent.key} is paused: it sleeps on, and will not think once it wakes"
    rest = ", and goes home to sleep all the same" if mind.sleeper.going_home else ""
    return True, f"{agent.key} is paused: it perceives and remembers, but does not think{rest}"


def resume(agent: Body, mind: Mind) -> Tended:
    """Let it think again."""
    if not agent.db.paused:
        return False, f"{agent.key} is not paused"
    agent.attributes.remove("paused")
    mind.thinker.start()
    if mind.sleeper.asleep:
        return True, f"{agent.key} is not paused any more; to think again it wakes first"
    if mind.sleeper.going_home:
        return True, f"{agent.key} thinks again, of those who turn to it on its way to bed"
    return True, f"{agent.key} thinks again"


def put_to_bed(agent: Body, mind: Mind, who: str, *, here: bool) -> Tended:
    """Send it to bed, or have it lie down where it is."""
    sleeper, why = mind.sleeper, f"{who} said so"
    if sleeper.asleep:
        return False, f"{agent.key} is asleep already"
    if sleeper.going_home and not here:
        return False, f"{agent.key} is on its way home to sleep already"
    sleeper.fall_asleep(why) if here else sleeper.go_to_bed(why)
    if sleeper.asleep:
        return True, f"{agent.key} sleeps"
    return True, f"{agent.key} goes home to sleep, to {agent.home.key}"


def wake(agent: Body, mind: Mind, who: str) -> Tended:
    """Wake it as fresh as after a whole night, or keep it from going to bed."""
    still = "; it is still paused, and does not think" if agent.db.paused else ""
    if mind.sleeper.wake(who, rested=True):
        return True, f"{agent.key} wakes up{still}"
    if mind.sleeper.going_home:
        mind.sleeper.stay_up()
        return True, f"{agent.key} stays up{still}"
    return False, f"{agent.key} is awake{still}"
