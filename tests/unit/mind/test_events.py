"""Events: their agent ids, the documentation of their fields, and secrets that are removed."""

from __future__ import annotations

import inspect
import re
from dataclasses import fields

import pytest

from keepsake.agent.agent_log import known_secrets
from keepsake.events.files import events
from keepsake.events.log import EventLog, Subscribers
from keepsake.events.secrets import HIDDEN, Scrubber
from keepsake.events.types import KINDS, Fault, Thought
from keepsake.events.values import FaultLevel, ThoughtOutcome, Urgency
from keepsake.paths import REPOSITORY, Places, Ports
from tests.sentences import table


def thought(agent):
    command = f"say I am {agent}."
    return Thought(
        agent=agent,
        trigger="idle",
        priority=Urgency.IDLE,
        outcome=ThoughtOutcome.ACTED,
        command=command,
        total=1,
    )


def test_the_agent_id_identifies_an_agent_after_a_rename(tmp_path):
    subscribers = Subscribers()
    subscribers.agent_ids["Mira"] = 7
    log = EventLog(tmp_path, subscribers=subscribers)
    log.emit(thought("Mira"))
    subscribers.agent_ids |= {"Myra": 7, "Mira": 8}
    log.emit(thought("Myra"))
    log.emit(thought("Mira"))
    log.emit(Fault(level=FaultLevel.ERROR, text="something is wrong", agent="Mira"))
    log.close()
    assert [each["agent_id"] for each in events(tmp_path)] == [7, 7, 8, 8]


@pytest.mark.parametrize("kind", KINDS.values(), ids=list(KINDS))
def test_every_field_and_kind_of_event_is_documented(kind):
    page = (REPOSITORY / "docs" / "events.md").read_text(encoding="utf-8")
    assert f"| `{kind.kind}` |" in page
    source = "".join(map(inspect.getsource, reversed(kind.__mro__[:-1])))
    for field in fields(kind):
        assert re.search(rf"#: .*\n    {field.name}: |\n    {field.name}: .*#: ", source), (
            field.name
        )


KEY = 'sk-live-"quoted"-4f9a'


@pytest.mark.parametrize("line", table("logins"))
def test_a_typed_password_is_hidden(line):
    cleaned = Scrubber().clean(line)
    for secret in ("c67jhl8p", "and more"):
        assert secret not in cleaned.casefold()
    assert HIDDEN in cleaned
    assert cleaned.count("\n") == line.count("\n")


def test_secrets_of_the_environment_and_the_home_are_hidden(tmp_path, monkeypatch):
    places = Places(tmp_path, tmp_path / "vault", Ports(21000))
    for number, path in enumerate((places.admin_password, places.secret_key)):
        path.write_text(f"of-the-home-{number}\n")
    for name in ("KEEPSAKE_OPENAI_API_KEY", "KEEPSAKE_METRICS_TOKEN"):
        monkeypatch.setenv(name, f"{KEY} {name}")
    scrubber = Scrubber(known_secrets(places))
    line = f"of-the-home-0 of-the-home-1 {KEY} KEEPSAKE_OPENAI_API_KEY {KEY} KEEPSAKE_METRICS_TOKEN"
    assert scrubber.clean(line) == " ".join([HIDDEN] * 4)


@pytest.mark.parametrize("line", table("speech without passwords"))
def test_ordinary_speech_is_kept(line):
    assert Scrubber([KEY]).clean(line) == line


@pytest.mark.parametrize(("head", "part", "times", "tail"), table("lines to backtrack in"))
def test_no_line_makes_the_patterns_backtrack(head, part, times, tail):
    """A pattern that backtracks takes minutes for these lines; others take milliseconds."""
    assert len(Scrubber().clean(head + part * times + tail)) > 0
