"""When to stop, as a value: whatever comes after a search has only the time that the search has left over."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass

# When its time is up, a search ends, but what it has found is told, if that does not take longer than this.
TIME_TO_TELL = 1.0


class OutOfTime(Exception):
    """The deadline has passed. Whoever set it says what that means for the answer."""


@dataclass(frozen=True, slots=True)
class Deadline:
    """`timeout` is the limit that was given, in seconds, and `at` when it is reached, on the clock of `monotonic`."""

    timeout: float | None = None
    at: float = math.inf

    @staticmethod
    def after(timeout: float | None) -> Deadline:
        """So many seconds from now; None: there is no limit."""
        return NEVER if timeout is None else Deadline(timeout, time.monotonic() + timeout)

    def extended(self, grace: float = TIME_TO_TELL) -> Deadline:
        """Time to finish what was begun: until then, or so many seconds from now if that is later."""
        return Deadline(self.timeout, max(self.at, time.monotonic() + grace))

    def sooner(self, seconds: float) -> Deadline:
        """For what is not worth all of the time: so many seconds from now, or half of what is left if that is less."""
        return Deadline(self.timeout, time.monotonic() + min(seconds, self.left() / 2))

    def left(self) -> float:
        """The seconds that are left, below 0 if none are."""
        return self.at - time.monotonic()

    def check(self) -> None:
        """To be called now and then by whatever takes long."""
        if self.left() <= 0:
            raise OutOfTime

    @property
    def reason(self) -> str:
        """What to say when it has passed."""
        return f"the time limit of {self.timeout:g} s was reached"


NEVER = Deadline()
