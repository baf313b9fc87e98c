"""What people see before they log in."""

from __future__ import annotations


def connection_screen() -> str:
    """The welcome screen: plain ASCII, at most 78 columns."""
    return SCREEN


SCREEN = """
|b==============================================================================|n

            |y.|n
           |y/|w#|y\\|n          |wK   E   E   P   S   A   K   E|n
           |W|||n |W|||n
           |W|||n |W|||n          a village at the end of the tide,
      |g__..|W|||_|||g..__|n      and the people in it remember you
  |b~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~|n

 Each person of Withy Hythe is a language model with a memory of its own.
 What you tell them today they may bring up next week, in their own words.

 New here?       |wcreate <name> <password>|n    for instance: create Ada c67jHL8p
 Been here?      |wconnect <name> <password>|n

 Your first minute: you stand in the inn, and Mira is behind the counter.

    |wtalk mira Good evening.|n      speak to somebody
    |wlook|n   |wlook hearth|n           look around, or at something
    |wgo south|n                     walk; |wwho|n tells where the others are

 |whelp|n for more, here and inside. |wquit|n to leave.

|b==============================================================================|n
"""
