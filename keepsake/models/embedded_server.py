"""The child process that serves the embedded model: llama.cpp on loopback.

    python -m keepsake.models.embedded_server --port 4007 --model FILE --pid-file FILE
        --watch-pid 123 --watch-file portal.pid

It keeps the model's warm caches over a reload of the game; see :mod:`keepsake.child`.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from keepsake.child import serving
from keepsake.child.serving import CannotServe

CONTEXT = 8192
"""Tokens of one prompt with its answer, if the command line does not say otherwise."""
SLOTS, CACHE_MIB = 6, 1024
"""Prompts that are kept ready at once, and memory for those that have lost their slot."""
POOL = 24576
"""Tokens of context that all slots share, if the command line does not say otherwise."""


_server: Any = None
"""Held for as long as the process lives: llama.cpp ends with it."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve until told to end, or until nobody is left to serve; the exit status."""
    parser = serving.parser("keepsake.models.embedded_server")
    parser.add_argument("--model", type=Path, required=True, help="the weights' file")
    parser.add_argument("--context", type=int, default=CONTEXT, help="tokens for one agent")
    parser.add_argument("--pool", type=int, default=POOL, help="tokens that all slots share")
    parser.add_argument("--threads", type=int, default=2, help="that read prompts")
    parser.add_argument("--writers", type=int, default=1, help="threads that write answers")
    parser.add_argument("--swa-full", action="store_true", help="whole context in every layer")
    given = parser.parse_args(arguments)
    return serving.serve("embedded model server", given, lambda: _start(given))


def _start(settings: argparse.Namespace) -> str:
    """Load the model and start llama.cpp's own HTTP server in threads of this process."""
    # Imported here as it takes a second, which comes after the lock; it has no stubs.
    import xllamacpp  # type: ignore[import-untyped]  # noqa: PLC0415

    global _server  # noqa: PLW0603 - one server a process
    try:
        _server = xllamacpp.Server(_parameters(settings, xllamacpp.CommonParams()))
    except Exception as error:  # the binding raises bare C++ errors of several types
        raise CannotServe(f"llama.cpp could not load the model: {error}") from error
    return f"listening on {_server.listening_address}"


def _parameters(settings: argparse.Namespace, params: Any) -> Any:
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
    params.port = settings.port
    params.n_parallel = SLOTS
    params.n_ctx = settings.pool
    params.kv_unified = True
    params.kv_unified_per_slot = settings.context
    params.swa_full = settings.swa_full
    params.cache_ram_mib = CACHE_MIB
    params.cpuparams.n_threads = settings.writers
    params.cpuparams_batch.n_threads = settings.threads
    params.cpuparams.poll = params.cpuparams_batch.poll = 0
    params.n_threads_http = SLOTS + 4
    # A page in the user's browser must not be able to ask, and nobody reads the slots.
    params.cors_origins, params.cors_credentials = "http://127.0.0.1", False
    params.endpoint_slots = params.ui = False
    params.verbosity = 2
    return params


if __name__ == "__main__":
    sys.exit(main())
