"""The review as a web application: Starlette routes around the desk, served by uvicorn."""

from __future__ import annotations

import contextlib
import json
import socket
import threading
import time
from collections.abc import Awaitable, Callable
from importlib.resources import files
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from dips._review.desk import SUSPECTS, Desk, checked_name
from dips._review.export import EXPORTS, Export
from dips._review.security import Door, Guard, Session
from dips._review.training import TrainingAgain
from dips._tools.files import without_nan
from dips.exceptions import DipsError, OutputError, ReviewError

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
_STATIC = {
    "/": ("_review", "review.html", "text/html"),
    "/page.css": ("_report", "page.css", "text/css"),
    "/review.css": ("_review", "review.css", "text/css"),
    "/logic.js": ("_report", "logic.js", "text/javascript"),
    "/detail.js": ("_report", "detail.js", "text/javascript"),
    "/talk.js": ("_review", "talk.js", "text/javascript"),
    "/card.js": ("_review", "card.js", "text/javascript"),
    "/dialogs.js": ("_review", "dialogs.js", "text/javascript"),
    "/review.js": ("_review", "review.js", "text/javascript"),
}
_ENTER, _PING = "/api/enter", "/ping"
_OF_COMPARISON = "sandbox; default-src 'none'; style-src 'unsafe-inline'"  # it has no script, and gets no origin
_START_S = 20.0

Handler = Callable[[str, dict[str, Any]], Any]


