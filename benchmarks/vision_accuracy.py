"""FixMatch without and with curation on CIFAR-10N, 1000 labels of which 40 % are wrong: accuracy, and time to it.

DIPS_DATA=folder python benchmarks/vision_accuracy.py --steps 26000 --seeds 3
"""

from common import paper

if __name__ == "__main__":
    paper("cifar10n", "time-to-accuracy")  # the second has the trials of the first
