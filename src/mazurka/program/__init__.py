"""The representation of programs: a control-flow graph in SSA form, in which whatever blocks is a guard.

types.py, instructions.py, program.py  what programs are made of
builder.py                             writing them in Python
validate.py, printer.py                whether they are well-formed; as text
cfg.py, operands.py                    graphs of blocks, and what instructions use and define, for transformations
names.py                               what functions and parts of objects are called in the source
"""
