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
        """Check a password, unless the throttle refuses. Return the account, or messages to show.

        Web pages log in through ``game.web.middleware``, which uses the same throttle.
        """
        username = throttle.clean_name(username)
        attempt = throttle.attempt(username, ip)
        if attempt.refusal:
            return None, [attempt.refusal]
        account, errors = super().authenticate(username, password, ip=ip, **kwargs)
        if account is not None:
            attempt.take_back()
        return account, errors

    @classmethod
    def create(cls, *args: Any, **kwargs: Any) -> tuple[Account | None, list[str]]:
        """Create an account, unless its address (``ip``) has created too many."""
        attempt = throttle.creation(kwargs.get("ip") or "")
        if attempt.refusal:
            return None, [attempt.refusal]
        account, errors = super().create(*args, **kwargs)
        if account is None:
            attempt.take_back()
        return account, errors

    def at_post_login(self, session: Any = None, **kwargs: Any) -> None:
        """Enter the world, and store the address of the session."""
        if refusal := self._give_character():
            self.msg(refusal, session=session)
            self.disconnect_session_from_account(session, refusal)
            return
        super().at_post_login(session=session, **kwargs)
        if address := getattr(session, "address", ""):
            self.store_address(address)

    def _give_character(self) -> str:
        """Make a character for an account that has none; return why none could be made.

        An account may have lost its character: a builder deleted it. Without one Evennia says "The
        Character does not exist", and every command fails.
        """
        if self.played() or self.is_superuser:
            return ""
        character, errors = self.create_character()
        if character is not None:
            return ""
        why = " ".join(str(error) for error in errors or ())
        return f"Your account has no character, and none could be made ({why}). Ask an admin."

    def store_address(self, address: str) -> None:
        """Store an address that logged in, so that others' wrong passwords do not lock it out."""
        source = throttle.network_of(address)
        known = list(self.attributes.get(throttle.ADDRESSES, default=()))
        if known[:1] != [source]:
            newest = [source, *(each for each in known if each != source)]
            self.attributes.add(throttle.ADDRESSES, newest[: throttle.MOST_ADDRESSES])

    def disconnect_session_from_account(self, session: Any, reason: str | None = None) -> None:
        """Disconnect. Evennia's reason for `quit`, the word "quit", is not shown to players."""
        word = "" if (reason or "").startswith("quit") else reason
        super().disconnect_session_from_account(session, word)

    def ignores(self, other: Account) -> bool:
        """Return whether this account's player ignores the other account."""
        theirs = {each.id for each in other.played()}
        return any(theirs & {*(each.db.ignored or ())} for each in self.played())

    def played(self) -> set[Any]:
        """Return the characters and the last one played: Evennia does not list account 1's."""
        return {each for each in (*self.characters.all(), self.db._last_puppet) if each}

    def at_post_create_character(self, character: Any, **kwargs: Any) -> None:
        """Let only admins rename and delete the account's one character.

        Evennia's web site would let the player choose any name, even an agent's.
        """
        super().at_post_create_character(character, **kwargs)
        character.locks.add("edit:perm(Admin);delete:perm(Admin)")
