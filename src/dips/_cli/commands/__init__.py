"""The commands, one module each; a new one is found by itself."""