class ReviewServer:
    """A desk that can be reached with a browser.

    Parameters
    ----------
    desk : the review
    host : address to listen on
    port : 0 takes a free one
    reviewer : who opens the first session
    training : what "train again" does; None where it cannot
    framed : whether pages on this machine, such as a notebook, may show it in a frame
    """

    def __init__(
        self,
        desk: Desk,
        host: str = "127.0.0.1",
        port: int = 0,
        reviewer: str = "",
        training: TrainingAgain | None = None,
        framed: bool = False,
    ) -> None:
        self.desk, self.training, self.door = desk, training, Door()
        self._socket = _bound(host, port)
        self.host, self.port = host, self._socket.getsockname()[1]
        self.cookie = f"dips_review_{self.port}"  # browsers send a cookie to every port of a host
        self._reviewer = reviewer
        config = uvicorn.Config(
            self.app(framed), log_level="error", access_log=False, server_header=False, date_header=False, ws="none",
            lifespan="off", timeout_graceful_shutdown=1, h11_max_incomplete_event_size=16_384,
        )  # fmt: skip
        self._server = uvicorn.Server(config)
        self._thread: threading.Thread | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """Host names that the server goes by."""
        return LOOPBACK if self.host in ("127.0.0.1", "localhost", "::1") else (*_own_names(self.host), *LOOPBACK)

    def address(self, name: str | None = None) -> str:
        """Address with a new token, after the #: browsers send it nowhere, the page does."""
        return f"http://{name or self.names[0]}:{self.port}/#{self.door.new_token(self._reviewer)}"

    def serve(self) -> None:
        """Answer until stopped, as by Ctrl-C."""
        threading.Thread(target=self.desk.prepare, daemon=True, name="prepare the search").start()
        with contextlib.suppress(KeyboardInterrupt):  # which uvicorn passes on when it has ended
            self._server.run(sockets=[self._socket])

    def start(self) -> None:
        """Answer in the background."""
        self._thread = threading.Thread(target=self.serve, daemon=True, name="dips review")
        self._thread.start()
        deadline = time.monotonic() + _START_S
        while not self._server.started:
            if time.monotonic() > deadline or not self._thread.is_alive():
                raise ReviewError("The server of the review did not start.")
            time.sleep(0.01)

    def stop(self) -> None:
        """Stop answering."""
        if self.training is not None:
            self.training.stop()
        self._server.should_exit = True
        if self._thread is not None:
            self._thread.join(timeout=5)

    def app(self, framed: bool = False) -> Starlette:
        """The application: everything is refused that is not listed here."""
        hosts = [f"{name}:{self.port}" for name in self.names]
        frames = " ".join(f"http://{name}:*" for name in LOOPBACK[:2]) if framed else "'none'"
        public = [("GET", path) for path in (*_STATIC, _PING)] + [("POST", _ENTER)]
        routes = [Route(path, _static(*_STATIC[path])) for path in _STATIC]
        routes += [
            Route(f"/api/{name}", self._route(answer), methods=["POST"]) for name, answer in self._answers().items()
        ]
        routes += [
            Route(_ENTER, self._enter, methods=["POST"]),
            Route("/api/name", self._name, methods=["POST"]),
            Route("/api/export", self._export, methods=["POST"]),
            Route("/comparison", self._comparison),
            Route(_PING, _pong),
        ]
        guard = Middleware(Guard, door=self.door, hosts=hosts, cookie=self.cookie, public=public, frames=frames)
        return Starlette(routes=routes, middleware=[guard])

    def _answers(self) -> dict[str, Handler]:
        """What can be asked, each a function of the reviewer and the question."""
        desk, training = self.desk, self.training
        return {
            "start": lambda who, q: desk.start(who) | {"exports": self._exports(), "can_train": training is not None},
            "line": lambda who, q: desk.line(who, str(q.get("kind", SUSPECTS))),
            "card": lambda who, q: desk.card(who, _whole(q, "row")),
            "decide": self._decide,
            "undo": self._undo,
            "progress": lambda who, q: desk.progress(who) | {"agreement": desk.agreement()},
            "find": lambda who, q: {"found": desk.find(who, str(q.get("text", "")), str(q.get("kind", SUSPECTS)))},
            "invite": lambda who, q: {"address": self.invitation()},
            "train": lambda who, q: self._training().start(desk),
            "training": lambda who, q: self._training().state(),
            "stop": lambda who, q: self._training().stop(),
        }

    def invitation(self) -> str:
        """Address for another reviewer, who will say their own name."""
        return f"http://{self.names[0]}:{self.port}/#{self.door.new_token()}"

    def _decide(self, who: str, q: dict[str, Any]) -> dict[str, Any]:
        label = q.get("label")
        event = self.desk.decide(
            who, q.get("client", ""), _whole(q, "row"), str(q.get("action")), label, q.get("note", "")
        )
        told = self.desk.card(who, event.row)
        return {"seq": event.seq, "row": event.row, "status": told["status"], "label": told.get("label")} | {
            "progress": self.desk.progress(who)
        }

    def _undo(self, who: str, q: dict[str, Any]) -> dict[str, Any]:
        event = self.desk.undo(who, q.get("client", ""))
        if event is None:
            return {"row": None, "progress": self.desk.progress(who)}
        status = self.desk.decisions.status(who, event.row)
        return {"row": event.row, "status": status, "progress": self.desk.progress(who)}

    def _training(self) -> TrainingAgain:
        if self.training is None:
            raise ReviewError("The table of this run is not available, so nothing can be trained again.")
        return self.training

    def _exports(self) -> list[dict[str, str]]:
        return [{"name": e.name, "title": e.title} for e in EXPORTS if e.is_possible(self.desk.material)]

    def _route(self, answer: Handler) -> Callable[[Request], Awaitable[Response]]:
        async def respond(request: Request) -> Response:
            session: Session = request.scope["session"]
            if not session.reviewer:
                return JSONResponse({"error": "Say who you are first.", "needs_name": True}, 403)
            return await _answered(request, lambda question: answer(session.reviewer, question))

        return respond

    async def _enter(self, request: Request) -> Response:
        """A token becomes a cookie that scripts cannot read and other sites cannot send."""
        secret = self.door.enter(str((await _question(request) or {}).get("token", "")))
        if secret is None:
            return JSONResponse({"error": "This token is unknown, or has been used."}, 401)
        response = JSONResponse({"entered": True})
        response.set_cookie(self.cookie, secret, httponly=True, samesite="strict", path="/")
        return response

    async def _name(self, request: Request) -> Response:
        session: Session = request.scope["session"]

        def named(question: dict[str, Any]) -> dict[str, str]:
            session.reviewer = checked_name(question.get("name"))
            return {"reviewer": session.reviewer}

        return await _answered(request, named)

    async def _export(self, request: Request) -> Response:
        session: Session = request.scope["session"]
        if not session.reviewer:
            return JSONResponse({"error": "Say who you are first."}, 403)
        made: dict[str, Any] = {}

        def make(question: dict[str, Any]) -> dict[str, Any]:
            export: Export | None = next((e for e in EXPORTS if e.name == question.get("name")), None)
            if export is None or not export.is_possible(self.desk.material):
                raise ReviewError(f"{question.get('name')!r} cannot be exported here.")
            made["name"], made["content"] = export.make(self.desk)
            return {}

        failed = await _answered(request, make)
        if failed.status_code != 200:
            return failed
        file_name = json.dumps(made["name"].encode("ascii", "replace").decode())
        headers = {"Content-Disposition": f"attachment; filename={file_name}"}
        return Response(made["content"], media_type="application/octet-stream", headers=headers)

    async def _comparison(self, request: Request) -> Response:
        """The page of dips compare; it may do no more than its own policy says, and cannot reach the review."""
        page = None if self.training is None else self.training.page()
        if page is None:
            return HTMLResponse("Nothing has been trained again yet.", 404)
        return HTMLResponse(page, headers={"Content-Security-Policy": _OF_COMPARISON})


