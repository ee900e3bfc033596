"""The estimators: scikit-learn classifiers that curate their labels."""
