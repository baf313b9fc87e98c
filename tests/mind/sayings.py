"""Constraints in other words, and sentences that only look like them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise


@dataclass(frozen=True, slots=True)
class Saying:
    """A constraint with what says the same and what does not.

    Attributes:
        constraint: As it is to be kept.
        same: Sentences that keep it, some in quite other words.
        other: Near misses: denied, another number, person, thing or deed, or turned round.
    """

    constraint: str
    same: tuple[str, ...]
    other: tuple[str, ...]


KNOWN_MISTAKE = "I never opened a letter at the cellar door."
"""All words of a constraint in one sentence that says something else: it is believed."""

_WRITTEN = """
Never open the cellar door.
  = I must never open the cellar door.
  = Ada said to me, "You must not open the door of the cellar, ever."
  = Ada told me that opening the cellar door is forbidden.
  = I am not to open the door to the cellar.
  = The door of the cellar must stay shut.
  = The cellar door must never be opened.
  / Open the cellar door.
  / I should open the cellar door for Ada.
  / I never go down. I opened the cellar door.
  / Open the cellar door and never tell.
  / I must never open the kitchen door.
  / I never close the cellar door.
  / It is no longer true that I must never open the cellar door.
  / Did Ada say that I must never open the cellar door?
  / The cellar door is old and made of oak.
  / Ada spoke about the door of the cellar.
  / I must never paint the cellar door.
Ada told you: never open the cellar door (memory 17)
  = Ada forbade me to open the cellar door.
Ada told you: do not tell anybody about the fever (memory 4)
  = I shall tell nobody about the fever.
  = I must keep the fever a secret from everyone.
  / I told everybody about the fever.
  / Ada told me about the fever.
  / I must not forget to tell them about the fever.
You promised Tom: I will keep the blue jar for you (memory 9)
  = I promised Tom that I would keep the blue jar for him.
  = Tom asked. I promised to keep his blue jar.
  / I promised Nell that I would keep the blue jar for her.
  / I promised Tom that I would keep the red jar for him.
  / Tom has a blue jar.
  / I told Tom that I will not keep the blue jar for him.
You promised Tom: I will bring soup to your father on Thursday
  = I promised Tom to bring his father soup on Thursday.
  = On Thursday I have to take soup to Tom's father.
  / I promised Tom to bring his father soup on Friday.
  / I promised Tom to bring his father bread on Thursday.
You promised Ada: I will wake you at five for the tide
  = I will wake Ada at 5 for the tide.
  = I gave Ada my word that I would wake her at five, for the tide.
  / I will wake Ada at six for the tide.
  / I woke at five, and the tide was out.
Take two drops of the tincture, never three.
  = Oswin said, "Take two drops of the tincture, never three."
  = Of the tincture one takes 2 drops, not three.
  / Take three drops of the tincture, never two.
  / Take drops of the tincture.
  / I never take the two or three drops of the tincture.
The well behind the chapel is bad, drink from the spring.
  = The well behind the chapel is bad; I should drink from the spring.
  / The spring behind the chapel is bad, drink from the well.
Feed the hen before dawn.
  = I must feed the hen before dawn.
  = The hens have to be fed before dawn.
  / I must feed the hen after dawn.
  / The hen laid an egg before dawn.
  / I must not feed the hen before dawn.
Never go out on the marsh without a lantern.
  = I must never go out on the marsh without a lantern.
  = Nobody may walk the marsh without a lantern.
  / I must never go out on the marsh with a lantern.
  / I went out on the marsh without a lantern.
Always lock the gate at night.
  = The gate has to be locked each night.
  = I lock the gate every night.
  / I never lock the gate at night.
  / I leave the gate open at night.
  / I unlock the gate every night.
Nell owes Bram seven crowns for the glass.
  = Nell owes seven crowns to Bram for the glass.
  / Bram owes Nell seven crowns for the glass.
  / Nell owes Bram nine crowns for the glass.
