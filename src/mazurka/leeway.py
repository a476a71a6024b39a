"""What C leaves undefined or open, and what is made of it; what a program meets around it. It is part of what a program
means, so a schedule fits a program only if both are taken alike."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Leeway:
    """Each as the option of its name explains it (`mazurka.options`)."""

    overflow: bool = True
    alignment: bool = True
    member_bounds: bool = True
    spurious: bool = False
    failing_malloc: bool = False
    reuse_addresses: bool = False
    nondet: str | None = None
    stdin: str | None = None
    compat: str | None = None


USUAL = Leeway()
# As safe schedules are proved: with the numbers of the machine, which wrap around.
TRUSTING = Leeway(overflow=False, member_bounds=False)
