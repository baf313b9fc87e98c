"""Random talks with whispers, in a small memory: no prompt has words that its readers may not know.

That is one property of all prompts: of a turn, whose answer its audience hears; and of summaries
and of the night, whose texts anybody may read.
"""

from __future__ import annotations

from dataclasses import replace

from keepsake.agent.agent_log import Sent
from keepsake.archive.privacy import Audience
from keepsake.archive.records import Memory
from keepsake.events.values import CompactReason
from tests.fakes.model_server import Call, llm_page
from tests.world.agents_world import SMALL_WINDOWS, FixedConfig, is_consent, prompt_text
from tests.world.prompt_checks import WORD, TalkInAnyOrder

THINKS = "You live in this world"
"""Part of the prompts of an agent that is awake."""


class TestPrivateHistories(TalkInAnyOrder):
    COMPACTION = SMALL_WINDOWS

    def setUp(self) -> None:
        super().setUp()
        self.audiences: list[tuple[Audience, frozenset[int], str]] = []
        log = self.mind.thinker.log
        begin = log.begin

        def remember(sent: Sent) -> None:
            turn = self.mind.thinker.turn
            assert turn is not None
            text = "\n".join(each.text for each in sent.request.messages)
            self.audiences.append((turn.context.audience, turn.context.replies, text))
            begin(sent)

        log.begin = remember
        self.fake.script = self.reply

    def models_page(self, **more: object) -> str:
        """A model answers, and writes the summaries."""
        model = f"provider=ollama host={self.fake.address} model=fake time_limit=60 form=chat"
        return llm_page(agent=model, summarizer=model)

    def reply(self, prompt: str) -> str:
        """Answer a turn; else repeat every word of the prompt, which a summary then has."""
        return self.answer() if THINKS in prompt else f"- {' '.join(WORD.findall(prompt))}"

    def calls(self) -> list[Call]:
        """Return the calls for answers, without those for summaries."""
        return [each for each in super().calls() if THINKS in prompt_text(each.body)]

    def by_word(self) -> dict[str, Memory]:
        return {word: memory for memory in self.memories() for word in WORD.findall(memory.text)}

    def test_no_prompt_has_private_words_that_its_readers_may_not_know(self):
        for turn in self.turns(60):
            if turn.number % 15 == 14:
                self.mind.compactions.compact(CompactReason.MANUAL)
                self.wait_for_compaction()
        self.services.sleeping = FixedConfig(
            replace(self.services.sleeping.current, profile="agent")
        )
        self.mind.sleeper.fall_asleep("a test said so")
        self.settle(lambda: not self.mind.sleeper.nights.working)
        known = self.by_word()
        private = {word: m for word, m in known.items() if m.confidants is not None}
        assert len(private) > 5
        shown = 0
        for audience, replies, text in self.audiences:
            for word in private.keys() & {*WORD.findall(text)}:
                memory = private[word]
                shown += 1
                may = bool(audience) and audience <= (memory.confidants or frozenset())
                assert may or memory.number in replies, f"{memory.line} to {sorted(audience)}"
        assert shown > 5, "those who know them are shown them"
        others = [
            text
            for each in (*self.fake.calls("/api/chat"), *self.fake.calls("/api/generate"))
            if THINKS not in (text := prompt_text(each.body)) and not is_consent(text)
        ]
        assert len(others) > 3
        for text in others:
            assert private.keys().isdisjoint(WORD.findall(text)), text
        summaries = self.mind.memory.memory.context()
        for each in (summaries.longterm, summaries.recent):
            if each is not None:
                assert private.keys().isdisjoint(WORD.findall(each.text))
