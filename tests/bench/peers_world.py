"""The cost of a thought of a Keepsake agent and of Evennia's LLM NPC, in one world."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from itertools import islice
from types import SimpleNamespace
from typing import Any

import psutil

from keepsake.paths import Ports
from tests.bench.figures import Figure
from tests.bench.in_the_world import live, print_figures
from tests.bench.peers_bench import indexed, lines, spent, timed
from tests.free_ports import free_base

_MODEL = [sys.executable, "-m", "tests.bench.busy_model", "--delay=0", "--hold=none"]
_WARM = 66
_EACH = 64
"""Exchanges before the measurement and in it; the latter include two compactions."""
_MEMORY = ("index", "recall", "embedder")
"""Prefixes of the names of threads that only work for the memory."""


def _figures() -> list[Figure]:  # noqa: C901 - defines a world
    from evennia import DefaultRoom  # noqa: PLC0415 - with the world
    from evennia.contrib.rpg.llm import LLMNPC, CmdLLMTalk  # noqa: PLC0415 - as above
    from evennia.utils.create import create_object  # noqa: PLC0415 - as above
    from twisted.internet import reactor as real_reactor  # noqa: PLC0415 - as above

    from keepsake.events.values import ThoughtOutcome  # noqa: PLC0415 - as above
    from keepsake.models.embedders import CachedEmbedder  # noqa: PLC0415 - as above
    from keepsake.models.local.minilm import MiniLMEmbedder  # noqa: PLC0415 - as above
    from keepsake.recall.service import IndexService  # noqa: PLC0415 - as above
    from keepsake.recall.stores import CHILD  # noqa: PLC0415 - as above
    from tests.world.agents_world import LoggedWorld  # noqa: PLC0415 - as above

    figures: list[Figure] = []
    reactor: Any = real_reactor  # Twisted sets this module's functions when it chooses a reactor

    class World(LoggedWorld):
        FORM = "chat"
        fake: Any  # here the address of another process

        def start_services(self) -> Any:
            model = subprocess.Popen(_MODEL, stdout=subprocess.PIPE, text=True)
            self.addCleanup(model.terminate)
            assert model.stdout is not None
            self.fake.close()
            self.fake = SimpleNamespace(address=model.stdout.readline().strip())
            new = super().start_services()
            places = replace(new.places, ports=Ports(free_base()))
            new.embedder = CachedEmbedder(MiniLMEmbedder())
            new.indexes = IndexService(places, CHILD, new.embedder)
            new.indexes.start()
            self.addCleanup(new.indexes.close, stop_server=True)
            return new

        def measure(self) -> None:
            self.set_thinking(idle_interval=1e9, pause_notice=0)
            self.heard = self.capture(self.char1)
            self.remembering = 0.0
            self.told = lines()
            self.char2.location = None
            for owner, name in (
                (self.mind.tools.recaller, "recall_blocking"),
                (self.mind.memory, "remember"),
                (self.mind.memory.memory, "compact"),
            ):
                self._is_memory(owner, name)
            self._count("keepsake", self._ask_mira)
            room = create_object(DefaultRoom, key="A room of Evennia")
            self.char1.location = room
            self.npc = create_object(LLMNPC, key="Nan", location=room)
            self.npc.llm_client.hostname = self.fake.address
            self._is_memory(self.npc, "_add_to_memory")
            reactor.startRunning(installSignalHandlers=False)
            self.addCleanup(reactor.getThreadPool().stop)  # or the process never ends
            self._count("LLMNPC", self._ask_npc)

        def _ask_mira(self, words: str) -> None:
            log = self.mind.thinker.log
            compactions = self.mind.compactions
            answered = log.outcomes[ThoughtOutcome.ACTED]
            self.char1.execute_cmd(f"talk Mira {words}")
            self.clock.advance(4.0)
            self.settle(lambda: log.outcomes[ThoughtOutcome.ACTED] > answered)
            self.settle(lambda: self.mind.thinker.turn is None)
            compactions.compact_if_due()  # as the housekeeping does
            self.settle(lambda: not compactions.compacting)
            memory = self.mind.memory
            assert self.services.indexes is not None
            indexed(self.services.indexes, memory.folder.name, memory.newest)

        def _ask_npc(self, words: str) -> None:
            command = CmdLLMTalk()
            before = len(self.heard)
            command.caller = self.char1
            command.args = f"Nan {words}"
            command.parse()
            command.func()
            while len(self.heard) < before + 2:  # the echo and the answer
                reactor.iterate(0.02)

        def _is_memory(self, owner: Any, name: str) -> None:
            """Count the processor time of that method as the memory's."""
            plain = getattr(owner, name)

            def counted(*args: Any, **kwargs: Any) -> Any:
                began = time.thread_time()
                try:
                    return plain(*args, **kwargs)
                finally:
                    self.remembering += time.thread_time() - began

            setattr(owner, name, counted)

        def _count(self, name: str, ask: Callable[[str], None]) -> None:
            said = (line.partition('"')[2].rstrip('"') for line in self.told)
            for words in islice(said, _WARM):
                ask(words)
            before = self._parts()
            began = time.process_time()
            whole = timed(f"a thought: {name}", _EACH, ask, [*islice(said, _EACH)])
            game = time.process_time() - began
            memory = self._parts() - before
            parts = f"{1000 * game / _EACH:.1f} in the game; memory {1000 * memory / _EACH:.1f}"
            figures.append(replace(whole, reference=f"{whole.reference}; {parts}"))

        def _parts(self) -> float:
            """Return the memory's seconds: its threads and methods, and Chroma's process."""
            names = {each.native_id: each.name for each in threading.enumerate()}
            threads = psutil.Process().threads()
            ours = [each for each in threads if names.get(each.id, "").startswith(_MEMORY)]
            in_threads = sum(each.user_time + each.system_time for each in ours)
            return self.remembering + in_threads + spent() - time.process_time()

    live(World("measure"))
    return figures


if __name__ == "__main__":
    print_figures(_figures)
