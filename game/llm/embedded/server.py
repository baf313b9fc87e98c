"""The child process that serves the embedded model: llama.cpp on loopback.

    python -m game.llm.embedded.server --port 4007 --model FILE --pid-file FILE
        --watch-pid 123 --watch-file portal.pid

It keeps the model's warm caches over a reload of the game; see :mod:`game.child`.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from game.child import serving
from game.child.serving import CannotServe, Leash

CONTEXT = 8192
"""Tokens of one prompt with its answer, if the command line does not say otherwise."""
POOL = 24576
"""Tokens of context that all slots share, if the command line does not say otherwise."""


@dataclass(frozen=True, slots=True)
class EmbeddedServerSettings:
    """What the process was told on its command line.

    Attributes:
        tied: Port, pid file and whom it serves.
        model: The weights' file.
        context: Tokens of context for one agent.
        pool: Tokens of context that all slots share.
        slots: Prompts kept ready at once.
        threads: Threads that read prompts.
        writers: Threads that write answers.
        cache_mib: Memory for prompts that lost their slot, in MiB.
        swa_full: Whether layers with a sliding window keep the whole context all the same.
    """

    tied: Leash
    model: Path
    context: int
    pool: int
    slots: int
    threads: int
    writers: int
    cache_mib: int
    swa_full: bool


_server: Any = None
"""Held for as long as the process lives: llama.cpp ends with it."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve until told to end, or until nobody is left to serve; the exit status."""
    settings = _settings(arguments)
    return serving.serve("embedded model server", settings.tied, lambda: _start(settings))


def _settings(arguments: Sequence[str] | None) -> EmbeddedServerSettings:
    parser = serving.parser("game.llm.embedded.server")
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--context", type=int, default=CONTEXT)
    parser.add_argument("--pool", type=int, default=POOL)
    parser.add_argument("--slots", type=int, default=6)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--writers", type=int, default=1)
    parser.add_argument("--cache-mib", type=int, default=1024)
    parser.add_argument("--swa-full", action="store_true")
    given = vars(parser.parse_args(arguments))
    return EmbeddedServerSettings(tied=serving.leash(given), **given)


def _start(settings: EmbeddedServerSettings) -> str:
    """Load the model and start llama.cpp's own HTTP server in threads of this process."""
    # Imported here as it takes a second, which comes after the lock; it has no stubs.
    import xllamacpp  # type: ignore[import-untyped]  # noqa: PLC0415

    global _server  # noqa: PLW0603 - one server a process
    try:
        _server = xllamacpp.Server(_parameters(settings, xllamacpp.CommonParams()))
    except Exception as error:  # the binding raises bare C++ errors of several types
        raise CannotServe(f"llama.cpp could not load the model: {error}") from error
    return f"listening on {_server.listening_address}"


def _parameters(settings: EmbeddedServerSettings, params: Any) -> Any:
    """How llama.cpp runs so that agents who take turns keep their cached prompts.

    Some models, as Gemma, look back only 512 tokens in most layers; llama.cpp then keeps
    only those, and cannot go back to the end of a shared head. ``swa_full`` keeps all.
    The slots share one pool, which costs a third of the memory of one pool each.
    A prompt that loses its slot goes to ``cache_ram_mib`` and comes back from there.

    Reading a prompt gains from every core. Writing does not: its threads meet some
    hundred times a token and spin until all are there, so when anything else wants
    a core, two threads write a tenth as fast as one and burn ten times the time.
    """
    params.model.path = str(settings.model)
    params.model_alias = {settings.model.stem}
    params.hostnames = ["127.0.0.1"]
    params.port = settings.tied.port
    params.n_parallel = settings.slots
    params.n_ctx = settings.pool
    params.kv_unified = True
    params.kv_unified_per_slot = settings.context
    params.swa_full = settings.swa_full
    params.cache_ram_mib = settings.cache_mib
    params.cpuparams.n_threads = settings.writers
    params.cpuparams_batch.n_threads = settings.threads
    params.cpuparams.poll = params.cpuparams_batch.poll = 0
    params.n_threads_http = settings.slots + 4
    # A page in the user's browser must not be able to ask, and nobody reads the slots.
    params.cors_origins, params.cors_credentials = "http://127.0.0.1", False
    params.endpoint_slots = params.ui = False
    params.verbosity = 2
    return params


if __name__ == "__main__":
    sys.exit(main())
