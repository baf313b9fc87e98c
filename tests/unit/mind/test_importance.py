"""How much a memory matters without a model, and what outlives summaries because it does."""

from __future__ import annotations

from dataclasses import replace

import pytest

from keepsake.archive.records import POSE, SCENE, Memory
from keepsake.books.journal import importance
from keepsake.books.person_page import line_of
from keepsake.language.heard import GIVE
from tests.unit.mind.journals import did, result, seen, told

SHORT, LONG = (
    "I see.",
    "My sister sails on Friday, and none of us knows when she will be back again.",
)


@pytest.mark.parametrize(
    ("memory", "score"),
    [
        (seen(1, "Tom arrives from the north.", event="traverse"), 1),
        (seen(1, "Rain falls.", ""), 1),
        (result(1, "You see a lamp."), 1),
        (result(1, "You recall: my brother died."), 1),
        (did(1, "look"), 1),
        (seen(1, "Tom waves.", event=SCENE), 1),
        (seen(1, f'Tom says to Ada, "{SHORT}"'), 2),
        (did(1, f"say {SHORT}"), 3),
        (seen(1, "Tom waves.", event="pose"), 3),
        (told(1, SHORT), 4),
        (told(1, "你好，我的妹妹去世了。"), 4),
        (told(1, LONG), 5),
        (told(1, LONG * 3), 6),
        (result(1, "You give a honey jar to Tom."), 6),
        (seen(1, "Tom gives you a blue cup."), 7),
        (seen(1, "Tom puts the bell back.", event="deed", importance=9), 9),
    ],
)
def test_the_form_of_a_memory_tells(memory: Memory, score: int):
    assert importance(memory, "Mira") == score


def test_a_played_gift_weighs_and_says_no_more_than_any_pose():
    pose = replace(seen(1, "Tom gives you a golden crown."), event=POSE)
    assert importance(pose, "Mira") == 3
    assert line_of(pose) is None
    assert pose.is_repeated_by(replace(pose, number=2))
    given = replace(pose, number=2, event=GIVE)
    assert line_of(given)
    assert not pose.is_repeated_by(given)
