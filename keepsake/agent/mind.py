"""One agent's mind: its components, made for each other, and their beginning."""

from __future__ import annotations

from keepsake.agent.memory.remembering import Remembering
from keepsake.agent.runtime import Runtime
from keepsake.agent.sleep.night import Nights
from keepsake.agent.sleep.night_tasks import night_tasks
from keepsake.agent.sleep.sleeper import Sleeper
from keepsake.agent.surroundings import Body, Life
from keepsake.agent.thinking.thinker import Thinker

type Tended = tuple[bool, str]
"""Whether anything was done, and what, in words."""


class Mind(Remembering):
    """The components of one agent.

    Attributes:
        begun: Whether they are at work; before that they can do nothing but wait, or be closed.
        closed: Whether they have ended.
    """

    def __init__(self, life: Life, runtime: Runtime) -> None:
        super().__init__(life, runtime, asleep=lambda: self.sleeper.may_compact)
        memory = self.memory
        self.thinker = thinker = Thinker(
            life,
            self,
            runtime,
            spent=lambda tokens: self.sleeper.spent(tokens),  # noqa: PLW0108 - it is made below
            drowsy=lambda: self.sleeper.walking,
        )
        self.actor = thinker.actor
        nights = Nights(memory, night_tasks(self, runtime), runtime)
        self.sleeper = Sleeper(memory, self.thinker, nights, runtime)
        self._runtime = runtime
        self.begun = self.closed = False

    def begin(self) -> None:
        """Open what it remembers, unless that is done, and go on from there."""
        self.begun = True
        self.memory.open()
        self.keeper.recaller.begin()
        # In a thread, so that no thought waits for files; what people change from then on is seen.
        self._runtime.workers.submit(self.look)
        self.acquaintances.catch_up()
        self.sleeper.start()

    # -- what builders do, typed in the game or at the dashboard's buttons

    def pause(self, agent: Body) -> Tended:
        """Let it perceive and remember, but not think."""
        if agent.db.paused:
            return False, f"{agent.key} is paused already"
        agent.db.paused = True
        if self.sleeper.asleep:
            return True, f"{agent.key} is paused: it sleeps on, and will not think once it wakes"
        rest = ", and goes home to sleep all the same" if self.sleeper.going_home else ""
        return True, f"{agent.key} is paused: it perceives and remembers, but does not think{rest}"

    def resume(self, agent: Body) -> Tended:
        """Let it think again."""
        if not agent.db.paused:
            return False, f"{agent.key} is not paused"
        agent.attributes.remove("paused")
        self.thinker.start()
        if self.sleeper.asleep:
            return True, f"{agent.key} is not paused any more; to think again it wakes first"
        if self.sleeper.going_home:
            return True, f"{agent.key} thinks again, of those who turn to it on its way to bed"
        return True, f"{agent.key} thinks again"

    def put_to_bed(self, agent: Body, who: str, *, here: bool) -> Tended:
        """Send it to bed, or have it lie down where it is."""
        sleeper, why = self.sleeper, f"{who} said so"
        if sleeper.asleep:
            return False, f"{agent.key} is asleep already"
        if sleeper.going_home and not here:
            return False, f"{agent.key} is on its way home to sleep already"
        sleeper.fall_asleep(why) if here else sleeper.go_to_bed(why)
        if sleeper.asleep:
            return True, f"{agent.key} sleeps"
        return True, f"{agent.key} goes home to sleep, to {agent.home.key}"

    def wake(self, agent: Body, who: str) -> Tended:
        """Wake it as fresh as after a whole night, or keep it from going to bed."""
        still = "; it is still paused, and does not think" if agent.db.paused else ""
        if self.sleeper.wake(who, rested=True):
            return True, f"{agent.key} wakes up{still}"
        if self.sleeper.going_home:
            self.sleeper.stay_up()
            return True, f"{agent.key} stays up{still}"
        return False, f"{agent.key} is awake{still}"

    def close(self) -> None:
        """Stop thinking and bring the memory to the disk."""
        self.closed = True
        self.thinker.close()
        self.sleeper.close()
        self.acquaintances.close()
        self.keeper.recaller.close()
        self.memory.close()
