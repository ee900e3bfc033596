"""How an attack can end. The first two are fine, any other is a failure."""

REFUSED = "refused"  # in one sentence
CLEAN = "clean"  # done, with a result that is right
TRACEBACK = "traceback"
CRASH = "crash"
HANG = "hang"
DIFFERENT = "different"  # done, with another result than it should have

FINE = (REFUSED, CLEAN)
ALL = (REFUSED, CLEAN, TRACEBACK, CRASH, HANG, DIFFERENT)
