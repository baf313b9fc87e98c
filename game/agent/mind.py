"""One agent's mind: its components, made for each other and opened."""

from __future__ import annotations

from game.agent.memory.examining import Examiner
from game.agent.memory.remembering import Life, Remembering
from game.agent.services import Services
from game.agent.sleep.night_works import NightWorks
from game.agent.sleep.nights import Nights
from game.agent.sleep.sleeper import Sleeper
from game.agent.thinking.actor import Actor
from game.agent.thinking.fitting import Fitting
from game.agent.thinking.following import Following
from game.agent.thinking.thinker import Thinker
from game.mind.memory import CompactionResult


class Mind(Remembering):
    """The components of one agent."""

    def __init__(self, life: Life, services: Services) -> None:
        super().__init__(life, services)
        name, folder, memory = life.name, life.folder, self.memory
        self.examiner = Examiner(name, memory, self.keeper.recaller, services)
        self.actor = Actor(memory, self.keeper, services)
        self.fitting = Fitting(name, memory, services)
        self.following = Following()
        self.thinker = Thinker(
            life,
            self,
            services,
            actor=self.actor,
            fitting=self.fitting,
            following=self.following,
            spent=self._spent,
            drowsy=self._drowsy,
        )
        nights = Nights(name, folder, NightWorks(name, folder, self, services), services)
        self.sleeper = Sleeper(life.number, memory, self.thinker, nights, services)
        memory.open()
        self.examiner.resume()
        self.keeper.recaller.follow()
        self.diary.open()
        self.keeper.open()
        self.acquaintances.catch_up()

    def may_compact(self) -> bool:
        """Whether its memory may be compacted because the agent sleeps."""
        return self.sleeper.may_compact

    def compacted(self, result: CompactionResult) -> None:
        """A compaction has ended: what it left is examined."""
        self.examiner.compacted(result)

    def _spent(self, tokens: int) -> None:
        self.sleeper.spent(tokens)

    def _drowsy(self) -> bool:
        return self.sleeper.going_home

    def close(self) -> None:
        """Stop thinking and bring the memory to the disk."""
        self.thinker.close()
        self.sleeper.close()
        self.examiner.close()
        self.acquaintances.close()
        self.memory.close()
