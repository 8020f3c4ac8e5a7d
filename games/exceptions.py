"""Refusals of the services: each has a stable ``code`` and the HTTP status it means. Changing a code breaks scripts."""

import math

from games.rules.errors import RulesError


class PlayError(Exception):
    """Base of everything a service refuses; ``message`` is a sentence a child understands, unless another is given."""

    message = "This cannot be done."
    code = "play_error"
    status = 400
    retry_after_s: int | None = None
    """In how many seconds the same may succeed, where waiting helps."""

    def __init__(self, message: str | None = None) -> None:
        super().__init__(message or self.message)

    @property
    def told(self) -> dict[str, str]:
        """The refusal as it goes over the wire."""
        return {"detail": str(self), "code": self.code}


class SessionChangedError(Exception):
    """The session by which somebody is known is not as it was read, or has ended: who it is, is to be read anew."""


class GuestMovedError(PlayError):
    message = "You have logged in meanwhile, and your machines came along. Load the page again."
    code = "guest_moved"
    status = 409


class MalformedError(PlayError):
    message = "This could not be understood."
    code = "malformed"


class MoveRefusedError(PlayError):
    """The rules refuse the move; ``code`` says whether it is no move at all or not allowed here."""

    def __init__(self, error: RulesError) -> None:
        super().__init__(str(error))
        self.code = error.code


class UnavailableError(PlayError):
    message = "The site cannot reach its memory just now. Your match is kept: try again in a few seconds."
    code = "unavailable"
    status = 503
    retry_after_s = 5


class BusyError(PlayError):
    message = "Very many are playing at this moment. Nothing has changed: try again in two seconds."
    code = "busy"
    status = 503
    retry_after_s = 2


class SiteFullError(PlayError):
    message = "This site keeps as much as it can just now. What is there goes on: try again tomorrow."
    code = "site_full"
    status = 503
    retry_after_s = 3600


class NotYourTurnError(PlayError):
    message = "It is the other side's turn."
    code = "not_your_turn"
    status = 409


class StalePlyError(PlayError):
    message = "The board has changed since you looked. Look again, then move."
    code = "stale_ply"
    status = 409


class MatchFinishedError(PlayError):
    message = "This match is over."
    code = "match_finished"
    status = 409


class MatchWaitingError(PlayError):
    message = "The other player has not come yet."
    code = "match_waiting"
    status = 409


class MatchNotFinishedError(PlayError):
    message = "Finish this match first, or give up."
    code = "match_not_finished"
    status = 409


class NotAPlayerError(PlayError):
    message = "You are watching this match. Only its two players can do that."
    code = "not_a_player"
    status = 403


class NotTheHostError(PlayError):
    message = "You are watching. Only whoever opened this room says when its players move."
    code = "not_the_host"
    status = 403


class NotAnExhibitionError(PlayError):
    message = "Somebody plays in this room, so nobody else can say when to move."
    code = "not_an_exhibition"
    status = 409


class RoomNotFoundError(PlayError):
    message = "There is no room with this code."
    code = "room_not_found"
    status = 404


class ThrottledError(PlayError):
    """A rate is used up: for how long is told."""

    message = "That was more than may be in so short a time. Wait a little."
    code = "throttled"
    status = 429
    retry_after_s: int

    def __init__(self, wait_s: float) -> None:
        super().__init__()
        self.retry_after_s = math.ceil(wait_s)


class TooManyGuessesError(ThrottledError):
    message = "Too many codes from here were wrong. Wait a little, then look at the code again."


class TooManyMatchesError(ThrottledError):
    message = "As many matches were begun where you are as may be in a day. Those that are there go on."


class RoomFullError(PlayError):
    message = "Both seats in this room are taken. You can still watch."
    code = "room_full"
    status = 409


class RoomQuotaError(PlayError):
    message = "As many matches are open as may be. Finish one or give one up first."
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
    message = "This is not a token of ours."
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
    message = "This token may not do that. Make one with the right scope on your account page."
    code = "scope_missing"
    status = 403


class TooManyTokensError(PlayError):
    message = "You have as many tokens as an account may have. Revoke one first."
    code = "too_many_tokens"
    status = 409


class TokenNotFoundError(PlayError):
    message = "You have no such token."
    code = "token_not_found"
    status = 404
