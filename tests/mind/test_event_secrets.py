"""What may never stand in the event log, and what must not be taken for it."""

import re
import sys
from functools import cache
from random import Random

import pytest

from keepsake.events.log import EventLog
from keepsake.events.prompts import PromptStore
from keepsake.events.reader import events
from keepsake.events.secrets import HIDDEN, Scrubber, secrets_in
from keepsake.events.types import Fault, Health, MemoryChange, Recall, Recalled, Thought
from keepsake.events.writer import LONGEST

KEY = 'sk-live-"quoted"-4f9a'


@pytest.mark.parametrize(
    "line",
    [
        "connect Tom c67jHL8p",
        "create Tom c67jHL8p",
        "CONNECT Tom c67jHL8p  ",
        'create "Old Tom" "c67jHL8p and more"',
        'Tom says, "connect Tom c67jHL8p"',
        'Tom says to you, "create Tom c67jHL8p."',
        "~Mira> say connect Tom c67jHL8p | he told me",
        "co Tom c67jHL8p",
        "Tom told you: 'connect Tom c67jHL8p' (memory 2).",
        "cr Tom c67jHL8p",
        "password old-one = c67jHL8p",
        "@password old-one=c67jHL8p",
        '@userpassword Tom = c67jHL8p" and so on',
        "first\nconnect Tom c67jHL8p\nlast",
        "connect Tom c67jHL8p please, and hurry",
        "connect\u00a0Tom\u2003c67jHL8p",
        "create Tom c67jHL8p c67jHL8p",
        "connect Tom c67jHL8p, I said C67JHL8P!",
        "@password c67jHL8p = an-other-1",
        "my password is c67jHL8p, but tell nobody",
        "Password: “c67jHL8p”",
        "the pwd c67jHL8p",
        "my pw is c67jHL8p",
    ],
)
def test_what_somebody_logs_in_with_is_hidden(line):
    cleaned = Scrubber().clean(line)
    assert "c67jHL8p" not in cleaned
    assert "and more" not in cleaned
    assert "c67jhl8p" not in cleaned.casefold()
    assert HIDDEN in cleaned
    assert cleaned.count("\n") == line.count("\n")


@pytest.mark.parametrize(
    "line",
    [
        'Tom says, "My password is correcthorsebattery"',
        "her login password: correcthorsebattery, she said",
        "Tom’s passphrase is 'correcthorsebattery'",
        "your pw = correcthorsebattery",
    ],
)
def test_what_somebody_calls_their_own_password_is_hidden_whatever_it_looks_like(line):
    scrubber = Scrubber()
    cleaned = scrubber.clean(line)
    assert "correcthorse" not in cleaned
    assert HIDDEN in cleaned
    assert scrubber.clean_words("words: correcthorsebattery") == f"words: {HIDDEN}"


def test_a_password_that_was_heard_is_known_from_then_on():
    scrubber = Scrubber()
    told = "who she is\nTom: your c67jHL8p is noted"
    assert scrubber.clean(told) == told
    scrubber.clean('Tom says, "connect Tom c67jHL8p"')
    scrubber.clean("create something beautiful")
    assert scrubber.clean(told) == f"who she is\nTom: your {HIDDEN} is noted"
    assert scrubber.clean("a beautiful day") == "a beautiful day"


@pytest.mark.parametrize(
    "line",
    [
        'Tom says, "Connect the pipes to the boathouse before the frost comes."',
        "say create a garden of your own here, where everybody passes",
        "The password is known to the ferryman alone.",
        "My password is old, and his was changed.",
        "The pw was forgotten.",
        "The password was changed in 1905, and the passport too.",
        "say connect the 12 pipes of the 24 houses",
        "say I create little.",
        "Here: Mira. Exits: north to Pump Square.",
        "see https://example.org/a@b for more",
    ],
)
def test_what_is_only_said_stays(line):
    assert Scrubber([KEY]).clean(line) == line


def test_names_and_passwords_in_addresses_are_hidden():
    told = "no answer from https://tom:c67jHL8p@models.example:8000/v1 (refused)"
    assert (
        Scrubber().clean(told)
        == f"no answer from https://{HIDDEN}@models.example:8000/v1 (refused)"
    )


def test_secrets_are_those_that_are_called_so():
    environ = {
        "KEEPSAKE_OPENAI_API_KEY": KEY,
        "OPENAI_API_KEY": "sk-other-one",
        "HF_TOKEN": "hf_abcdef",
        "DB_PASSWORD": "swordfish",
        "PATH": "/usr/bin",
        "KEEPSAKE_HOME": "/home/tom",
    }
    assert set(secrets_in(environ)) == {KEY, "sk-other-one", "hf_abcdef", "swordfish"}


@cache
def _letters():
    """All that is taken for one of our letters where capitals do not count."""
    signs = map(chr, {*range(sys.maxunicode + 1)} - {*range(0xD800, 0xE000)})
    return re.findall("[a-z]", "".join(signs), re.IGNORECASE)


_VERBS = ("connect", "conn", "con", "co", "create", "cre", "cr")
_NOUNS = ("password", "passwd", "passphrase", "passcode", "pwd", "pw", "@password old =")


