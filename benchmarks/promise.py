"""Does it help where labels are dirty, and do no harm where they are clean, whatever the backbone?

DIPS_DATA=folder python benchmarks/promise.py --seeds 3 --jobs 2
"""

from common import paper

if __name__ == "__main__":
    paper("good-model")
