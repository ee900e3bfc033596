"""Small tools that know nothing of labels or models."""
