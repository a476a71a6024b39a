"""Iterative IMPACT: schedules that are proved to be safe, from abstract reachability trees.

tree.py        abstract reachability trees
labels.py      what is known at their nodes: weakest preconditions
summaries.py   what is known of local loops without going round in them
rounds.py      how executions do go round
exploration.py how trees grow, and what goes wrong on the way
strategy.py    incomplete verification results: schedules that are safe, deadlock-free and fair
complete.py    complete verification: all schedules
states.py      all states of a model, one by one
game.py        whether there is a safe schedule at all, and which
search.py      the face of it all
"""
