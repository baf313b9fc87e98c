"""Model profiles: how ``llm.md`` is read, and the defaults that follow from the model."""

from __future__ import annotations

from pathlib import Path

import pytest

from keepsake.errors import ConfigError
from keepsake.models.profiles import CHAT, DIALOGUE, ModelProfile, Profiles, load
from keepsake.ports import GenerationRequest
from tests.sentences import table


def test_requests_take_the_settings_of_their_profile(tmp_path: Path):
    (tmp_path / "llm.md").write_text("\n".join(table("a file of profiles")))
    profile = Profiles(tmp_path / "llm.md").get("agent")
    assert profile == ModelProfile(
        "agent",
        provider="ollama",
        host="http://127.0.0.1:9999",
        model="tiny",
        temperature=0.2,
        repeat_penalty=1.0,
        seed=7,
        context_tokens=2048,
        max_tokens=0,
    )
    request = profile.request(GenerationRequest("Hello"))
    assert (request.prompt, request.seed, request.temperature) == ("Hello", 7, 0.2)
    other = profile.request(GenerationRequest("Hello", stop=("\n",), max_tokens=5, temperature=1.0))
    assert (other.temperature, other.stop, other.max_tokens) == (1.0, ("\n",), 5)


@pytest.mark.parametrize(("wrong", "line", "reason"), table("wrong profiles"))
def test_wrong_values_are_refused_with_file_line_and_reason(
    tmp_path: Path, wrong: str, line: int, reason: str
):
    path = tmp_path / "llm.md"
    path.write_text(f"# Models\n## agent\n{wrong}\n## summarizer\n**max_tokens**: 9\n")
    with pytest.raises(ConfigError, match=reason) as caught:
        load(path)
    assert caught.value.path == path
    assert line <= caught.value.line <= line + 1


def test_a_profile_that_is_missing_is_said_of_the_whole_file(tmp_path: Path):
    path = tmp_path / "llm.md"
    path.write_text("## summarizer\n**max_tokens**: 9\n")
    with pytest.raises(ConfigError) as caught:
        load(path)
    assert str(caught.value).startswith(f"{path}: the profile 'agent' is missing")


def test_a_limit_without_a_value_is_that_of_the_model(tmp_path: Path):
    path = tmp_path / "llm.md"
    path.write_text("## agent\n**prompt_tokens**:\n## summarizer\n**max_tokens**: 9\n")
    assert load(path)["agent"].prompt_tokens == 0


def test_missing_settings_of_a_profile_follow_from_its_model(tmp_path: Path):
    path = tmp_path / "llm.md"
    path.write_text("## agent\n**time_limit**: 9\n## summarizer\n**max_tokens**: 9\n")
    line = load(path)["agent"].resolved(DIALOGUE, 32768)  # of chat: see test_gateway
    assert (line.prompt_tokens, line.max_tokens) == (8000, 60)
    own = "**form**: script\n**prompt_tokens**: 900\n**max_tokens**: 5"
    path.write_text(f"## agent\n{own}\n## summarizer\n**max_tokens**: 9\n")
    script = load(path)["agent"].resolved(CHAT, 4096)
    assert (script.form, script.prompt_tokens, script.max_tokens) == ("script", 900, 5)
