"""Mira with a chat model, and Tom, who talks with her."""

from __future__ import annotations

from typing import Any

from keepsake.archive.records import MemoryKind
from tests.world.test_hospitality import Inn

PERSONA = "You are Mira Fenn, keeper of the Kettle. You are warm and quick."


class TalkWorld(Inn):
    """Mira with a chat model, and Tom."""

    def setUp(self) -> None:
        super().setUp()
        self.set_thinking(idle_interval=1e9, pause_notice=0)
        self.mira.db.profile = PERSONA
        self.pass_time(10)
        self.heard = self.capture(self.char1)

    def ask(self, words: str, *answers: str, seconds: float = 4.0) -> list[list[dict[str, Any]]]:
        """Let Tom talk to Mira, whose model gives these answers; return the messages sent."""
        before = len(self.fake.calls("/api/chat"))
        self.replies = [*answers, "> wait"] if answers else self.replies
        self.char1.execute_cmd(f"talk Mira {words}")
        self.pass_time(seconds)
        return [call.body["messages"] for call in self.fake.calls("/api/chat")[before:]]

    def acts(self) -> list[str]:
        """Return what Mira has said and done, from her window."""
        window = self.mind.memory.context().window
        return [each.text for each in window if each.kind is MemoryKind.ACT]
