"""From LLVM's text to a `Program`: function by function, instruction by instruction.

function.py     a function: its parameters, its blocks
translator.py   what is known of the one that is being translated
values.py       instructions that compute
memory.py       instructions that access memory; members.py the bounds of arrays in structures
calls.py        calls; variadic.py lays out variadic arguments
control.py      jumps, returns, phis
exceptions.py   landing pads, and what follows a call that may throw
builtins.py     calls that are no calls; arithmetic.py those that only compute
refusals.py     calls that are none of these, nor of a function of the program
"""
