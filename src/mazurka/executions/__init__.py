"""One execution: its schedule, running it again, and telling what happened in it."""
