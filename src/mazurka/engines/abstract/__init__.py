"""The abstract engine: threads as guarded transitions, iterative IMPACT, incomplete verification results.

terms.py       expressions over bit-vectors and arrays
model.py       a program as threads of guarded transitions
extraction.py  from a `Program` to a `Model`
proof.py       what an iteration yields: a finite proof that its schedules are safe
"""
