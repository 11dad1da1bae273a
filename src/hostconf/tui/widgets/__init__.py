"""Widgets of the wizard, one a file."""
