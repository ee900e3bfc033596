"""One thread a library: on tables this small, threads that wait for each other cost more than the work itself."""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
