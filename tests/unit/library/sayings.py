"""What the tests of the library share: a sentence, small tiers, and the texts of results."""

from keepsake import Speech

SISTER = Speech("Anneke", "My sister Liesbet drowned three winters ago.", to=["Mira"])
SMALL = {"immediate_window": 4, "recent_window": 4, "preserve_memories": 4}


def texts(found):
    return [each.words or each.text for each in found]
