"""The base of the embedders in this process: threads of low priority, one text at a time each."""

from __future__ import annotations

import os
import threading
from abc import ABC, abstractmethod
from array import array
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import batched

from keepsake.errors import ModelError, ModelFailed
from keepsake.language.perception import writable

NICE = 5
"""The nice value of the embedder's thread, the same as that of the child processes."""


class LocalEmbedder(ABC):
    """An embedder in this process. Safe to use from several threads.

    Args:
        threads: How many texts are embedded at once; one in a game, whose cores others need.

    Attributes:
        model_name: The name of the model, which is stored with its vectors.
        likens_questions: See :func:`keepsake.ports.likens_questions`.
    """

    likens_questions = False

    def __init__(self, model_name: str, threads: int = 1) -> None:
        self.model_name = model_name
        self._threads = threads
        # One text at a time, so that a search query does not wait for a batch and no vector depends
        # on other texts. Always these threads: the C library keeps memory for each that ran.
        self._runner = ThreadPoolExecutor(threads, "embedder", _lower_priority)

    def embed(self, texts: Sequence[str]) -> list[array[float]]:
        """Return one vector of length 1 for each text; blocks.

        Raises:
            ModelMissing: The model's files are missing or damaged.
            ModelFailed: The model failed on these texts.
        """
        try:
            # Arrays, because garbage collection would visit every number of a list.
            return [
                running.result()
                for some in batched(texts, self._threads)
                for running in [self._runner.submit(self._run, writable(text)) for text in some]
            ]
        except ModelError:
            raise
        except Exception as error:  # of any kind: the next texts may work
            what = f"The embedder failed ({error!r})"
            raise ModelFailed(what, "See the log; please report it") from error

    @abstractmethod
    def _run(self, text: str) -> array[float]:
        """Return the vector of a text; the first call loads the model.

        Raises:
            ModelMissing: The model's files are missing or damaged.
        """


def _lower_priority() -> None:
    with suppress(OSError):  # outside Linux this sets the priority of the process
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), NICE)
