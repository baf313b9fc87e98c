"""Another memory than ours in a running world, behind the Protocol :class:`MemorySystem`.

The archive stays the truth: what a memory does not know is handed over from it before each call.
Calls are made in worker threads, one at a time. An exception in one is logged under the memory's
name, and the agent goes on with its window alone. No whispered word is handed
over (:func:`outward`).
"""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

import frontmatter
import yaml

from keepsake.agent.agent_log import Complaints, log, logged
from keepsake.agent.memory.memory import MemoryComponent
from keepsake.agent.memory.recaller import SPARE, Recaller
from keepsake.agent.memory.related import SearchResult
from keepsake.agent.runtime import Runtime
from keepsake.agent.surroundings import Life
from keepsake.archive.forgetting import PLUGGED
from keepsake.archive.privacy import Audience, outward
from keepsake.archive.records import Memory
from keepsake.books.files import replace_file
from keepsake.books.notes import NoteBook
from keepsake.errors import KeepsakeError
from keepsake.memory import protocol
from keepsake.memory.protocol import MemorySystem, RecalledLine, Surroundings, dated, line_of
from keepsake.ports import Generation, GenerationRequest
from keepsake.recall.documents import Document, DocumentKind, Hit, memory_document
from keepsake.tasks.task import Ask, Question

PATIENCE = 5.0
"""Seconds that a thought waits for it; then it goes on with what was brought last."""
CONTEXT_SHARE = 0.5
"""What it may show in every prompt, of a prompt's budget."""
_AT_ONCE = 1000
"""Memories that are read from the archive at a time."""
PROFILE_FILE = "profile.md"
"""In an agent's folder."""
MEMORY = "memory"
_calling: defaultdict[Path, threading.Lock] = defaultdict(threading.Lock)
"""By folder: one that is made anew is opened once the one before it has let go of its files."""


