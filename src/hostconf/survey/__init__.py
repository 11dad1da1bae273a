"""Snapshot to registrations, rules, surface and conflicts. Read-only and pure."""
