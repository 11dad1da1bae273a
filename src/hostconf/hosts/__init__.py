"""Agent hosts as data: the schema of `hosts/*.toml`, reading them, and spelling a registration."""