class PluggedMemory(Recaller):
    """The other memory of one agent, and the search in it."""

    def __init__(
        self, life: Life, notes: NoteBook, memory: MemoryComponent, services: Runtime
    ) -> None:
        super().__init__(life, notes, memory, services)
        self.context = ()
        self._kind, self._handed, self._closed = life.memory, 0, False
        inside = "".join(c if c.isalnum() or c in "_.-" else "_" for c in life.memory)
        self._inside = life.folder / PLUGGED / inside
        self._trouble = Complaints(f"[Error] {life.name}: The memory {life.memory}")
        self._calling = _calling[self._inside]
        self._system: MemorySystem | None = None

    @property
    def patience(self) -> float:
        """Seconds that a thought waits for it."""
        return max(self._services.recalling.patience, PATIENCE)

    def begin(self) -> None:
        """Open it soon, and hand it what it does not know of."""
        self._services.workers.submit(self._call, lambda _: None)

    def saw(self, memory: Memory) -> None:
        """Something was remembered: it learns of it soon."""
        self._services.workers.submit(self._call, lambda _: None, 0.0)

    def close(self) -> None:
        """Let go of it, at once or when the call that is under way has ended."""
        self._closed = True
        self._call(lambda _: None, 0.0)

    # -- in worker threads: blocks, and raises nothing

    def rest(self) -> None:
        """The agent sleeps: let it do what takes long."""
        self._call(lambda system: system.rest(asleep=True))

    def _found(  # noqa: PLR0917 - as in a Recaller
        self,
        text: str,
        before: int | None,
        scene: bool,
        seconds: float,
        audience: Audience,
        asker: str,
    ) -> SearchResult:
        """Ask it, and keep what it has for every prompt; nothing if it failed, or is busy."""
        limit, found = self._services.recalling.memories + SPARE, list[SearchResult]()

        def ask(system: MemorySystem) -> None:
            window = self._memory.context().window
            shown = {dated(outward(each)) for each in window}
            budget = int(self._services.compaction.current.budget * CONTEXT_SHARE)
            self.context = tuple(each for each in system.context(budget) if each not in shown)
            lines = system.recall(f"{asker}: {text}" if asker else text, limit)
            hits = (self._hit(place, line) for place, line in enumerate(lines))
            numbers = {each.number for each in window}
            beyond = (hit for hit in hits if not {hit.document.first} <= numbers)
            found.append(SearchResult(memories=tuple(beyond)))

        if self._call(ask, PATIENCE) and not found:
            self.context = ()
        return found[0] if found else SearchResult()

    def _hit(self, place: int, line: RecalledLine) -> Hit:
        """A memory where the line tells one word for word, else the line itself."""
        first, last = min(line.numbers, default=0), max(line.numbers, default=0)
        memory = next(iter(self._memory.memory.archive.read(last, last)), None) if last else None
        if memory and first == last and line_of(memory := outward(memory)) in line.text:
            return Hit(memory_document(memory, self._name), line.score)
        time = memory.time if memory else self._services.clock.now()
        key, kind = f"line:{place}", DocumentKind.MEMORY
        document = Document(key=key, kind=kind, text=line.text, time=time, first=first, last=last)
        return Hit(document, line.score)

    def _call(self, what: Callable[[MemorySystem], None], seconds: float = -1.0) -> bool:
        """Do something with it once nobody else does, if that is within so many seconds.

        Returns:
            Whether it was free.
        """
        if not self._calling.acquire(timeout=seconds):
            return False
        try:
            if not self._closed:
                system = self._system = self._system or self._opened()
                self._hand_over(system)
                what(system)
                self._hand_over(system)  # what came meanwhile
        except KeepsakeError as error:
            self._trouble(str(error))
        except Exception as error:  # somebody else's code
            self._trouble(f"broke off: {error!r}")
        finally:
            if self._closed and (ended := self._system) is not None:
                self._system = None
                with logged(f"{self._name}: The memory {self._kind} could not be closed"):
                    ended.close()
            self._calling.release()
        return True

    def _hand_over(self, system: MemorySystem) -> None:
        archive = self._memory.memory.archive
        while (first := max(system.newest, self._handed) + 1) <= archive.last_number:
            for memory in archive.read(first, first + _AT_ONCE - 1):
                system.perceive(outward(memory))
                self._handed = memory.number

    def _opened(self) -> MemorySystem:
        services, self._handed = self._services, 0
        self._inside.mkdir(parents=True, exist_ok=True)
        ask = services.asker(services.compaction.current.profile)
        given = Surroundings(
            agent=self._name,
            folder=self._inside,
            clock=services.clock,
            embedder=services.embedder,
            model=AskedProfile(ask) if ask else None,
            tokens=services.tokens,
            budget=services.compaction.current.budget,
        )
        return protocol.opened(self._kind, given)


class AskedProfile:
    """The model of a profile, asked for what a memory wants of it."""

    def __init__(self, ask: Ask) -> None:
        self._ask = ask

    def generate(self, request: GenerationRequest) -> Generation:
        """The profile's model and address; all else is the request's."""
        question = Question(
            messages=request.messages,
            text=request.prompt,
            stop=request.stop,
            max_tokens=request.max_tokens,
            temperature=request.temperature,
            json_schema=request.json_schema,
        )
        return self._ask(lambda _: question)


# -- which memory an agent is to have: ``memory: rag`` at the head of its ``profile.md``


def memory_named(path: Path) -> str:
    """The memory that a profile names; empty for ours, and where it cannot be read."""
    if not path.exists():  # as a rule: who the agent is stands in the world's database
        return ""
    try:
        named = str(frontmatter.loads(path.read_text(encoding="utf-8")).get(MEMORY) or "")
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        log(f"[Error] {path} cannot be read, so the agent has the usual memory: {error}")
        return ""
    return "" if named in protocol.OURS else named


def name_memory(path: Path, name: str) -> None:
    """Have a profile name a memory, whatever else it says; an empty name for ours.

    Raises:
        KeepsakeError: There is no such memory.
        OSError, UnicodeDecodeError, yaml.YAMLError: The file cannot be read or written.
    """
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    post = frontmatter.loads(text)
    post.metadata.pop(MEMORY, None)
    if name not in protocol.OURS:
        protocol.maker(name)
        post[MEMORY] = name
    path.parent.mkdir(parents=True, exist_ok=True)
    replace_file(path, frontmatter.dumps(post) + "\n")
