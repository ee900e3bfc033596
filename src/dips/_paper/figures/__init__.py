"""The figures and tables of the paper, one module each; only the one that is asked for is imported."""