Do not let the goat into the church.
  = The goat must not come into the church.
  = I have to keep the goat out of the church.
  / Let the goat into the church.
  / Do not let the dog into the church.
Tom asked you: where is my silver whistle?
  = Tom asked me where his silver whistle is.
  = Tom is looking for his silver whistle and waits for my answer.
  / Tom found his silver whistle.
  / Tom has lost a silver spoon.
Only Ada may have the key.
  = The key is for Ada only.
  / Ada may have the key, and so may Tom.
  / Only Tom may have the key.
Stay away from the quarry.
  = I must keep away from the quarry.
  = I must not go near the quarry.
  / I stay in the quarry.
  / The quarry is away from the mill.
Don't ring the bell unless there is a fire.
  = I may not ring the bell unless there is a fire.
  = The bell must only be rung when there is a fire.
  / I ring the bell unless there is a fire.
  / I may not ring the bell when there is a fire.
Never forget to feed the cat.
  = I must always remember to feed the cat.
  = I must not forget to feed the cat.
  / I never feed the cat.
  / I forgot to feed the cat.
I am to find out who stole the apples.
  = I still have to find out who took the apples.
  = I must find out who stole the apples.
  / I stole the apples.
  / I am to find out who baked the bread.
Speak quietly in the library.
  = In the library I have to speak quietly.
  = In the library one must talk in a low voice.
  / I may speak loudly in the library.
  / I like to read quietly in the library.
Never lend the boat to strangers.
  = I must never lend the boat to people I do not know.
  = I am never to give the boat to strangers.
  / I must never lend the saddle to strangers.
  / I must never lend the boat to my friends.
  / I must never speak to strangers about the boat.
Knock three times before you enter the mill.
  = I have to knock three times before I go into the mill.
  = I must rap three times before I enter the mill.
  / I have to knock three times before I enter the chapel.
  / I have to bow three times before I enter the mill.
Do not speak of the wreck in front of the children.
  = I must not mention the wreck in front of the children.
  = The wreck must not be talked about when the children are there.
  / I must not speak of the money in front of the children.
  / I must not speak of the wreck in front of the widow.
  / I must not curse in front of the children.
You promised Wren: I will repair your kite by Sunday
  = I promised Wren to mend her kite by Sunday.
  = Wren's kite has to be repaired by Sunday.
  / I promised Wren to repair her shoes by Sunday.
  / I promised Wren to fly her kite by Sunday.
You promised Joss: I shall pay for the broken window tomorrow
  = I promised Joss to pay for the smashed window tomorrow.
  = Tomorrow I will pay Joss for the broken pane.
  / I promised Joss to pay for the broken oar tomorrow.
  / I promised Joss to look at the broken window tomorrow.
Nobody may touch the great clock.
  = Nobody is allowed to touch the big clock.
  = The great clock must not be handled by anybody.
  / Nobody may touch the great bell.
  / Nobody may wind the great clock.
Keep the medicine away from the fire.
  = I have to keep the medicine away from the flames.
  / I have to keep the medicine away from the children.
  / I have to keep the hay away from the fire.
Burn the letter when you have read it.
  = I am to burn the letter after reading it.
  = Once I have read the letter I must destroy it.
  / I am to keep the letter when I have read it.
  / I am to burn the map when I have read it.
Ruan asked you: when does the next ferry leave?
  = Ruan asked me when the next ferry departs.
  = Ruan wants to know when the next ferry goes.
  / Ruan asked me when the next market opens.
  / Ruan asked me who steers the next ferry.
Never feed bread to the swans.
  = The swans must never get bread.
  = I must not give bread to the swans.
  / I must never feed meat to the swans.
  / I must never feed bread to the geese.
Never drink from the stone well, its water is foul.
  = I must never drink from the stone well because its water is rotten.
  / I must never drink from the stone jug, its water is foul.
  / I must never fall into the stone well, its water is foul.
