"""The examples for the training of a voice are rendered with the game's own prompt."""

from __future__ import annotations

import runpy
from typing import Any

from keepsake.paths import REPOSITORY
from keepsake.tasks.task_prompts import LOADERS

VOICE = REPOSITORY / "tools" / "voice"


def test_a_dialogue_becomes_prompts_that_end_where_the_character_answers():
    program: dict[str, Any] = runpy.run_path(str(VOICE / "examples.py"))
    prompts = LOADERS["prompts/talk.md"](program["TEMPLATE"])
    talk = next(program["dialogues"](sorted((VOICE / "dialogues").glob("*.txt"))[0]))
    made = list(program["examples"](talk, prompts))
    assert made
    assert all(prompt.endswith(f"\n{talk.scene.name}:") for prompt, _ in made)
    assert any(f"({talk.scene.name} remembers: " in prompt for prompt, _ in made)
