"""The review under fire: a server killed with -9 again and again while two people decide a thousand rows.

Each person asks over HTTP, as the page does: one decision at a time, and the same one again under the same client key
when no answer comes. In the end every acknowledged decision must be in the trail once, and the chain must hold.

python benchmarks/review_crash.py             # 1000 decisions, the server killed every half second
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from dips import fit
from dips._review.store import EventStore
from dips._review_demo import noisy_table
from dips._study.reviewing import DECISIONS, desk_of_run
from dips._study.run import Run

SERVER = """
import sys
from dips._study.reviewing import server_of_run
from dips._study.run import Run
server = server_of_run(Run(sys.argv[1]), port=int(sys.argv[2]))
for name in ("anna", "bob"):
    server._reviewer = name
    print(server.address().partition("#")[2], flush=True)
server.serve()
"""


class Server:
    """A server in a process of its own, on the same port after every restart."""

    def __init__(self, run: Path, port: int) -> None:
        self.run, self.port, self.n_kills = run, port, 0
        self.tokens: dict[str, str] = {}
        self.start()

    def start(self) -> None:
        """Start, and wait for its tokens."""
        command = [sys.executable, "-c", SERVER, str(self.run), str(self.port)]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        self.tokens = {name: self.process.stdout.readline().strip() for name in ("anna", "bob")}

    def kill(self) -> None:
        """End it without a warning."""
        os.kill(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self.n_kills += 1


class Person:
    """Decides rows one after the other; never gives up."""

    def __init__(self, name: str, server: Server, rows: list[int]) -> None:
        self.name, self.server, self.rows = name, server, rows
        self.told: list[tuple[int, int]] = []  # row and number of each acknowledged decision
        self.seconds: list[float] = []
        self.cookie = ""

    def work(self) -> None:
        """Decide all rows."""
        for n, row in enumerate(self.rows):
            question = {"row": row, "action": "keep", "client": f"{self.name}-{n}"}
            while (answer := self.ask("decide", question)) is None:
                time.sleep(0.02)
            self.told.append((row, answer["seq"]))

    def ask(self, what: str, question: dict[str, object]) -> dict[str, int] | None:
        """Ask once; None where no answer comes."""
        host = f"127.0.0.1:{self.server.port}"
        headers = {"Origin": f"http://{host}", "Content-Type": "application/json", "Cookie": self.cookie}
        began = time.perf_counter()
        try:
            connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=5)
            connection.request("POST", f"/api/{what}", json.dumps(question), headers)
            response = connection.getresponse()
            body = response.read()
        except (OSError, http.client.HTTPException):
            return None
        if response.status == 401 and what != "enter":  # another server; enter again
            self.ask("enter", {"token": self.server.tokens.get(self.name, "")})
            return None
        if what == "enter" and response.status == 200:
            self.cookie = response.headers["Set-Cookie"].partition(";")[0]
        if response.status != 200:
            return None
        self.seconds.append(time.perf_counter() - began)
        return json.loads(body)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--decisions", type=int, default=1000)
    parser.add_argument("--every", type=float, default=0.5, help="seconds between two kills")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        frame, _ = noisy_table()
        frame.to_csv(f"{place}/tumors.csv", index=False)
        run = fit(f"{place}/tumors.csv", "tumor", f"{place}/run", id=("sample",), time_limit=1e-6)
        report(Path(place) / "run", run, chosen.decisions // 2, chosen.every)


def report(folder: Path, run: Run, n_each: int, every: float) -> None:
    desk = desk_of_run(run)
    labeled = desk.material.account["row"].tolist()
    rows, checksum = [labeled[k % len(labeled)] for k in range(n_each)], desk.material.checksum
    desk.store.close()
    server = Server(folder, free_port())
    people = [Person(name, server, rows) for name in ("anna", "bob")]
    threads = [threading.Thread(target=person.work) for person in people]
    began = time.monotonic()
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        time.sleep(every)
        server.kill()
        server.start()
    server.kill()
    store = EventStore(folder / "review" / DECISIONS, checksum)
    events = {event.seq: event for event in store.events()}
    lost = [told for p in people for told in p.told if told[1] not in events or events[told[1]].row != told[0]]
    twice = len(events) - len({event.client for event in events.values()})
    seconds = [s for p in people for s in p.seconds]
    print(f"{sum(len(p.told) for p in people):,} decisions acknowledged, {len(events):,} in the trail")
    print(f"{server.n_kills} times killed with -9 in {time.monotonic() - began:.0f} s")
    print(f"lost: {len(lost)}, twice: {twice}, chain of {store.verify():,} events holds")
    print(f"an answer took {1000 * statistics.median(seconds):.1f} ms in the middle, {1000 * max(seconds):.0f} at most")


def free_port() -> int:
    import socket

    with socket.create_server(("127.0.0.1", 0)) as probe:
        return probe.getsockname()[1]


if __name__ == "__main__":
    main()
