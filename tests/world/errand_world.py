"""A world in which an agent is sent to somebody by a whisper."""

from __future__ import annotations

from tests.world.plans_world import PlansWorld

ASKED = '{"line": 1, "answer": "asked"}'
NOTHING = '{"line": 0, "answer": "nothing"}'
ERRAND = "Go to Bram at the quay and ask him in his ear whether the seal is dry."


class ErrandWorld(PlansWorld):
    """Tom, alone with Mira, sends her to Bram by a whisper. Ada is at the Quay, too."""

    consent: str

    def setUp(self) -> None:
        super().setUp()
        self.char2.move_to(self.add_room("The Loft"), quiet=True)
        self.heard_by_ada = self.bram_and_ada_at_the_quay()
        self.heard_by_bram = self.capture(self.bram)

    def sent_by_whisper(self, *answers: str, words: str = ERRAND) -> None:
        """Let Tom whisper, and Mira answer so."""
        self.replies = [*answers, "> wait"]
        self.char1.execute_cmd(f"whisper Mira = {words}")
        self.pass_minutes(1)

    def told(self, heard: list[str]) -> list[str]:
        """Return what Mira was heard to say among lines."""
        return [each for each in heard if each.startswith("Mira ") and '"' in each]
