"""From a folder of images to a run folder or a list of suspects: ``dips fit``, ``audit`` and ``predict`` on images."""
