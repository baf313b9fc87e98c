"""What may never stand in the event log, and what must not be taken for it."""

import pytest

from keepsake.events.files import events
from keepsake.events.log import EventLog
from keepsake.events.prompts import prompt_text
from keepsake.events.secrets import HIDDEN, Scrubber
from keepsake.events.types import Fault, Health, Recalled, Thought
from tests.sentences import table

KEY = 'sk-live-"quoted"-4f9a'


@pytest.mark.parametrize("line", [*table("logins"), *table("own passwords")])
def test_a_password_is_hidden_whatever_it_looks_like(line):
    cleaned = Scrubber().clean(line)
    for secret in ("c67jhl8p", "and more", "correcthorse"):
        assert secret not in cleaned.casefold()
    assert HIDDEN in cleaned
    assert cleaned.count("\n") == line.count("\n")


@pytest.mark.parametrize("line", table("no passwords"))
def test_what_is_only_said_stays(line):
    assert Scrubber([KEY]).clean(line) == line


def test_no_field_of_any_event_lets_a_secret_in(tmp_path):
    log = EventLog(tmp_path, secrets=[KEY])
    login = "connect Tom c67jHL8p"
    log.emit(
        Thought(
            agent="Mira",
            trigger="addressed",
            priority="player",
            outcome="refused",
            prompt=f'who she is: {KEY}\nTom says, "{login}"\n~Mira>',
            answer=f"say {login}",
            command=f"say {login}",
            reason=f"he said {KEY}",
            problem=f"refused: {KEY!r}",
            recalled=(Recalled(kind="note", title="my c67jHL8p", why="words: c67jhl8p, soup"),),
        )
    )
    log.emit(Fault(level="error", text=f"HTTP 401: Bearer {KEY} was refused"))
    log.emit(Health(provider="openai", host=f"http://u:{KEY}@h", ready=False, problem=KEY))
    assert log.flush()
    (thought, *_) = events(tmp_path)
    text = prompt_text(tmp_path, thought["prompt"], thought["seq"])
    log.close()
    assert text == f'who she is: {HIDDEN}\nTom says, "connect Tom {HIDDEN}"\n~Mira>'
    for path in tmp_path.iterdir():
        found = path.read_text()
        assert "sk-live" not in found
        assert "4f9a" not in found
        assert "c67jhl8p" not in found.casefold()


@pytest.mark.parametrize(
    "line",
    [
        "password" + " " * 20_000,
        "password" + " " * 20_000 + "x = y",
        "password " * 2_000,
        "my " * 5_000 + "password",
        "my password is" + " " * 20_000,
        "my " + "a" * 20_000 + " password is",
        "password " + "a " * 5_000,
        "connect " * 3_000,
        "connect " + "a" * 20_000,
        "connect Tom" + "\u00a0" * 20_000 + "c67jHL8p",
        'password:""' + " " * 20_000 + "x",
        "://" * 5_000,
    ],
)
def test_no_line_keeps_the_log_waiting(line):
    """What backtracks takes minutes for these; the others some milliseconds."""
    assert len(Scrubber().clean(line)) > 0
