"""Screens of the wizard, one a file, its `.tcss` beside it. None decides anything."""
