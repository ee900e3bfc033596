"""From a folder of images to a run folder or a list of suspects: ``dips fit``, ``audit`` and ``predict`` on images."""

import dips.vision  # noqa: F401  # says what to install where PyTorch is missing, before anything else asks for it
