"""The streaming core: joining, judgments, deadlines and windows. Pure: no I/O, and time is a parameter."""
