"""Loops that wait: which of their iterations change nothing, and what becomes of them."""
