"""The review of suspect labels in a browser: material in, decisions out; knows no study."""
