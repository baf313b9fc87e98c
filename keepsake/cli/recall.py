"""``keepsake recall serve``: the agents' recall for other programs, as JSON lines."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, TextIO

from keepsake.errors import KeepsakeError
from keepsake.lab.conversation import Conversation, UnreadableTurns, read_turns
from keepsake.language.words import writable
from keepsake.ports import Embedder

_MOST_HITS, _DEFAULT_HITS = 1000, 20
_REQUESTS = (
    'Send {"op": "ingest", "turns": [{"id": "D1:1", "speaker": "Ann", "time": "8 May 2023", '
    '"text": "…"}]}, {"op": "add", "turns": […]} or {"op": "query", "text": "…", "k": 20}, each on '
    "one line; the file of a benchmark is read by `keepsake eval recall FILE`"
)


class RecallServer:
    """Answers requests, one JSON object a line, about one conversation at a time."""

    def __init__(self, embedder: Embedder) -> None:
        self._conversation = Conversation(embedder)

    def serve(self, lines: Iterable[str], out: TextIO) -> None:
        """Answer each line by a line until there are no more; blank lines are skipped."""
        for line in lines:
            if line.strip("\ufeff \t\r\n"):
                answer = self.answer(line)
                text = json.dumps(answer, ensure_ascii=False)
                # Half a character, as an id may hold, cannot be written as it is.
                print(text if writable(text) == text else json.dumps(answer), file=out, flush=True)

    def answer(self, line: str) -> dict[str, Any]:
        """The answer to one request: ``ok``, ``ids`` or ``error``."""
        try:
            request = json.loads(line.lstrip("\ufeff"))  # some programs begin with a mark
            match request:
                case {"op": "ingest"}:
                    self._conversation.ingest(read_turns(request))
                case {"op": "add"}:
                    self._conversation.ingest(read_turns(request), keep=True)
                case {"op": "query", "text": str() as text} if text.strip():
                    limit = request.get("k", _DEFAULT_HITS)
                    if type(limit) is not int or not 1 <= limit <= _MOST_HITS:
                        wanted = f'"k" is a whole number from 1 to {_MOST_HITS}'
                        raise UnreadableTurns(wanted, _REQUESTS)
                    return {"ids": self._conversation.query(text, limit)}
                case _:
                    raise UnreadableTurns(f"{line:.60} is no request", _REQUESTS)
        except (ValueError, RecursionError) as error:
            return {"error": f"The line is no JSON ({error}). {_REQUESTS}"}
        except KeepsakeError as error:
            return {"error": str(error)}
        return {"ok": True}
