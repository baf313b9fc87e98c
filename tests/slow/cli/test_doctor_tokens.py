"""What the doctor says of the token budget."""

from __future__ import annotations

from pathlib import Path

import pytest

from keepsake.cli import doctor, home
from keepsake.paths import Places, places


@pytest.fixture
def here(tmp_path: Path) -> Places:
    made = places(
        {"KEEPSAKE_HOME": str(tmp_path / "home"), "KEEPSAKE_VAULT": str(tmp_path / "vault")}
    )
    home.prepare(made)
    return made


def agent(here: Places, *settings: str) -> None:
    lines = "\n".join(f"**{each}" for each in settings)
    (here.config / "llm.md").write_text(
        f"## agent\n{lines}\n## summarizer\n**provider**: extractive\n"
    )


def test_an_answer_longer_than_its_reserve_is_named(here: Places):
    agent(here, "max_tokens**: 300")
    (finding,) = doctor.budget(here)
    assert not finding.well
    assert "300 tokens, and 256" in finding.what
    assert "reserve_tokens" in finding.cure


@pytest.mark.parametrize(
    ("context", "given", "well"),
    [(4096, "", True), (8192, "", True), (8192, "8192", True), (4096, "2048", False)],
)
def test_a_prompt_that_ollama_would_cut_is_named(
    here: Places, context: int, given: str, well: bool
):
    told = [f"context_tokens**: {given}"] if given else []
    agent(here, "provider**: ollama", "model**: gemma3:4b", *told)
    (here.config / "memory_compaction.md").write_text(f"**context_tokens**: {context}\n")
    (finding,) = doctor.budget(here)
    assert finding.well is well
    if not well:
        assert f"**context_tokens**: {context}" in finding.cure
        assert f"{int(given):,}" in finding.what


def test_a_prompt_that_the_embedded_model_would_refuse_is_named(here: Places):
    (here.config / "memory_compaction.md").write_text("**context_tokens**: 8193\n")
    (finding,) = doctor.budget(here)
    assert "8,193 tokens, and the agents' model looks at 8,192" in finding.what
    assert finding.cure.endswith("to 8192")