@pytest.mark.parametrize("head", [*(f"{verb} Tom" for verb in _VERBS), *_NOUNS])
def test_however_its_words_are_written_a_password_is_found(head):
    """The quick look, which spares most lines the thorough one, must see all that that sees."""
    for place, sign in enumerate(head):
        others = [each for each in _letters() if re.fullmatch(sign, each, re.IGNORECASE)]
        for other in others if sign.isalpha() else ():
            line = f"{head[:place]}{other}{head[place + 1 :]} c67jHL8p"
            assert "c67jHL8p" not in Scrubber().clean(line), line


def test_a_secret_of_several_lines_is_found_by_its_lines():
    key = "-----BEGIN KEY-----\nMC4CAQAwBQYDK2Vw\n-----END KEY-----\n"
    told = f"who she is\n{key}Tom: MC4CAQAwBQYDK2Vw, is it not?"
    cleaned = Scrubber([key]).clean(told)
    assert "MC4CAQAwBQYDK2Vw" not in cleaned
    assert cleaned.startswith("who she is\n")


def test_a_password_is_hidden_above_the_line_that_tells_that_it_is_one():
    told = 'Tom: mind c67jHL8p\nTom says, "connect Tom c67jHL8p"'
    cleaned = f'Tom: mind {HIDDEN}\nTom says, "connect Tom {HIDDEN}"'
    assert Scrubber().clean(told) == cleaned
    scrubber = Scrubber()
    before = scrubber.clean_grown("Tom: mind c67jHL8p\n", None)
    assert scrubber.clean_grown(told, before).text == cleaned


_SAID = (
    "who she is, and all that she may do",
    "Tom says to you, 'Good evening.'",
    "connect Tom c67jHL8p",
    "connect Tom c67jHL",
    f"he showed {KEY} to me",
    "the c67jHL8p is noted",
    "my password is",
    "hunter22",
    "",
)


@pytest.mark.parametrize("seed", range(40))
def test_a_prompt_that_has_grown_is_as_clean_as_one_that_is_looked_at_whole(seed):
    """Lines come, go and are cut in their middle, so that secrets fall on every border."""
    random, quick, thorough = Random(seed), Scrubber([KEY]), Scrubber([KEY])
    text, before = "", None
    for _ in range(60):
        text = text[: random.randrange(len(text) // 2, len(text) + 1)]
        text += random.choice(("", "\n", "\n\n"))
        text += "\n".join(random.choices(_SAID, k=random.randrange(4)))
        before = quick.clean_grown(text, before)
        assert before.text == thorough.clean(text)
        assert KEY not in before.text
    assert before.raw == text


def test_a_short_secret_is_not_looked_for():
    assert Scrubber(["a", "", "key"]).clean("a key") == "a key"


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
        )
    )
    log.emit(Fault(level="error", text=f"HTTP 401: Bearer {KEY} was refused"))
    log.emit(Health(provider="openai", host=f"http://u:{KEY}@h", ready=False, problem=KEY))
    assert log.flush()
    (thought, *_) = events(tmp_path)
    text = PromptStore(tmp_path).text(thought["prompt"])
    log.close()
    assert text == f'who she is: {HIDDEN}\nTom says, "connect Tom {HIDDEN}"\n~Mira>'
    for path in tmp_path.iterdir():
        found = path.read_text()
        assert "sk-live" not in found
        assert "4f9a" not in found
        assert "c67jHL8p" not in found


def test_what_an_index_makes_of_a_password_is_hidden_too(tmp_path):
    log = EventLog(tmp_path)
    said = "Tom: connect Tom c67jHL8p\nAda: create Ada swordfish\nThe Inn"
    log.emit(Recall(agent="Mira", by="thought", question=said))
    recalled = Recalled(
        kind="note", title="my c67jHL8p", score=1.0, why="words: c67jhl8p, Swordfish, soup"
    )
    log.emit(
        Thought(
            agent="Mira", trigger="idle", priority="idle", outcome="acted", recalled=(recalled,)
        )
    )
    log.emit(MemoryChange(agent="Mira", op="note", n=0, title="C67JHL8P"))
    assert log.flush()
    search, thought, note = events(tmp_path)
    log.close()
    assert search["question"] == (f"Tom: connect Tom {HIDDEN}\nAda: create Ada {HIDDEN}\nThe Inn")
    assert thought["recalled"] == [
        {
            "kind": "note",
            "n": 0,
            "title": f"my {HIDDEN}",
            "score": 1.0,
            "why": f"words: {HIDDEN}, {HIDDEN}, soup",
        }
    ]
    assert note["title"] == HIDDEN


def test_a_secret_is_found_in_a_text_that_is_cut(tmp_path):
    log = EventLog(tmp_path, secrets=[KEY])
    page = "x" * (LONGEST - 5) + KEY + "y" * LONGEST
    log.emit(Fault(level="error", text=page))
    log.emit(Fault(level="error", text="short"))
    assert log.flush()
    long, short = events(tmp_path)
    log.close()
    assert "sk-li" not in long["text"]
    assert len(long["text"]) < LONGEST + 40
    assert long["text"].endswith(f"… ({len(page):,} characters)")
    assert short["text"] == "short"


def test_nobody_can_slow_it_down_with_passwords():
    """What is known is bounded, so a line costs no more than so many looks."""
    scrubber = Scrubber()
    for n in range(3_000):
        scrubber.clean(f"connect Tom word{n:06}")
        scrubber.clean(f"connect Tom word{chr(97 + n % 26) * (8 + n // 26)}")
    assert len(scrubber._heard) <= 500
    assert len(scrubber._suspects) <= 500
    assert scrubber.clean("connect Tom c67jHL8p") == f"connect Tom {HIDDEN}"


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
