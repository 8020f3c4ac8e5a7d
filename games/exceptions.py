"""Refusals of the services, each with a stable ``code`` and an HTTP status.

Scripts of users rely on the codes, so a code never changes.
"""

import math
import re

from beadbox.engines.compiled import EngineCompilingError, EngineMissingError, EngineNotReadyError
from beadbox.rules.errors import IllegalMoveError, RulesError

NOT_JSON_TEXT = "The site cannot read this as JSON."
TOO_LARGE_TEXT = "This is too large. Send less at once."
FAULT_TEXT = "Something broke on our side. It is not your fault. Wait a moment, then try again."
LOG_IN_FIRST_TEXT = "This needs an account. Log in, or send a token of one."
NOT_ALLOWED_TEXT = "Your account is not allowed to do this."
FIELD_REFUSAL_PATTERN = re.compile(r"([a-z_]+(?:, [a-z_]+)*): (.+)", re.DOTALL)
"""A refusal that begins with the names of the invalid fields, such as "name, scopes: ..."."""


def method_not_allowed_text(method: str | None, *allowed: str) -> str:
    """Return the sentence that refuses a request method and names the allowed methods."""
    return f"This address does not take {method}. Send {' or '.join(allowed)}."


class PlayError(Exception):
    """Base of all refusals of services. ``message`` is the default sentence, in words that a child understands."""

    message = "The site cannot do this."
    code = "play_error"
    status = 400
    retry_after_s: int | None = None
    """Seconds until the same request may succeed; ``None`` if waiting does not help."""
    may_be_hidden = False
    """Whether the refused object may exist and be hidden. The 404 page then suggests to log in."""
    is_temporary = False
    """Whether the refusal is temporary. A page then shows the refusal instead of its content."""

    def __init__(self, message: str | None = None) -> None:
        super().__init__(message or self.message)

    @property
    def parts(self) -> tuple[str, str]:
        """The name of the refused field (empty without a field), and the sentence."""
        match = FIELD_REFUSAL_PATTERN.fullmatch(str(self))
        return (match[1], match[2]) if match else ("", str(self))

    def to_json(self) -> dict[str, str]:
        """The refusal as JSON for the client."""
        return {"detail": str(self), "code": self.code}


class SessionChangedError(Exception):
    """The session of a guest has changed or ended since it was read. The caller must read the principal again."""


class GuestMovedError(PlayError):
    message = "You have logged in, and your machines are now in your account. Load this page again."
    code = "guest_moved"
    status = 409


class MalformedError(PlayError):
    message = "The site could not understand this request."
    code = "malformed"


class MoveRefusedError(PlayError):
    """The rules refuse the move. Unreadable moves and illegal moves have different codes."""

    def __init__(self, error: RulesError, move: str) -> None:
        is_readable = isinstance(error, IllegalMoveError)
        super().__init__(f"You cannot play {move} here. Choose another move." if is_readable else error.sentence)
        self.code = error.code


class UnavailableError(PlayError):
    message = "The site cannot reach its memory now. Nothing is lost. Try again in a few seconds."
    code = "unavailable"
    status = 503
    retry_after_s = 5


class BusyError(PlayError):
    message = "Too many people are playing now. Nothing has changed. Try again in two seconds."
    code = "busy"
    status = 503
    is_temporary = True
    retry_after_s = 2


class EngineBusyError(BusyError):
    message = EngineCompilingError.message
    retry_after_s = 5


class EngineUnavailableError(PlayError):
    message = EngineMissingError.message
    code = EngineMissingError.code
    status = 503
    is_temporary = True


def refusal_of(error: Exception) -> PlayError | None:
    """Return the refusal that corresponds to an error; ``None`` if the error is a fault of the site."""
    if isinstance(error, EngineNotReadyError):
        return EngineBusyError() if isinstance(error, EngineCompilingError) else EngineUnavailableError()
    return error if isinstance(error, PlayError) else None


class SiteFullError(PlayError):
    message = "This site is full. Everything on it still works. Try again tomorrow."
    code = "site_full"
    status = 503
    retry_after_s = 3600


