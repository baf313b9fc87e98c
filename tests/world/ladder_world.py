"""A world in which a test sets the budget of Mira's prompts, and fills it with talk.

Gateway, client and summaries are real; summaries are extractive unless a test says otherwise.
The scripted model counts one token for each word.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partialmethod

from keepsake.memory import history
from keepsake.memory.config import CompactionConfig
from tests.log_lines import LogLines
from tests.sentences import table
from tests.world.agents_world import AgentsWorld, FixedConfig

WHO, WHAT, WHERE = table("who brings what from where")
ROOM = 1600
"""Tokens of a prompt that has room for some twenty lines."""


class LadderWorld(AgentsWorld):
    """Mira with a budget that a test can set."""

    def setUp(self):
        super().setUp()
        self.logged = self.enterContext(LogLines())

    def budget(self, **values):
        """Change settings of ``memory_compaction.md``."""
        usual = {"immediate_window": 200, "recent_window": 200, "min_saving_tokens": 1}
        self.services.compaction = FixedConfig(CompactionConfig(**{**usual, **values}))

    def limit(self, prompt_tokens):
        """Let a prompt have so many tokens; 0 for as many as the model can read."""
        given = {"prompt_tokens": prompt_tokens} if prompt_tokens else {}
        (self.services.places.config / "llm.md").write_text(self.models_page(**given))
        self.services.update_limits()  # as the housekeeping does

    def fill(self, share, prompt_tokens):
        """Let Mira listen until her prompt takes this share of its budget."""
        self.limit(prompt_tokens)
        self.budget(recent_window=10_000, high=9.0, sleep=9.0, emergency=9.0)
        self.ask("Good day.")
        self.mira.db.paused = True
        number = 0
        while self.load().share < share:
            number += 1
            self.chatter(4)
            assert number < 500
        self.settle()
        self.mira.attributes.remove("paused")

    def summarizer(self, make):
        """Let ``make``, called in a worker thread, return the summarizer."""
        compacting = self.mind.memory.memory.compactor
        real = compacting._host.summarizer
        compacting._host = replace(compacting._host, summarizer=lambda _: make(real))

    def chatter(self, count):
        """Let Tom and Char2 say different lines about other people."""
        for number in range(count):
            who, what, where = (words[number % len(words)] for words in (WHO, WHAT, WHERE))
            line = f"{who} brought {number + 2} casks of {what} {where}, and then left for home."
            # By two people, because all that a single person says would be addressed to Mira.
            (self.char1, self.char2)[number % 2].execute_cmd(f"say {line}")
            self.wait_for_compaction()

    def load(self):
        return self.mind.memory.memory.load()

    ask = partialmethod(AgentsWorld.ask, seconds=2.0)

    def compactions(self):
        return history.compactions(self.mind.memory.memory.archive)