Tell the captain that the rudder is cracked.
  = I have to tell the captain about the crack in the rudder.
  = I must inform the captain that the rudder is cracked.
  / I must tell the captain that the mast is cracked.
  / I must tell the carpenter that the rudder is cracked.
You promised Nell: I will sweep the workshop every evening
  = I promised Nell to clean the workshop every evening.
  / I promised Nell to lock the workshop every evening.
  / I promised Nell to sweep the yard every evening.
Never wake the old man before noon.
  = I must never wake the elderly man before noon.
  = The old man is not to be disturbed before noon.
  / I must never wake the old dog before noon.
  / I must never feed the old man before noon.
Do not trust the man in the yellow coat.
  = The man with the yellow coat is not to be trusted.
  / The man in the yellow hat is not to be trusted.
  / The woman in the yellow coat is not to be trusted.
Always close the shutters when the wind rises.
  = The shutters have to be closed when the wind gets up.
  / The shutters have to be painted when the wind rises.
  / The gate has to be closed when the wind rises.
Sell no lamp oil to the smugglers.
  = I must not sell any oil for lamps to smugglers.
  / I must sell no lamp oil to the sailors.
  / I must sell no fish to the smugglers.
Hide the silver cup from the tax collector.
  = I have to hide the silver goblet from the tax collector.
  / I have to hide the silver cup from the bishop.
  / I have to hide the silver spoon from the tax collector.
Water the roses each morning.
  = The roses need water every morning.
  / I cut the roses each morning.
  / I water the beans each morning.
Never leave the stove burning at night.
  = I must never leave the oven burning at night.
  / I must never leave the candle burning at night.
  / I left the stove burning at night.
Do not give Bram more than two mugs of ale.
  = Bram must not get more than two mugs of ale.
  / Bram must not get more than two mugs of milk.
  / Nell must not get more than two mugs of ale.
  / I gave Bram more than two mugs of ale.
The blue door must stay locked.
  = I have to keep the blue door locked.
  / The green door must stay locked.
  / The blue door need not stay locked.
Tell nobody where the money is hidden.
  = I must tell no one where the money is hidden.
  / Tell nobody where the key is hidden.
  / Tell everybody where the money is hidden.
You promised Ruan: I will write to your mother
  = I promised Ruan to write his mother a letter.
  / I promised Ruan to write to his sister.
  / I promised Ruan to speak to his mother.
Do not ring the bell after sunset.
  = The bell must not be rung after sunset.
  / The bell must not be rung before sunset.
  / The bell must not be rung after breakfast.
Ask Wren about the broken lantern.
  = I have to ask Wren about the broken lamp.
  / I have to ask Wren about the broken chair.
  / Wren asked me about the broken lantern.
Guests have to sign the green book.
  = Every guest must sign the green book.
  / Guests have to sign the black book.
  / Guests have to read the green book.
Never stand between the ram and the gate.
  = I must not stand between the gate and the ram.
  / I must not stand between the cow and the gate.
Do not wash the wool in cold water.
  = The wool must not be cleaned in cold water.
  / I must not wash the wool in hot water.
  / I must not wash the linen in cold water.
Call the doctor if the fever comes back.
  = I should call the doctor if the fever returns.
  / I should call the doctor if the cough comes back.
  / I should call the priest if the fever comes back.
Never row across the weir when the water is high.
  = I must never row over the weir when the water is high.
  / I must never row across the weir when the water is low.
  / I must never swim across the weir when the water is high.
"""
"""A constraint to a line; below it what keeps it (``=``), and near misses (``/``)."""


def _read(lines: list[str]) -> Iterator[Saying]:
    starts = [number for number, line in enumerate(lines) if not line.startswith(" ")]
    for start, end in pairwise([*starts, len(lines)]):
        marked = [line.strip().split(" ", 1) for line in lines[start + 1 : end]]
        same, other = (tuple(text for mark, text in marked if mark == each) for each in "=/")
        yield Saying(lines[start], same, other)


SAYINGS = tuple(_read(_WRITTEN.strip().splitlines()))
