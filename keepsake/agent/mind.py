"""One agent's mind: it creates the agent's components and starts them."""

from __future__ import annotations

from keepsake.agent.acting import Actor
from keepsake.agent.memory.books import Books
from keepsake.agent.memory.compacting import Compactions
from keepsake.agent.memory.memory import MemoryComponent
from keepsake.agent.memory.recaller import Recaller
from keepsake.agent.memory.tools import MemoryTools
from keepsake.agent.runtime import Runtime
from keepsake.agent.sleep.night import Nights
from keepsake.agent.sleep.night_tasks import NightWork
from keepsake.agent.sleep.sleeper import Sleeper
from keepsake.agent.surroundings import AgentRef, Body
from keepsake.agent.thinker import Thinker
from keepsake.logs import Subsystem, get_logger, logged

log = get_logger(Subsystem.BOOKS)

type ActionResult = tuple[bool, str]
"""Whether the command changed anything, and a message for the builder."""


class Mind:
    """The components of one agent, connected to each other. :meth:`begin` starts them."""

    def __init__(self, ref: AgentRef, services: Runtime) -> None:
        self.closed = False
        self.memory_id = ""
        self.workers = services.workers
        self.books = books = Books(ref, services)
        self.memory = memory = MemoryComponent(ref, books, services)
        self.compactions = Compactions(ref, memory, services)
        recaller = Recaller(ref, books.notes, memory, services)
        self.tools = tools = MemoryTools(memory, books, recaller, self.compactions, services)
        self.actor = Actor(memory, tools)
        self.thinker = Thinker(ref, tools, self.actor, services, lambda: self.sleeper.walking)
        nights = Nights(ref.name, NightWork(memory, books, services).tasks, services)
        self.sleeper: Sleeper = Sleeper(memory, self.thinker, nights, services)

    def begin(self) -> None:
        """Open the memory, and resume thoughts that players still wait for."""
        self.memory.open()
        self.thinker.resume_unanswered()
        # In a worker thread, so that no thought waits for files. Later edits are noticed.
        self.workers.submit(self.read_edits)

    def read_edits(self) -> None:
        """Read files that a person has edited, and update the pages of people.

        Called every minute in a worker thread; blocks, never raises.
        """
        name = self.memory.name
        self.memory.read_private()
        with logged(log, "The edited files could not be read", agent=name):
            self.books.read_edits()
        told = "The pages of people could not be updated"
        with logged(log, told, agent=name, subsystem=Subsystem.PEOPLE):
            self.books.update_people(self.memory.memory.archive)

    def pause(self, agent: Body) -> ActionResult:
        """Pause the agent: it perceives and remembers, but does not think."""
        if agent.db.paused:
            return False, f"{agent.key} is paused already"
        agent.db.paused = True
        return True, f"{agent.key} is paused: it perceives and remembers, but does not think"

    def resume(self, agent: Body) -> ActionResult:
        """Resume thinking after :meth:`pause`."""
        if not agent.db.paused:
            return False, f"{agent.key} is not paused"
        agent.attributes.remove("paused")
        self.thinker.answer_waiting()
        self.thinker.schedule()
        return True, f"{agent.key} thinks again{', once it wakes' if agent.db.asleep else ''}"

    def put_to_bed(self, agent: Body, who: str) -> ActionResult:
        """Send the agent home to sleep; ``who`` is the person who asked."""
        sleeper = self.sleeper
        if sleeper.asleep:
            return False, f"{agent.key} is asleep already"
        sleeper.go_to_bed(f"{who} said so")
        if sleeper.asleep:
            return True, f"{agent.key} sleeps"
        where = f", to {agent.home.key}" if agent.home is not None else ""
        return True, f"{agent.key} goes home to sleep{where}"

    def wake(self, agent: Body, who: str) -> ActionResult:
        """Wake the agent as rested as after a whole night, or stop it on its way to bed."""
        still = "; it is still paused, and does not think" if agent.db.paused else ""
        if self.sleeper.wake(who, rested=True):
            return True, f"{agent.key} wakes up{still}"
        if self.sleeper.going_home:
            self.sleeper.stop_walking()
            return True, f"{agent.key} stays up{still}"
        return False, f"{agent.key} is awake{still}"

    def close(self) -> None:
        """Stop thinking, and write the memory to disk."""
        self.closed = True
        self.thinker.close()
        self.sleeper.close()
        self.books.closed = True
        self.memory.close()
