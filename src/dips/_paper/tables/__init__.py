"""Trials on tables: the rows shown, the methods compared, what is measured."""
