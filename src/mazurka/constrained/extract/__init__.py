"""From a `Program` to a `Model`.

extraction.py  the rounds in which it is found what each thread can do
paths.py       what is known of a thread at a location, and on the way from one to the next
stepping.py    the instructions on that way
memory.py      memory, as words and arrays
values.py      which values they can have
output.py      what is computed only to be printed
assembly.py    the locations and transitions that come of it
ranking.py     which local loops end, and why
liveness.py    which values are not needed any more
reuse.py       blocks of memory that are used again
"""
