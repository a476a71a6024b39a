"""A module for each command, with `run`, which is imported when it is asked for."""
