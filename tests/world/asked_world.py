"""A world whose agents are asked short questions."""

from __future__ import annotations

from datetime import UTC, datetime

from keepsake.agent.surroundings.identity import identity_of
from tests.world.web_world import WebWorld

NOON = datetime(2026, 5, 9, 12, tzinfo=UTC)
SECRET = "The bell lies under the jetty."
LADLE = "On its hook, where Jo left it."


class AskedWorld(WebWorld):
    """Tom and Jo have talked with Mira, and Tom whispered to her; Ada was there."""

    def setUp(self):
        super().setUp()
        self.ada = self.add_agent("Ada")
        self.ada.db.paused = True
        self.jo = self.add_player(7, "Jo")
        self.ask("My brother Edwin mends nets in Ostrey.", "> say Then he has good hands.")
        self.ask("Where is the ladle?", f"> say {LADLE}", who=self.jo)
        self.replies = ["> wait"]
        self.char1.execute_cmd(f"whisper Mira = {SECRET}")
        self.pass_time(1.5)
        self.tom = identity_of(self.char1)

    def answer_to(self, of, about="", agent=None, status=200):
        """Return the lines of a short answer about Mira, as pairs of label and text."""
        number = (agent or self.mira).id
        found = self.get(f"/agents/{number}/answer", status, of=of, about=about)
        return found["error"] if status != 200 else found["lines"]

    def offered(self, words, **query):
        """Return the questions that words may mean."""
        return [each["question"] for each in self.get("/asked", q=words, **query)]

    def ahead(self):
        return [(each["label"], each["text"]) for each in self.answer_to("next")]
