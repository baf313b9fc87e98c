"""Whose an event is, what is said of its fields, and which secrets stay out."""

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
from keepsake.paths import REPOSITORY, Places, Ports
from tests.sentences import table


def thought(agent):
    command = f"say I am {agent}."
    return Thought(
        agent=agent, trigger="idle", priority="idle", outcome="acted", command=command, total=1
    )


def test_the_id_says_whose_an_event_is_whatever_they_are_called(tmp_path):
    subscribers = Subscribers()
    subscribers.agent_ids["Mira"] = 7
    log = EventLog(tmp_path, subscribers=subscribers)
    log.emit(thought("Mira"))
    subscribers.agent_ids |= {"Myra": 7, "Mira": 8}
    log.emit(thought("Myra"))
    log.emit(thought("Mira"))
    log.emit(Fault(level="error", text="Mira: something is wrong"))
    log.close()
    assert [each["agent_id"] for each in events(tmp_path)] == [7, 7, 8, 8]


@pytest.mark.parametrize("kind", KINDS.values(), ids=list(KINDS))
def test_every_field_is_described_and_the_page_has_every_kind(kind):
    page = (REPOSITORY / "docs" / "events.md").read_text(encoding="utf-8")
    assert f"| `{kind.kind}` |" in page
    source = "".join(map(inspect.getsource, reversed(kind.__mro__[:-1])))
    for field in fields(kind):
        assert re.search(rf"#: .*\n    {field.name}: |\n    {field.name}: .*#: ", source), (
            field.name
        )


KEY = 'sk-live-"quoted"-4f9a'


@pytest.mark.parametrize("line", table("logins"))
def test_a_password_is_hidden_whatever_it_looks_like(line):
    cleaned = Scrubber().clean(line)
    for secret in ("c67jhl8p", "and more"):
        assert secret not in cleaned.casefold()
    assert HIDDEN in cleaned
    assert cleaned.count("\n") == line.count("\n")


def test_keys_of_the_environment_and_what_the_home_keeps_are_known(tmp_path, monkeypatch):
    places = Places(tmp_path, tmp_path / "vault", Ports(21000))
    for number, path in enumerate((places.admin_password, places.secret_key)):
        path.write_text(f"of-the-home-{number}\n")
    for name in ("KEEPSAKE_OPENAI_API_KEY", "KEEPSAKE_METRICS_TOKEN"):
        monkeypatch.setenv(name, f"{KEY} {name}")
    scrubber = Scrubber(known_secrets(places))
    line = f"of-the-home-0 of-the-home-1 {KEY} KEEPSAKE_OPENAI_API_KEY {KEY} KEEPSAKE_METRICS_TOKEN"
    assert scrubber.clean(line) == " ".join([HIDDEN] * 4)


@pytest.mark.parametrize("line", table("no passwords"))
def test_what_is_only_said_stays(line):
    assert Scrubber([KEY]).clean(line) == line


@pytest.mark.parametrize(("head", "part", "times", "tail"), table("lines to backtrack in"))
def test_no_line_keeps_the_log_waiting(head, part, times, tail):
    """What backtracks takes minutes for these; the others some milliseconds."""
    assert len(Scrubber().clean(head + part * times + tail)) > 0
