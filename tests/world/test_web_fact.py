"""The API behind the page "Where did it go?": the map, the past, a fact, a memory as of a time."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from evennia import DefaultExit, DefaultRoom
from evennia.utils.create import create_object

from keepsake.books.kept_lines import Commitment, CommitmentKind
from tests.world.agents_world import SMALL_WINDOWS
from tests.world.web_world import WebWorld

SECRET = "The bell lies under the jetty."


class TestFact(WebWorld):
    """Tom has told Mira something, and whispered something else to her; Ada stands by."""

    START = datetime(2026, 5, 1, 12, 0, tzinfo=UTC)

    def setUp(self):
        super().setUp()
        self.ada = self.add_agent("Ada")
        self.ada.db.paused = True
        self.ask("My brother Edwin mends nets.", "> say Edwin has good hands, then.")
        self.replies = ["> wait"]
        self.char1.execute_cmd(f"whisper Mira = {SECRET}")
        self.pass_time(1.5)

    def add_summarised_memories(self):
        page = self.services.places.config / "memory_compaction.md"
        page.write_text(f"{SMALL_WINDOWS}**count_from**: 0\n")
        self.add_memories(40)

    def number_of(self, words):
        found = self.get(self.of_mira("/memories"))
        return next(each["number"] for each in found if words in each["text"])

    def test_a_way_that_nobody_saw_is_an_event_and_on_the_map(self):
        quay = self.add_room("The Quay")
        before = len(self.get(self.of_mira("/memories")))
        # As on a way of her ordinary day: others see nothing, and she looks at nothing.
        self.mira.unannounced = True
        self.mira.at_look = lambda *_, **__: ""
        self.pass_time(60)
        self.mira.move_to(quay, move_type="traverse")
        self.mira.unannounced = False
        assert len(self.get(self.of_mira("/memories"))) == before
        told = self.get("/events", agent=self.mira.id)["events"]
        moved = [each for each in told if each["kind"] == "move"][-1]
        assert (moved["origin"], moved["place"], moved["seen"]) == ("The Inn", "The Quay", False)
        assert moved["usual"], "it is said why nobody remembers it"
        past = self.get("/past")
        mira = next(each for each in past["agents"] if each["id"] == self.mira.id)
        names = [past["places"][where] for _, where in mira["moves"]]
        assert names == ["The Inn", "The Quay"]
        assert self.get("/past") == past  # each move is read once

    def test_a_way_that_another_agent_saw_is_in_memories(self):
        quay = self.add_room("The Quay")
        for asleep in (None, "2026-05-01T12:00:00+00:00"):
            self.ada.db.asleep = asleep
            self.mira.move_to(quay, move_type="traverse")
            self.mira.move_to(self.room1, move_type="traverse")
        told = self.get("/events", agent=self.mira.id)["events"]
        seen = [each["seen"] for each in told if each["kind"] == "move"]
        assert seen[-4:] == [True, True, False, False]

    def test_words_lead_to_who_said_them_and_who_knows_them(self):
        fact = self.get("/fact", q="Edwin")
        told, answered = fact["tellings"]
        assert (told["speaker"], told["id"], told["private"]) == ("Tom", None, "")
        assert {each["id"]: each["way"] for each in told["hearings"]} == {
            self.mira.id: "told",
            self.ada.id: "overheard",
        }
        assert (answered["id"], answered["rests_on"]) == (self.mira.id, self.number_of("Edwin"))
        knowers = {each["agent"]: each for each in fact["knowers"]}
        assert knowers.keys() == {"Ada", "Mira"}
        assert knowers["Mira"]["source"] == "Tom"
        assert [each["standing"] for each in knowers["Ada"]["spells"]] == ["window"]
        (tom,) = fact["outsiders"]
        assert (tom["name"], tom["way"], tom["source"]) == ("Tom", "said", "")
        assert not tom["private"]
        (whispered,) = self.get("/fact", q="bell under the jetty")["outsiders"]
        assert (whispered["name"], whispered["private"]) == ("Tom", "whispered")

    def test_a_thing_of_who_speaks_is_found_by_their_name(self):
        self.ask("I have a watch of silver.", "> wait")
        self.ask("Is Nell on watch tonight?", "> wait")
        fact = self.get("/fact", q="Tom's watch")
        silver, duty = fact["strands"]
        assert (silver["text"], silver["likely"]) == ("I have a watch of silver.", True)
        assert (silver["speaker"], silver["tellings"]) == ("Tom", 1)
        assert not silver["written"], "the name is only of who speaks"
        knowers = {each["agent"]: (each["way"], each["source"]) for each in silver["knowers"]}
        assert knowers == {"Mira": ("told", "Tom"), "Ada": ("overheard", "Tom")}
        assert self.get("/fact", agent=silver["id"], n=silver["n"])["tellings"]
        assert duty["text"] == "Is Nell on watch tonight?", "what only asks comes last"
        assert self.get("/fact", q="Ada's watch")["tellings"] == []
        assert all(each["written"] for each in self.get("/fact", q="watch")["strands"])

    def test_lines_that_mean_something_else_are_left_out(self):
        self.ask("I have a watch of silver.", "> wait")
        self.ask("Nell keeps the watch tonight.", "> wait")
        found = self.get("/fact", q="watch")
        leads = {each["text"]: f"{each['id']}-{each['n']}" for each in found["strands"]}
        silver = leads["I have a watch of silver."]
        duty = leads["Nell keeps the watch tonight."]
        assert len(found["tellings"]) == 2
        chosen = self.get("/fact", q="watch", without=duty)
        assert [each["text"] for each in chosen["tellings"]] == ["I have a watch of silver."]
        refused = {each["text"]: each["refused"] for each in chosen["strands"]}
        assert refused == {
            "I have a watch of silver.": False,
            "Nell keeps the watch tonight.": True,
        }
        nothing = self.get("/fact", q="watch", without=f"{duty},{silver}")
        assert nothing["tellings"] == []
        self.get("/fact", 400, q="watch", without="the second")

    def test_a_sentence_is_followed_and_what_only_answers_it_tells_nobody(self):
        fact = self.get("/fact", agent=self.mira.id, n=self.number_of("Edwin mends"))
        assert fact["words"] == ""
        assert fact["suggested"][0] == {"word": "Edwin", "count": 1}
        assert [each["text"] for each in fact["tellings"]] == ["My brother Edwin mends nets."]
        knowers = {each["agent"]: each["spells"][-1] for each in fact["knowers"]}
        assert {each: spell["kept"] for each, spell in knowers.items()} == {
            "Ada": "verbatim",
            "Mira": "verbatim",
        }

    def test_a_sentence_is_told_on_in_some_of_its_words_but_not_in_one_of_all_people(self):
        self.ask("The ferry drowned people at the bar.", "> say I know of the ferry, and the bar.")
        self.ask("People talk of the cider.", "> say People talk.")
        fact = self.get("/fact", agent=self.mira.id, n=self.number_of("drowned people"))
        assert [each["text"] for each in fact["tellings"]] == [
            "The ferry drowned people at the bar.",
            "I know of the ferry, and the bar.",
        ]

    def test_a_whisper_stops_at_those_who_heard_it(self):
        fact = self.get("/fact", q="bell jetty")
        (whisper,) = fact["tellings"]
        assert whisper["private"]
        assert [(each["id"], each["way"]) for each in whisper["hearings"]] == [
            (self.mira.id, "whispered")
        ]

    def test_what_stands_in_the_books_of_an_agent_is_known_to_it(self):
        self.post(self.of_mira("/note"), body={"title": "Nets", "text": "Edwin mends nets."})
        self.post(f"/agents/{self.ada.id}/pin", body={"text": "Edwin is kind."})
        self.mind.books.commitments.add(
            Commitment(CommitmentKind.PROMISE, "Tom", "visit Edwin", self.number_of("Edwin mends"))
        )
        noted = self.get("/fact", q="Edwin")["noted"]
        assert [(each["agent"], each["book"], each["title"], each["text"]) for each in noted] == [
            ("Ada", "pins", "", "Edwin is kind."),
            ("Mira", "promises", "Tom", "visit Edwin"),
            ("Mira", "people", "Tom", "My brother Edwin mends nets."),
            ("Mira", "notes", "Nets", "Edwin mends nets."),
        ]
        followed = self.get("/fact", agent=self.mira.id, n=self.number_of("Edwin mends"))
        books = [(each["agent"], each["book"]) for each in followed["noted"]]
        assert books == [("Mira", "promises"), ("Mira", "people")]  # by the memories they rest on
        secret = self.get("/fact", q="bell jetty")["noted"]
        assert [(each["book"], each["private"]) for each in secret] == [
            ("people", "keeps it for Tom")
        ]

    def test_what_an_agent_has_of_a_fact_does_not_depend_on_the_words_that_led_to_it(self):
        self.add_summarised_memories()
        found = [self.get("/fact", q=words)["who"] for words in ("bell jetty", "Tom's bell")]
        found.append(
            self.get("/fact", agent=self.mira.id, n=self.number_of("under the jetty"))["who"]
        )
        for who in found:
            (mira,) = who["knowing"]
            assert (mira["agent"], mira["hold"], mira["private"]) == ("Mira", "book", "whispered")
            assert mira["now"] == "has it in its page of Tom, in the prompts while Tom is there"
            (told,) = who["sources"]
            assert (told["source"], [each["name"] for each in told["to"]]) == ("Tom", ["Mira"])
        sentence = "Mira has heard a sentence with the words “bell jetty”, from Tom."
        assert found[0]["answer"] == sentence

    def test_that_it_was_told_again_is_later_news(self):
        self.ask("Edwin mends nets at night, too.", "> wait")
        who = self.get("/fact", q="Edwin")["who"]
        assert [each["text"] for each in who["news"]] == [
            "Edwin has good hands, then.",
            "Edwin mends nets at night, too.",
        ]
        assert {each["kind"] for each in who["news"]} == {"told"}
        lines = self.get("/answer", of="who", about="Edwin")["lines"]
        assert [each["label"] for each in lines] == [
            "Tom",
            "Ada",
            "Mira",
            "Told again",
            "Told again",
        ]

    def test_what_cannot_be_followed_is_refused(self):
        assert "Give words" in self.get("/fact", 400)["error"]
        assert "no word" in self.get("/fact", 400, q="?!")["error"]
        assert "no memory" in self.get("/fact", 404, agent=self.mira.id, n=9999)["error"]
        assert "no agent" in self.get("/fact", 404, agent=99_999, n=1)["error"]

    def test_the_map_has_the_rooms_around_the_agents(self):
        world = self.get("/map")
        rooms = {each["name"]: each for each in world["rooms"]}
        assert world["complete"]
        assert rooms["The Inn"]["agents"] == [[self.ada.id, "Ada"], [self.mira.id, "Mira"]]
        assert rooms["The Inn"]["players"] == ["Tom"]
        cells = [(each["x"], each["y"]) for each in world["rooms"]]
        assert len(set(cells)) == len(cells)
        assert world["away"] == []

    def test_a_player_who_is_away_is_named_with_the_room_that_they_left(self):
        self.pass_time(60)
        self.char1.db.prelogout_location = self.room1
        self.char1.location = None
        world = self.get("/map")
        assert all(each["players"] == [] for each in world["rooms"])
        (tom,) = world["away"]
        assert (tom["name"], tom["place"]) == ("Tom", "The Inn")
        assert tom["last_met"]

    def test_a_room_that_only_leads_to_the_others_is_on_the_map(self):
        loft = create_object(DefaultRoom, key="The Hay Loft")
        create_object(DefaultExit, key="down", location=loft, destination=self.mira.location)
        rooms = {each["name"]: each for each in self.get("/map")["rooms"]}
        assert rooms["The Hay Loft"]["exits"] == [
            {"name": "down", "to": self.mira.location.id},
        ]

    def test_the_past_has_places_counts_and_compactions(self):
        before = self.get("/past")
        mira = next(each for each in before["agents"] if each["agent"] == "Mira")
        assert before["places"][mira["moves"][0][1]] == "The Inn"
        assert mira["counts"][-1][1] == self.mind.memory.memory.tiers.last_number
        assert mira["tiers"] == []
        self.add_summarised_memories()
        mira = next(each for each in self.get("/past")["agents"] if each["agent"] == "Mira")
        state = self.mind.memory.memory.tiers.state
        row = self.get(self.of_mira(""))
        assert datetime.fromisoformat(row["compacted"]) == state.time
        assert mira["tiers"][-1][5] == state.summarised
        assert mira["tiers"][-1][4] == state.longterm.last

    def test_a_memory_is_shown_as_it_was(self):
        then = self.services.clock.now() + timedelta(seconds=1)
        number = self.mind.memory.memory.tiers.last_number
        self.time.time += timedelta(minutes=1)
        self.add_summarised_memories()
        was = self.get(self.of_mira("/as-of"), t=then.isoformat())
        assert (was["number"], was["place"], was["recent"]) == (number, "The Inn", None)
        assert was["window"][-1]["number"] == number
        now = self.get(self.of_mira("/as-of"), t=(then + timedelta(days=1)).isoformat())
        assert now["recent"]["text"] == self.mind.memory.memory.tiers.state.recent.text

    def test_what_it_meant_to_do_then_is_shown(self):
        self.ask("Bake a pie tomorrow?", "> plan tomorrow 9:00: bake a pie\n> promise Tom: soup")
        self.pass_time(5)
        number = self.mind.memory.memory.tiers.last_number
        was = self.get(self.of_mira("/as-of"), n=number)
        assert [each["what"] for each in was["plans"]] == ["bake a pie"]
        assert [each["line"].partition(" (")[0] for each in was["promises"]] == [
            "You promised Tom: soup"
        ]
        self.pass_time(60)
        asked = self.number_of("Bake a pie")
        self.ask("Never mind.", f"> cancel bake a pie: nobody wants it\n> kept {asked}")
        self.pass_time(5)
        now = self.get(self.of_mira("/as-of"), n=self.mind.memory.memory.tiers.last_number)
        assert (now["plans"], now["promises"]) == ([], [])
        assert self.get(self.of_mira("/as-of"), n=number) == was

    def test_a_compaction_says_what_it_lost(self):
        self.add_summarised_memories()
        made = self.get(self.of_mira("/compactions"))[-1]
        found = self.get(self.of_mira(f"/compactions/{made['number']}/losses"))
        first, last = made["covered"]
        numbers = sorted(each["memory"]["number"] for each in found["losses"])
        assert numbers == list(range(first, last + 1))
        told = {each["kept"] for each in found["losses"] if not each["missing"]}
        assert told <= {"whole", "verbatim"}
        assert "no compaction" in self.get(self.of_mira("/compactions/999/losses"), 404)["error"]

    def test_a_compaction_says_who_still_has_what_it_lost(self):
        self.mira.db.paused = True
        for year in range(1962, 1992):
            self.char1.execute_cmd(f"say My goat of {year} ate {year - 1900} hats.")
        self.pass_time(5)
        self.mind.books.update_people(self.mind.memory.memory.archive)
        self.add_summarised_memories()
        lost = []
        for made in self.get(self.of_mira("/compactions")):
            found = self.get(self.of_mira(f"/compactions/{made['number']}/losses"))
            lost += [each for each in found["losses"] if "goat" in str(each["missing"])]
        greatest = lost[0]
        assert len(greatest["named"]) == 2, "the year, and how many hats"
        tom = {"book": "people", "title": self.char1.key, "standing": None}
        assert tom in greatest["elsewhere"]
        ada = {"book": None, "title": "Ada", "standing": "window"}
        assert ada in greatest["elsewhere"]
