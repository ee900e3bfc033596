"""Five labelers without and with DIPS on the paper's public tables (Fig. 4), beside the authors' numbers.

DIPS_DATA=folder python benchmarks/battery.py --seeds 10 --members 3 --jobs 2
"""

from common import paper

if __name__ == "__main__":
    paper("battery")
