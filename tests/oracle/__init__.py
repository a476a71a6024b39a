"""The judge of the explorers: what a small program can do, found by brute force."""
