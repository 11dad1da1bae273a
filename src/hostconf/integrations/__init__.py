"""Integrations as data: the schema of `integrations/*.toml`, and reading them."""
