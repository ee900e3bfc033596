"""Belief instead of verdict: how probable it is that each label is wrong, and what every row's class may be.

*Teachers* that err differently (the user's own backbone, linear models, randomized trees, a graph of near rows) predict
each labeled row from folds that do not hold it. Their answers are compared with the labels through a *noise model*: a
label is the true class or, with some rate, another one, and one class may be mistaken more often than the others. Under
each *hypothesis* about the noise every teacher is calibrated to explain the labels as well as it can; how well all
teachers together explain them is its likelihood. A model's own errors fade where it is sure, wrong labels do not, so
the two are told apart as far as the data allow. Everything else is averaged over what the noise may be: on clean tables
it is near 0 and labels stay as they are.

The *student* is the user's backbone, trained on these beliefs: each row once for every plausible class, weighted.
"""
