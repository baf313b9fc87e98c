"""Probes: what is planted can be asked for, and grading tells who knows it from who does not."""

import json

import pytest
from typer.testing import CliRunner

from keepsake.archive.privacy import is_private
from keepsake.cli.app import app
from keepsake.lab.evaluating import Living
from keepsake.lab.memories.plain import FullContext
from keepsake.lab.probes import KEPT, id_of, probe_trials
from keepsake.lab.trial import matches
from keepsake.memory.protocol import RecalledLine, Surroundings
from keepsake.ports import FixedClock

(QUIET, BUSY) = probe_trials(7)


@pytest.mark.parametrize("trial", [QUIET, BUSY], ids=lambda trial: trial.name)
def test_what_is_asked_for_was_said_once_before_it_is_asked(trial):
    told = {memory.number: memory for memory in trial.memories}
    assert trial in probe_trials(7)
    assert trial.memories not in [each.memories for each in probe_trials(8)]
    for question in trial.questions:
        if not question.answerable:
            continue
        (number,) = question.evidence
        having = [m.number for m in trial.memories if matches(question.right, m.text)]
        assert having == [number], question.id
        assert question.time - told[number].time == question.delay
        assert not matches(question.wrong, told[number].text)


def asked_of(memory, limit):
    clock = FixedClock(QUIET.memories[0].time)
    given = Surroundings(agent=QUIET.agent, folder=None, clock=clock)
    return list(Living(QUIET, memory(given), clock, given, limit).ask_all())


class Remembers(FullContext):
    """Recalls every line there is, whoever asks."""

    def recall(self, question, limit):
        return [RecalledLine(text, (number,)) for number, text in self._lines.items()]


def test_a_whisper_is_recalled_for_the_two_of_it_and_kept_from_others():
    askings = asked_of(Remembers, 10_000)
    whispers = {m.number for m in QUIET.memories if is_private(m)}
    assert whispers
    for asking in askings:
        own = whispers & set(asking.found)
        if asking.question.kind == KEPT:
            assert not own
        elif asking.question.kind == "secret":
            assert asking.question.evidence <= own
            assert asking.question.audience == {id_of(asking.question.asker)}


def test_the_command_shows_curves_and_writes_each_question(tmp_path):
    told = tmp_path / "probes.json"
    line = ["eval", "probes", "--memory", "sliding-window", "--load", "30", "--kinds"]
    result = CliRunner().invoke(app, [*line, "--json", str(told)])
    assert result.exit_code == 0, result.output
    assert "after a week" in result.output
    assert "overheard" in result.output
    (cell,) = json.loads(told.read_text())["cells"]
    assert {row["load"] for row in cell["rows"]} == {30}
