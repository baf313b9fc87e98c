"""How items spread through made archives: paths, whispers, inventions."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from keepsake.lab.simulations.diffusion import spread_of
from keepsake.tracing.bases import Link
from keepsake.tracing.paths import Step
from tests.unit.lab.made_village import BONFIRE, MadeVillage

COME = "Come to my bonfire on Tuesday!"


def spread(village, item=BONFIRE):
    return spread_of(item, village.record())


def links(path):
    """Return the path as agents, memories and links."""
    return [(step.agent, step.memory, step.step, step.rests_on, step.link) for step in path]


def test_a_path_goes_back_to_the_one_that_was_given_the_item():
    village = MadeVillage("Bram", "Mira", "Nell", "Wren")
    given = village.give("Bram")
    village.say("Bram", COME, ["Mira"], to="Mira", rests_on=(given,))
    village.now += timedelta(hours=1)
    told = village.say("Mira", "Bram lights a bonfire.", ["Nell"], to="Nell")
    village.think("Mira", told, recent=0, total=1)
    found = spread(village)
    assert found.paths.keys() == {"Bram", "Mira", "Nell"}
    assert links(found.paths["Nell"]) == [
        ("Bram", 1, Step.GIVEN, 0, None),
        ("Bram", 2, Step.SAID, 1, Link.RESTS_ON),
        ("Mira", 1, Step.HEARD, 0, None),
        ("Mira", 2, Step.SAID, 1, Link.WINDOW),
        ("Nell", 1, Step.HEARD, 0, None),
    ]
    assert found.paths["Nell"][1].happening == found.paths["Nell"][2].happening
    assert found.knows_by(village.now - timedelta(minutes=1)) == {"Bram", "Mira"}
    assert (found.invented, found.misled, found.wordless) == ((), frozenset(), ())


def test_a_whisper_ends_at_its_hearer():
    """A bystander sees that something is whispered, and the hearer keeps it."""
    village = MadeVillage("Wren", "Bram", "Mira")
    given = village.give("Bram")
    village.say(
        "Bram", COME, ["Mira"], to="Mira", whisper=True, seen_by=["Wren"], rests_on=(given,)
    )
    village.say("Mira", "I say nothing.", ["Wren"], to="Wren", rests_on=(1,))
    found = spread(village)
    assert found.paths.keys() == {"Bram", "Mira"}
    # The words rest on the whisper, but do not say it.
    assert [(each.agent, each.text) for each in found.wordless] == [("Mira", "I say nothing.")]


def test_who_says_it_without_a_path_has_invented_it_and_misleads():
    village = MadeVillage("Bram", "Mira", "Nell")
    village.give("Bram")
    village.say("Mira", "There will be a bonfire, I think.", ["Nell"])
    village.say("Nell", "Mira speaks of a bonfire.", ["Bram"], rests_on=(1,))
    found = spread(village)
    assert found.paths.keys() == {"Bram"}
    assert [each.agent for each in found.invented] == ["Mira", "Nell"]
    assert found.misled == {"Nell"}


def test_an_invention_that_is_told_the_truth_later_knows_it_from_then_on():
    village = MadeVillage("Bram", "Mira")
    given = village.give("Bram")
    village.say("Mira", "A bonfire would be nice.", ["Bram"])
    village.say("Bram", COME, ["Mira"], rests_on=(given,))
    found = spread(village)
    assert len(found.invented) == 1
    assert found.paths.keys() == {"Bram", "Mira"}
    assert found.misled == frozenset()


def test_words_of_a_player_have_no_known_path():
    village = MadeVillage("Bram", "Mira")
    village.give("Bram")
    village.hear_player("Mira", "Are you coming to the bonfire?")
    found = spread(village)
    assert found.paths.keys() == {"Bram"}
    assert [each.text for each in found.untraced] == ["Tom: Are you coming to the bonfire?"]
    assert found.misled == frozenset()


def test_the_order_of_archives_and_equal_times_do_not_matter():
    """The hearers' archives come first, and all happens at one moment."""
    village = MadeVillage("Nell", "Mira", "Bram")
    given = village.give("Bram")
    village.say("Bram", COME, ["Mira"], rests_on=(given,))
    village.say("Mira", "A bonfire, Nell!", ["Nell"], rests_on=(1,))
    assert spread(village).paths.keys() == {"Bram", "Mira", "Nell"}


