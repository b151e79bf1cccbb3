"""Why a vault does not answer; each reason has its place in HTTP, and none tells what is secret."""

from __future__ import annotations

from shoal.errors import Problem, ShoalError, counted


class VaultError(ShoalError):
    """A vault does not do what it was asked."""

    status = 400


class UnauthenticatedError(VaultError):
    """Nobody knows who asks."""

    status = 401


class NotAllowedError(VaultError):
    """Who asks may not do that; the same is said where what is asked for does not exist."""

    status = 403


class TooManyError(VaultError):
    """Too many requests, or too many failures to sign in."""

    status = 429

    def __init__(self, problem: Problem, wait: int) -> None:
        super().__init__(problem)
        self.wait = wait


class SealedError(VaultError):
    """The vault has no master key, or the wrong one."""

    status = 503


class UnavailableError(VaultError):
    """The database is away, or cannot be trusted."""

    status = 503


class ClockError(VaultError):
    """The clock is behind the audit log, so nobody knows what has expired."""

    status = 503

    def __init__(self, seconds: int) -> None:
        what = f"is {counted(seconds, 'second')} behind the audit log, so nobody knows what has expired"
        fix = "a steward has to set it right; or, if it was ahead before and is right now, run: shoal vault trust-clock"
        super().__init__(Problem("clock", what, fix))


def signed_out() -> UnauthenticatedError:
    """Who asked is let in no more."""
    return UnauthenticatedError(Problem("sign-in", "is over", "sign in again, or ask the steward"))


def not_allowed() -> NotAllowedError:
    """The one refusal for everything that somebody may not do."""
    return NotAllowedError(Problem("request", "is not allowed", "ask the steward for a grant"))


def sealed() -> SealedError:
    """The vault is sealed."""
    return SealedError(Problem("vault", "is sealed", "a steward has to give the master key"))


def status_of(error: ShoalError) -> int:
    """The status of HTTP that says the same."""
    return error.status if isinstance(error, VaultError) else 422
