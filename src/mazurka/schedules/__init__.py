"""Schedules: what an incomplete verification result permits, in a form that can be stored, checked and enforced.

constants.py  values that are known along a proof
sections.py   program schedules: a proof cut into sections, each a partial order of events
format.py     as JSON files
checker.py    proves a schedule again, independently of how it was found
following.py  runs a program in the virtual machine as a schedule permits
picture.py    in words, as SVG, for Graphviz
"""
