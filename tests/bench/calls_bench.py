"""How many functions of ours a question and its answer, a compaction and a recall pass through.

Fewer functions are fewer places to look at when something is to be found or changed. Functions
are counted once each, in all threads; expressions and lambdas belong to the function around them.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import CodeType
from typing import Any

from keepsake.paths import REPOSITORY
from tests.bench.figures import Figure
from tests.bench.in_the_world import figures_of, live, print_figures
from tests.fakes.model_server import llm_page

PACKAGES = ("commands", "game", "keepsake", "typeclasses", "world")
WANTED = {"a question and its answer": 220, "a compaction of seven lines": 180, "a recall": 50}
_FOLDERS = tuple(f"{REPOSITORY / package}{os.sep}" for package in PACKAGES)
_SECONDS = 120
_SUMMARY = (
    "Tom told me of his brother Edwin, of a key, of a ferry and of barley; we talked of Inns."
)


def measure() -> Iterator[Figure]:
    """Distinct functions of ours, by what they take part in."""
    yield from figures_of(__name__, seconds=_SECONDS)


@contextmanager
def _called() -> Iterator[set[str]]:
    """Within it: which of our functions are called, in whatever thread."""
    found: set[str] = set()
    monitoring, tool = sys.monitoring, sys.monitoring.PROFILER_ID

    def started(code: CodeType, _offset: int) -> Any:
        if code.co_filename.startswith(_FOLDERS) and not code.co_name.startswith("<"):
            place = code.co_filename.removeprefix(f"{REPOSITORY}{os.sep}")
            found.add(f"{place}:{code.co_firstlineno}:{code.co_qualname}")
        return monitoring.DISABLE

    monitoring.use_tool_id(tool, "calls")
    monitoring.register_callback(tool, monitoring.events.PY_START, started)
    monitoring.restart_events()
    monitoring.set_events(tool, monitoring.events.PY_START)
    try:
        yield found
    finally:
        monitoring.set_events(tool, 0)
        monitoring.register_callback(tool, monitoring.events.PY_START, None)
        monitoring.free_tool_id(tool)


def _in_the_world() -> list[Figure]:
    from keepsake.memory.types import CompactReason  # noqa: PLC0415 - with the world
    from tests.world.test_recall_world import CHATTER, FACTS, RecallWorld  # noqa: PLC0415

    figures: list[Figure] = []

    class World(RecallWorld):
        FORM = "chat"

        def start_services(self) -> Any:
            self.fake.template = "{{ range .Messages }}{{ .Role }}: {{ .Content }}{{ end }}"
            new = super().start_services()
            new.syncer.stop()  # it works in the background, whatever is counted
            config = new.places.config
            own = f"provider=ollama host={self.fake.address} model=fake form=chat"
            (config / "llm.md").write_text(llm_page(agent=own, summarizer=own))
            (config / "memory_compaction.md").write_text(
                "**immediate_window**: 4\n**recent_window**: 100\n**min_saving_tokens**: 0\n"
            )
            self.fake.script = self._answer
            return new

        def _answer(self, prompt: str) -> str:
            summary = any(each in prompt for each in ("Write your summary", "Write one summary"))
            return _SUMMARY if summary else "In Ostrey, by the harbour."

        def measure(self) -> None:
            self.set_thinking(idle_interval=1e9, pause_notice=0)
            self.says(*FACTS, *CHATTER)
            self.kept = self.mind  # once, so that the looks of the bench are not counted
            self._compact()
            self._ask()
            self._count("a question and its answer", self._ask)
            self._compact()
            self.says(*CHATTER, "Bram sells barley.")
            self._count("a compaction of seven lines", self._compact)
            self._recall()
            self._count("a recall", self._recall)

        def _ask(self) -> None:
            thinker = self.kept.thinker
            thoughts = thinker.log.outcomes.total()
            self.char1.execute_cmd("talk Mira Where is my brother Edwin?")
            self.clock.advance(4.0)
            self.settle(lambda: thinker.log.outcomes.total() > thoughts)
            self.settle(lambda: thinker.turn is None)

        def _compact(self) -> None:
            ended: list[Any] = []
            self.kept.compactions.compact(CompactReason.MANUAL).addCallback(ended.append)
            self.settle(lambda: bool(ended))
            assert getattr(ended[0], "number", 0), ended

        def _recall(self) -> None:
            found = self.kept.keeper.recaller.find("Where is Edwin?")
            assert found is not None
            assert found.hits

        def _count(self, name: str, work: Callable[[], None]) -> None:
            self.clock.advance(60.0)  # what is still to come of before is none of it
            self.settle()
            with _called() as found:
                work()
            if path := os.environ.get("CALLS"):  # the list, for whoever wants to shorten it
                with Path(path).open("a", encoding="utf-8") as file:
                    file.write("\n".join([name, *(f"  {each}" for each in sorted(found)), ""]))
            figures.append(Figure(name, 1, len(found), "functions", f"wanted <= {WANTED[name]}"))

    live(World("measure"))
    return figures


if __name__ == "__main__":
    print_figures(_in_the_world)
