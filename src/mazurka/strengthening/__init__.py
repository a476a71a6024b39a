"""What could be stronger in a program: the memory orders that it names, and fences that it does not have.

orders.py     orders, what they add to each other, and what that costs
statements.py where in a source file a fence can be written
sites.py      the places of a program at which something can be stronger, and the program with it
hitting.py    the cheapest sets of changes that a solver cannot exclude
"""
