"""Builds the one compiled part; without a compiler the installation still succeeds, and portable code is used."""

import sys

from setuptools import Extension, setup

# Python's own -fwrapv would make the watch pass a third slower.
options = ["-O3", "-fno-math-errno", "-fno-trapping-math", "-fno-wrapv"]
if sys.platform == "win32":
    options = ["/O2", "/std:c11"]

setup(
    ext_modules=[
        Extension(
            "dips._forest._kernel",
            sources=["src/dips/_forest/kernel.c"],
            depends=["src/dips/_forest/kernel_trees.h", "src/dips/_forest/kernel_statistics.h"],
            extra_compile_args=options,
            define_macros=[("Py_LIMITED_API", "0x030B0000")],
            py_limited_api=True,
            optional=True,
        )
    ],
    options={"bdist_wheel": {"py_limited_api": "cp311"}},  # one wheel per platform serves every later Python too
)
