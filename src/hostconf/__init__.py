"""hostconf: which tool the model gets, on every agent host, and which line decides it."""

__version__ = "0.1.0"