def test_two_archives_that_wait_for_each_other_are_read_to_their_ends():
    village = MadeVillage("Bram", "Mira")
    village.say("Bram", "Well.", ["Mira"])
    village.say("Mira", "Well, well.", ["Bram"])
    for memories in village.memories.values():  # as if they had been edited by hand
        memories.reverse()
    village.give("Bram")
    assert spread(village).paths.keys() == {"Bram"}


def test_each_link_says_how_it_is_known():
    village = MadeVillage("Bram", "Mira")
    village.give("Bram")
    acts = [village.say("Bram", f"Bonfire {n}", ["Mira"]) for n in range(4)]
    recalled = [{"kind": "memory", "n": 1}]
    village.think("Bram", acts[0], recent=1, total=1, recalled=recalled)
    village.think("Bram", acts[1], recent=1, total=2, compaction=3, longterm=1)
    village.think("Bram", acts[2], recent=1, total=3)  # neither in the window nor in a summary
    found = [link_of(village, telling) for telling in range(4)]
    assert found == [Link.RECALLED, Link.SUMMARY, Link.EARLIER, Link.EARLIER]


def link_of(village, telling):
    """Return the link of one telling: that of the path of Mira, if she heard only that."""
    alone = MadeVillage("Bram", "Mira")
    alone.memories["Bram"] = village.memories["Bram"]
    alone.memories["Mira"] = village.memories["Mira"][telling : telling + 1]
    alone.log = village.log
    return spread(alone).paths["Mira"][1].link


def test_news_told_by_rule_has_its_chain():
    village = MadeVillage("Bram", "Mira", "Nell")
    village.give("Bram")
    village.tell_news("Bram", "I saw it: a bonfire.", "Mira", "Bram 1")
    village.tell_news("Mira", "Bram tells me: a bonfire.", "Nell", "Bram 1", "Mira 1")
    path = spread(village).paths["Nell"]
    assert [step.link for step in path if step.step is Step.SAID] == [Link.RESTS_ON] * 2


def test_words_in_a_language_that_the_hearer_does_not_speak_are_not_known():
    """The happening is the same, but the hearer's archive has other words for it."""
    village = MadeVillage("Bram", "Mira")
    given = village.give("Bram")
    village.say("Bram", COME, ["Mira"], rests_on=(given,))
    (heard,) = village.memories["Mira"]
    garbled = "Bram says something in Dutch."
    village.memories["Mira"] = [replace(heard, what=replace(heard.what, words=garbled))]
    assert spread(village).paths.keys() == {"Bram"}


def test_what_is_claimed_in_the_interview_without_a_path_is_invented():
    village = MadeVillage("Bram", "Mira", "Nell")
    given = village.give("Bram")
    village.say("Bram", COME, ["Mira"], rests_on=(given,))
    village.answer("Mira", "item", 1, "Bram, to his bonfire.", item="bonfire")
    village.answer("Nell", "item", 1, "Yes, to a bonfire.", item="bonfire")
    village.answer("Bram", "item", 1, "", item="bonfire", problem="the answer was empty")
    found = spread(village)
    assert found.says == {"Mira": True, "Nell": True}
    (claim,) = found.invented
    assert (claim.agent, claim.memory, claim.time) == ("Nell", 0, None)


def test_an_item_that_nobody_got_is_not_known_by_anybody():
    found = spread(MadeVillage("Bram", "Mira"))
    assert not found.given
    assert found.paths == {}