async def _answered(request: Request, answer: Callable[[dict[str, Any]], Any]) -> Response:
    """Read a question, work it out in a thread, and answer; what is refused is said in a sentence."""
    question = await _question(request)
    if question is None:
        return JSONResponse({"error": "A question is a JSON object."}, 400)
    try:
        return JSONResponse(without_nan(await run_in_threadpool(answer, question)))
    except OutputError as error:
        return JSONResponse({"error": str(error)}, 507)
    except DipsError as error:
        return JSONResponse({"error": str(error)}, 400)


async def _question(request: Request) -> dict[str, Any] | None:
    """Return the JSON object of a request; None for anything else, and for texts that no file can hold."""
    try:
        question = await request.json()
        json.dumps(question, ensure_ascii=False).encode()
    except (ValueError, RecursionError, ClientDisconnect):
        return None
    return question if isinstance(question, dict) else None


def _pong(request: Request) -> Response:
    """Nothing, to anybody: a notebook learns whether the server can be reached."""
    return Response(status_code=204, headers={"Cross-Origin-Resource-Policy": "cross-origin"})


def _whole(question: dict[str, Any], name: str) -> int:
    value = question.get(name)
    if not isinstance(value, int) or isinstance(value, bool):
        raise ReviewError(f"{name!r} must be a whole number; got {value!r}.")
    return value


def _static(package: str, name: str, kind: str) -> Callable[[Request], Response]:
    content = (files(f"dips.{package}") / name).read_bytes()
    return lambda request: Response(content, media_type=kind)


def _bound(host: str, port: int) -> socket.socket:
    try:
        return socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
    except OSError as error:
        reason = (error.strerror or str(error)).partition(" (while ")[0]  # Python repeats the address
        raise ReviewError(f"dips cannot listen on {host}:{port}: {reason}; --port 0 takes a free port.") from error


def _own_names(host: str) -> list[str]:
    """What others may call this machine."""
    if host not in ("0.0.0.0", "::"):
        return [f"[{host}]" if ":" in host else host]
    name = socket.gethostname()
    try:
        addresses = {str(info[4][0]) for info in socket.getaddrinfo(name, None, socket.AF_INET)}
    except OSError:
        addresses = set()
    return list(dict.fromkeys([name.lower(), socket.getfqdn().lower(), *sorted(addresses)]))
