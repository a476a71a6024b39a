"""Transformations of programs, in place, each of which keeps what a program can do and what can be seen of it."""

from mazurka.program.program import Program
from mazurka.transforms.escape import find_private_objects
from mazurka.transforms.promote import promote

__all__ = ["find_private_objects", "prepare", "promote"]


def prepare(program: Program) -> Program:
    """What is done to every valid program before it is checked: local variables go to registers, and what stays in
    memory but cannot be shared is marked as private. In this order, because a variable in a register leaks nothing."""
    for function in program.functions.values():
        promote(function)
    find_private_objects(program)
    return program
