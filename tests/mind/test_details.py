import pytest
from hypothesis import given
from hypothesis import strategies as st

from keepsake.language.details import details, numbers, vocabulary


def names(*texts: str) -> list[str]:
    return [found.shown for found in details(texts).values() if not found.number]


def figures(*texts: str) -> list[str]:
    return [found.keys[0] for found in details(texts).values() if found.number]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("My sister Lisbet keeps bees at Corran Head.", ["Lisbet", "Corran Head"]),
        ('Tom says to you, "My real name is Tobias Marl."', ["Tom", "Tobias Marl"]),
        ("Ada's brother sails on the Grey Gull.", ["Ada", "Grey Gull"]),
        ("I met Tom, Ada and Wren.", ["Tom", "Ada", "Wren"]),
        ("It was on Thursday, the second of June.", ["Thursday", "June"]),
        ("Wren arrives from the green.", ["Wren"]),
        ("~Mira> say Good day, Ada!", ["Ada"]),
        ('Tom says, "Yes. Perhaps. However, it rains."', ["Tom"]),
        ("Yesterday it rained. Everybody slept. Meanwhile I cooked.", []),
        ("The soup was good; I said: Come in! (Nobody came.)", []),
        ("I am. I'm here. I've had soup. I’ll go.", []),
        ("## Open Matters\n- Soup is to be made (memory 17)\n1. Bread too", []),
        ("NEVER open that door.", []),
        ("Élodie says that Zürich is far.", ["Élodie", "Zürich"]),
        ("", []),
    ],
)
def test_names(text, expected):
    assert names(text) == expected


def test_a_word_that_begins_a_sentence_is_a_name_if_it_is_one_elsewhere():
    assert names("Corran is far.") == []
    assert names("Corran is far.", "I am from Corran.") == ["Corran"]
    assert names("Ferries go there.") == []
    assert names("Bishop! Come here.", "The raven is called Bishop.") == ["Bishop"]
    assert names("Ferry is late.", "The ferry was here.") == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("nineteen boats", ["19"]),
        ("twenty-three, twenty three and 23", ["23"]),
        ("two hundred and five gulls", ["205"]),
        ("twenty-three thousand and six eels", ["23006"]),
        ("twelve hundred nails, 1,200 screws", ["1200"]),
        ("three dozen eggs and a dozen hens", ["36", "12"]),
        ("a hundred", ["100"]),
        ("at 17:30, or 5pm, on the 3rd", ["17:30", "5", "3"]),
        ("two, three or four", ["2", "3", "4"]),
        ("Room nine has 007 on its door", ["9", "7"]),
        ("the second of June", ["2"]),
        ("wait a second, one moment, first things first", []),
        ("I may be the second", []),
        ("the third step", ["3"]),
        ("as said (memory 17), and so on (repeated 3×)", []),
        ("1. soup\n2. bread", []),
        ("2.5 pints", ["2.5"]),
    ],
)
def test_numbers_however_they_are_written(text, expected):
    assert figures(text) == expected


def test_a_vocabulary_knows_every_name_and_number_of_its_texts():
    known = vocabulary(["~Mira> say Tom's 19 boats are at Corran Head."])
    for text in ("Mira", "I saw Tom.", "nineteen boats", "at Corran"):
        assert all(known.issuperset(found.keys) for found in details([f"so {text}"]).values())
    assert not known & {"20", "harl"}


def test_digits_without_end_are_no_trouble():
    assert figures("9" * 6000) == ["9" * 6000]


@given(st.lists(st.text(max_size=200), max_size=5))
def test_a_text_holds_all_its_own_details(texts):
    known = vocabulary(texts)
    assert all(known.issuperset(found.keys) for found in details(texts).values())


@given(st.integers(2, 999_999))
def test_numbers_in_words_are_read_as_what_they_are(value):
    assert [each.keys[0] for each in numbers(f"so {_in_words(value)} nails")] == [str(value)]


_SMALL = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen"
_ONES = [*_SMALL.split(), "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"]
_TENS = ["", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]


def _in_words(value: int) -> str:
    if value < 20:
        return _ONES[value]
    if value < 100:
        return _TENS[value // 10 - 1] + (f"-{_ONES[value % 10]}" if value % 10 else "")
    if value < 1000:
        rest = f" and {_in_words(value % 100)}" if value % 100 else ""
        return f"{_ONES[value // 100]} hundred{rest}"
    rest = f" {_in_words(value % 1000)}" if value % 1000 else ""
    return f"{_in_words(value // 1000)} thousand{rest}"
