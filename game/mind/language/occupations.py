"""The words for what people do and where they do it, as far as the rules know them."""

from __future__ import annotations

import re

_TRADES = """
    actor actress apothecary apprentice archer armourer artist artisan astronomer baker barber bard
    barkeep barmaid bargeman beekeeper blacksmith boatman bookbinder brewer bricklayer builder
    butcher butler candlemaker captain carpenter carter cartographer chandler chef clerk clothier
    cobbler constable cook cooper courier cowherd cutler dancer doctor draper dressmaker driver
    drover dyer engineer falconer farmer farmhand farrier ferryman ferrywoman fiddler fisher
    fisherman fishmonger fletcher florist forester furrier gamekeeper gardener gatekeeper glazier
    glassblower goatherd goldsmith groom grocer guard guardsman guide gunsmith hatter hawker healer
    herald herbalist herder hostler hunter huntress innkeeper interpreter jester jeweller jeweler
    joiner judge juggler keeper knight labourer laborer landlady landlord laundress lawyer librarian
    lighthousekeeper locksmith lumberjack maid mason mayor mercenary merchant messenger midwife
    miller milliner miner minstrel monk musician nun nurse ostler packer painter peddler pedlar
    physician pilot piper player ploughman plumber poet porter postman potter preacher priest
    priestess printer quarryman ranger reeve roofer ropemaker saddler sailor salter sawyer scholar
    schoolmaster schoolmistress scout scribe sculptor seamstress servant sexton shepherd shepherdess
    sheriff shipwright shoemaker shopkeeper silversmith singer skinner smith smuggler soldier
    spinner squire stablehand steward stonecutter stonemason student surgeon swineherd tailor
    tanner tavernkeeper teacher thatcher tiler tinker tinsmith trader trapper treasurer tutor
    undertaker vintner waiter waitress warden warrior washerwoman watchman watchmaker weaver
    weaponsmith wheelwright whaler woodcarver woodcutter wright
"""
_PLACES = """
    abbey academy apothecary archive armoury bakery bank barracks bathhouse boatyard brewery
    brickworks bridge butchery castle chapel church court customs dairy dock docks dyeworks estate
    factory farm ferry fields forge foundry garrison granary guard guild harbour hospital inn
    kiln kitchen kitchens laundry library lighthouse market mill mine mines monastery office
    orchard palace pottery post press print printworks quarry ropewalk salthouse sawmill school
    shipyard shop smithy stable stables stall store tannery tavern theatre toll tollhouse vineyard
    warehouse watch watchhouse weir workshop yard
"""
_DWELLINGS = """
    attic barn cabin cellar cottage flat hall house hovel hut lodge loft manor rectory room rooms
    shack tent tower
"""


def _words(listed: str) -> str:
    return "|".join(sorted(listed.split(), key=len, reverse=True))


TRADE = rf"(?:{_words(_TRADES)}|\w+(?:smith|wright|monger|keeper|maker|herd))"
"""One word for somebody by what they do, as a pattern."""
WORKPLACE = rf"(?:{_words(_PLACES)})"
"""One word for where people work, as a pattern."""
_AT_WORK = re.compile(rf"\b{WORKPLACE}\b", re.I)
_AT_HOME = re.compile(rf"\b(?:{_words(_DWELLINGS)})\b", re.I)


def is_workplace(words: str) -> bool:
    """Whether somebody may have worked there: ``the mill``, ``the customs house``."""
    return _AT_WORK.search(words) is not None


def is_dwelling(words: str) -> bool:
    """Whether somebody may have lived there, and it is no workplace."""
    return _AT_HOME.search(words) is not None and not is_workplace(words)
