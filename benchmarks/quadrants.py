"""Two quadrants under label noise (Fig. 3) and the ablation (appendix C.1), beside the published study.

python benchmarks/quadrants.py --seeds 20 --jobs 2
"""

from common import paper

if __name__ == "__main__":
    paper("quadrants", "ablation")
