"""Trials on images. Importing this package does not need PyTorch; running a trial does."""
