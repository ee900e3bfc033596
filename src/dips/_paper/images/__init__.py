"""The image figures and tables of the paper, one module each. Importing them needs no PyTorch, running them does."""
