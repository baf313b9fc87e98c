"""The tokenizer of a model server, where it lets others use it: ``POST /tokenize``.

llama.cpp takes ``content`` and vLLM (and who follows it) takes ``prompt``; neither minds
the other's field, so the first question has both and the answer tells who it is. OpenAI's
own protocol has no such call, and neither has Ollama.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

from keepsake.errors import BadAnswer, ModelMissing, ModelRejected

Post = Callable[[Mapping[str, Any]], Mapping[str, Any]]
"""Sends a body to ``/tokenize`` and gives the answer; raises ModelError."""

ASK_AGAIN_SECONDS = 600.0
"""A server that had no tokenizer may have been replaced by one that has."""

_NO_SUCH_THING = (BadAnswer, ModelMissing, ModelRejected)
_SEAM = -1
"""Stands between the texts of one question; no token has a number below 0."""


class Tokenizer:
    """Counts tokens by the server's tokenizer. Safe to use from several threads."""

    def __init__(
        self, post: Post, model: str = "", clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._post = post
        self._model = model
        self._clock = clock
        self._way: Callable[[list[str]], list[int]] | None = None
        self._asked = float("-inf")

    def count(self, texts: Sequence[str]) -> list[int] | None:
        """Tokens of each text, without a mark for the beginning; None: it cannot say.

        Raises:
            ModelError: It did not answer; it may the next time.
        """
        try:
            way = self._way
            if way is None and self._clock() - self._asked >= ASK_AGAIN_SECONDS:
                way = self._way = self._find()
            return way(list(texts)) if way is not None else None
        except _NO_SUCH_THING:
            self._way, self._asked = None, self._clock()
            return None

    def _find(self) -> Callable[[list[str]], list[int]]:
        """How this server counts, from what it answers to a question that either understands."""
        text = "Good morning"
        answer = self._post({"content": text} | self._prompt(text))
        llama_cpp = "count" not in answer and _numbers(answer)
        return self._all_together if llama_cpp else self._by_vllm

    def _all_together(self, texts: list[str]) -> list[int]:
        """All texts in one question.

        llama.cpp takes a list of texts and token numbers. Each text is cut up by itself,
        and the numbers come back as they are: ours show where a text ends.
        """
        content = [part for text in texts for part in (text, _SEAM)]
        numbers = _numbers(self._post({"content": content}))
        seams = [at for at, number in enumerate(numbers) if number == _SEAM]
        if len(seams) != len(texts) or numbers[-1:] not in ([], [_SEAM]):
            raise BadAnswer("The model server's /tokenize lost texts", "Look at its log")
        return [seam - before - 1 for before, seam in pairwise([-1, *seams])]

    def _by_vllm(self, texts: list[str]) -> list[int]:
        counts = [self._post(self._prompt(text)).get("count") for text in texts]
        found = [count for count in counts if isinstance(count, int) and count >= 0]
        if len(found) < len(texts):
            raise BadAnswer("The model server's /tokenize gave no count", "Look at its log")
        return found

    def _prompt(self, text: str) -> dict[str, Any]:
        body: dict[str, Any] = {"prompt": text, "add_special_tokens": False}
        return body | ({"model": self._model} if self._model else {})


def _numbers(answer: Mapping[str, Any]) -> list[int]:
    found = answer.get("tokens")
    if not isinstance(found, list) or not all(isinstance(each, int) for each in found):
        raise BadAnswer("The model server's /tokenize gave no list of tokens", "Look at its log")
    return found
