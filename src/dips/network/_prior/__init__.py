"""Synthetic tables with dirty labels, drawn in bulk: one file for each kind of ingredient."""
