"""Why some functions cannot be called, and what to do instead."""

from __future__ import annotations

from mazurka.frontends.c.refusing import shown

# Random numbers.
_UNBOUNDED = frozenset(
    {
        "drand48", "erand48", "getrandom", "jrand48", "lrand48", "mrand48", "nrand48", "rand", "rand_r", "random",
        "random_r", "srand", "srand48", "srandom",
    }
)  # fmt: skip


def refusal(name: str) -> str:
    """Why a function that nobody defines cannot be called, and what to do."""
    if name.startswith("__VERIFIER_nondet_"):
        return (
            f"calls '{name}', which may return any value; "
            "use __VERIFIER_nondet_bool() or __VERIFIER_nondet_range(low, high), or give --nondet LOW..HIGH"
        )
    if name == "assert":
        return "calls 'assert' as a function, but it is a macro of <assert.h>; include that, or give -include assert.h"
    if name in _UNBOUNDED:
        return (
            f"calls '{name}', which may return any value; use __VERIFIER_nondet_range(low, high) instead, "
            "which tries all values from low to high, or give a range with --nondet LOW..HIGH"
        )
    if name.startswith(("__cxa_", "__dynamic_cast", "__mazurka_select", "_Unwind_")):
        return (
            f"calls '{shown(name)}': C++ exceptions and run-time types need the C++ library of the compiler that comes "
            "along; leave --cc out, or compile without them (-fno-exceptions)"
        )
    if name.startswith("_R"):
        return (
            f"calls '{shown(name)}', of which Rust has compiled code only; use what `core` has, and the C library, or "
            "define it in a file that is given"
        )
    if shown(name).startswith("std::filesystem::"):
        return f"calls '{shown(name)}': files and directories are not modelled; keep what the program needs in memory"
    if shown(name).startswith("std::"):
        return f"calls '{shown(name)}', which is not supported of the C++ library"
    return (
        f"calls '{shown(name)}', which Mazurka does not model; "
        "remove the call, or define the function in the program or in another file that is given"
    )
