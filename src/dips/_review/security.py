"""Who may ask for what: checks of every request before any route sees it, and headers on every answer.

Everything is refused that is not allowed: another host name (so that no foreign name can be pointed at this machine), a
request that another site started, a request without the cookie of a session, a body that is too long, any method but
GET and POST.
"""

from __future__ import annotations

import hashlib
import secrets
import threading
from collections.abc import Iterable
from dataclasses import dataclass

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

MAX_BODY = 64 * 1024
_POLICY = {
    "default-src": "'none'",
    "script-src": "'self'",
    "style-src": "'self'",
    "img-src": "data:",
    "connect-src": "'self'",
    "base-uri": "'none'",
    "form-action": "'none'",
}
_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}


@dataclass
class Session:
    """A browser that came with a token.

    Attributes
    ----------
    reviewer : who sits there; empty until they said it
    """

    reviewer: str = ""


class Door:
    """Tokens that open a session once, and the sessions. Only checksums of both are kept."""

    def __init__(self) -> None:
        self._tokens: dict[str, str] = {}
        self._sessions: dict[str, Session] = {}
        self._lock = threading.Lock()

    def new_token(self, reviewer: str = "") -> str:
        """A token that opens one session, for this reviewer."""
        token = secrets.token_urlsafe(32)
        with self._lock:
            self._tokens[_digest(token)] = reviewer
        return token

    def enter(self, token: str) -> str | None:
        """Exchange a token for the secret of a new session; None if it is unknown, or was used."""
        with self._lock:
            reviewer = self._tokens.pop(_digest(token), None)
            if reviewer is None:
                return None
            secret = secrets.token_urlsafe(32)
            self._sessions[_digest(secret)] = Session(reviewer)
            return secret

    def session(self, secret: str) -> Session | None:
        """The session of a secret."""
        with self._lock:
            return self._sessions.get(_digest(secret))


class Guard:
    """Middleware: lets through what is allowed.

    Parameters
    ----------
    app : what is guarded
    door : knows the sessions
    hosts : names and ports that this server goes by, as in a Host header
    cookie : name of the session's cookie
    public : methods and paths that anybody may ask for; they hold no data
    frames : sites that may show the page in a frame
    """

    def __init__(
        self,
        app: ASGIApp,
        door: Door,
        hosts: Iterable[str],
        cookie: str,
        public: Iterable[tuple[str, str]],
        frames: str = "'none'",
    ) -> None:
        self.app, self.door, self.cookie = app, door, cookie
        self.hosts, self.public = frozenset(hosts), frozenset(public)
        self.policy = "; ".join(f"{name} {value}" for name, value in {**_POLICY, "frame-ancestors": frames}.items())

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check a request, then hand it on."""
        if scope["type"] != "http":  # no WebSocket
            return
        refused = self._refusal(scope)
        if refused is None:
            await self.app(scope, _limited(receive), self._with_headers(send))
        else:
            status, reason = refused
            await JSONResponse({"error": reason}, status)(scope, receive, self._with_headers(send))

    def _refusal(self, scope: Scope) -> tuple[int, str] | None:
        headers, method = Headers(scope=scope), scope["method"]
        host, origin = headers.get("host", ""), headers.get("origin")
        if host not in self.hosts:
            return 421, "This server does not go by that name."
        if method not in ("GET", "POST"):
            return 405, "Only GET and POST are known here."
        if origin is not None and origin not in {f"http://{name}" for name in self.hosts}:
            return 403, "The request comes from another site."
        if method == "POST" and origin is None:
            return 403, "The request does not say which site it comes from."
        is_public = (method, scope["path"]) in self.public
        started_by = headers.get("sec-fetch-site", "same-origin")
        if started_by not in ("same-origin", "none") and not (is_public and method == "GET"):
            return 403, "The request was started by another site."
        if int(headers.get("content-length") or 0) > MAX_BODY:
            return 413, f"The request is longer than {MAX_BODY:,} bytes."
        session = self.door.session(_cookies(headers).get(self.cookie, ""))
        scope["session"] = session
        if session is None and not is_public:
            return 401, "Open the address that dips review printed; the token in it can be used once."
        return None

    def _with_headers(self, send: Send) -> Send:
        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in {**_HEADERS, "Content-Security-Policy": self.policy}.items():
                    headers.setdefault(name, value)
            await send(message)

        return send_with_headers


def _limited(receive: Receive) -> Receive:
    """A body without a declared length is cut off, too."""
    n_seen = 0

    async def receive_limited() -> Message:
        nonlocal n_seen
        message = await receive()
        n_seen += len(message.get("body", b""))
        return {"type": "http.disconnect"} if n_seen > MAX_BODY else message

    return receive_limited


def _cookies(headers: Headers) -> dict[str, str]:
    pairs = (part.strip().partition("=") for part in headers.get("cookie", "").split(";"))
    return {name: value for name, _, value in pairs}


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "replace")).hexdigest()
