"""Rows and labels: tables as people have them, codes for labels, and the pool that holds all rows of a fit."""
