"""People's accounts."""

from __future__ import annotations

from typing import Any

from evennia.accounts.accounts import DefaultAccount

from typeclasses import throttle


class Account(DefaultAccount):
    """A person who logs in."""

    @classmethod
    def authenticate(
        cls, username: str, password: str, ip: str = "", **kwargs: Any
    ) -> tuple[Account | None, list[str]]:
        """Try a password, unless too many were wrong; the account, or what to tell whoever tries.

        The pages' way is ``game.web.middleware``, with the same throttle.
        """
        username = throttle.cut(username)
        attempt = throttle.attempt(username, ip)
        if attempt.refusal:
            return None, [attempt.refusal]
        account, errors = super().authenticate(username, password, ip=ip, **kwargs)
        if account is not None:
            attempt.take_back()
        return account, errors

    @classmethod
    def create(cls, *args: Any, **kwargs: Any) -> tuple[Account | None, list[str]]:
        """Make an account, unless too many came from its address (``ip``)."""
        attempt = throttle.creation(kwargs.get("ip") or "")
        if attempt.refusal:
            return None, [attempt.refusal]
        account, errors = super().create(*args, **kwargs)
        if account is None:
            attempt.take_back()
        return account, errors

    def at_post_login(self, session: Any = None, **kwargs: Any) -> None:
        """Walk in, and keep in mind from where."""
        super().at_post_login(session=session, **kwargs)
        if address := getattr(session, "address", ""):
            self.came_from(address)

    def came_from(self, address: str) -> None:
        """A right password came from there: others' wrong ones will not keep it out."""
        source = throttle.network_of(address)
        known = list(self.attributes.get(throttle.ADDRESSES, default=()))
        if known[:1] != [source]:
            newest = [source, *(each for each in known if each != source)]
            self.attributes.add(throttle.ADDRESSES, newest[: throttle.MOST_ADDRESSES])

    def disconnect_session_from_account(self, session: Any, reason: str | None = None) -> None:
        """Hang up; "quit", which Evennia gives as the reason of `quit`, is no word for players."""
        word = "" if (reason or "").startswith("quit") else reason
        super().disconnect_session_from_account(session, word)

    def ignores(self, other: Account) -> bool:
        """Whether whoever plays here has chosen to hear nothing of them."""
        theirs = {each.id for each in other.played()}
        return any(theirs & {*(each.db.ignored or ())} for each in self.played())

    def played(self) -> set[Any]:
        """Their characters; the first account's own is in no list, but was the last it played."""
        return {each for each in (*self.characters.all(), self.db._last_puppet) if each}

    def at_post_create_character(self, character: Any, **kwargs: Any) -> None:
        """Leave renaming and deleting the account's one character to the admins.

        Evennia's web site would let its player give it any name, an agent's too.
        """
        super().at_post_create_character(character, **kwargs)
        character.locks.add("edit:perm(Admin);delete:perm(Admin)")