class NotYourTurnError(PlayError):
    message = "It is not your turn. Wait for the other side to move."
    code = "not_your_turn"
    status = 409


class StalePlyError(PlayError):
    message = "The board has changed. Look at it, then choose your move again."
    code = "stale_ply"
    status = 409


class MatchFinishedError(PlayError):
    message = "This match is over. You can play again."
    code = "match_finished"
    status = 409


class MatchWaitingError(PlayError):
    message = "The other player is not here yet. Send them the link."
    code = "match_waiting"
    status = 409


class MatchNotFinishedError(PlayError):
    message = "Finish this match first, or give up."
    code = "match_not_finished"
    status = 409


class NoDrawError(PlayError):
    message = "You can offer a draw when the same position has come three times. Play on for now."
    code = "no_draw"
    status = 409


class NotAPlayerError(PlayError):
    message = "You are watching this match. Only its players can do that."
    code = "not_a_player"
    status = 403


class NotTheHostError(PlayError):
    message = "You are watching. The person who opened this room decides when its players move."
    code = "not_the_host"
    status = 403


class NotAnExhibitionError(PlayError):
    message = "A person plays in this room, so its moves cannot be stepped through."
    code = "not_an_exhibition"
    status = 409


class RoomNotFoundError(PlayError):
    message = "There is no room with this code. Check the code, or start a new match."
    code = "room_not_found"
    status = 404


class MatchNotFoundError(PlayError):
    """The room exists and has no match of this number. Such a request does not count as a guess of a room code."""

    code = "match_not_found"
    status = 404
    message = "This room has no game of this number. Open the room to see its latest game."

    def __init__(self, code: str, number: int | str) -> None:
        super().__init__(f"Room {code} has no game {number}. Open the room to see its latest game.")


class NotACodeError(RoomNotFoundError):
    """A text that cannot be a code. No room was looked up, so the text does not count as a guess."""

    message = "This is not a room code. A code has six letters or digits, such as k7m2pq. It never has i, l, o, 0 or 1."


class ThrottledError(PlayError):
    """A rate limit is exceeded; ``retry_after_s`` is the time to wait."""

    message = "That was too much in a short time. Wait a little, then try again."
    code = "throttled"
    status = 429
    retry_after_s: int

    def __init__(self, wait_s: float) -> None:
        super().__init__()
        self.retry_after_s = math.ceil(wait_s)


class TooManyGuessesError(ThrottledError):
    message = "Too many wrong codes came from here. Wait a little, then check the code."


class TooManyMatchesError(ThrottledError):
    message = "Too many matches were started from your network today. You can still finish the matches you have."


class RoomFullError(PlayError):
    message = "Both seats in this room are taken. You can still watch."
    code = "room_full"
    status = 409


class RoomQuotaError(PlayError):
    message = "Too many matches are open. Finish a match or give it up first."
    code = "room_quota"
    status = 409


class CannotSwapError(PlayError):
    message = "The machine in this room plays one side only, so sides cannot be swapped."
    code = "cannot_swap"
    status = 409


class AccountClosedError(PlayError):
    message = "This account is closed."
    code = "not_authenticated"
    status = 401


class TokenInvalidError(PlayError):
    message = "This is no token of this site. A token begins with bead_. Make one on your account page."
    code = "token_invalid"
    status = 401


class TokenExpiredError(PlayError):
    message = "This token has expired. Make a new one on your account page."
    code = "token_expired"
    status = 401


class TokenRevokedError(PlayError):
    message = "This token has been revoked. Make a new one on your account page."
    code = "token_revoked"
    status = 401


class TokenScopeError(PlayError):
    message = "This token is not allowed to do that. Make one with the right scope on your account page."
    code = "scope_missing"
    status = 403


class TooManyTokensError(PlayError):
    message = "Your account has the most tokens it can have. Revoke one first."
    code = "too_many_tokens"
    status = 409


class TokenNotFoundError(PlayError):
    message = "Your account has no such token."
    code = "token_not_found"
    status = 404
