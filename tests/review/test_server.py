"""Whoever may not ask gets nothing; whoever may, gets plain answers."""

import http.client
import json
import re
import signal
import subprocess
import sys
import threading
import types

import pytest

from dips.exceptions import ReviewError

from .reviews import copy_of, server_in

pytest.importorskip("uvicorn", reason="the extra review is not installed")


class Browser:
    """A client that can be told to lie."""

    def __init__(self, server):
        self.server, self.host = server, f"127.0.0.1:{server.port}"
        self.cookie = ""

    def send(self, path, body=None, method=None, **headers):
        connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=20)
        usual = {"Host": self.host, "Cookie": self.cookie}
        content = None if body is None else json.dumps(body)
        method = method or ("GET" if body is None else "POST")
        if method == "POST":
            usual |= {"Origin": f"http://{self.host}", "Content-Type": "application/json"}
        wanted = {k.replace("_", "-"): v for k, v in (usual | headers).items() if v is not None}
        connection.putrequest(method, path, skip_host=True)
        for name, value in wanted.items():
            connection.putheader(name, value)
        connection.putheader("Content-Length", str(len(content.encode()) if content else 0))
        connection.endheaders(content.encode() if content else None)
        response = connection.getresponse()
        return response, response.read()

    def ask(self, what, **question):
        response, body = self.send(f"/api/{what}", question)
        assert response.status == 200, body
        return json.loads(body)

    def enter(self, token=None):
        token = token or self.server.address().partition("#")[2]
        response, body = self.send("/api/enter", {"token": token})
        assert response.status == 200, body
        self.cookie = response.headers["Set-Cookie"].partition(";")[0]
        return response


@pytest.fixture(scope="module")
def server(finished, tmp_path_factory):
    server = server_in(finished, tmp_path_factory.mktemp("served"), reviewer="anna")
    server.start()
    yield server
    server.stop()


@pytest.fixture
def browser(server):
    browser = Browser(server)
    browser.enter()
    return browser


def refused(browser, *arguments, **headers):
    response, _ = browser.send(*arguments, **headers)
    return response.status


def test_a_token_becomes_a_cookie_once(server):
    token = server.address().partition("#")[2]
    stranger = Browser(server)
    cookie = stranger.enter(token).headers["Set-Cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    assert str(server.port) in cookie  # reviews on other ports have other cookies
    assert stranger.send("/api/enter", {"token": token})[0].status == 401
    assert stranger.ask("start")["reviewer"] == "anna"


@pytest.mark.parametrize(
    "path", ["start", "line", "card", "decide", "undo", "find", "export", "train", "name", "nothing"]
)
def test_nothing_is_answered_without_a_session(server, path):
    stranger = Browser(server)
    assert refused(stranger, f"/api/{path}", {}) == 401
    assert refused(stranger, "/comparison") == 401
    stranger.cookie = f"{server.cookie}=guessed"
    assert refused(stranger, f"/api/{path}", {}) == 401


def test_other_host_names_are_refused(browser):
    for name in ("example.com", f"example.com:{browser.server.port}", "127.0.0.1", "127.0.0.1:1", None):
        assert refused(browser, "/", Host=name) in (400, 421)
        assert refused(browser, "/api/start", {}, Host=name) in (400, 421)


def test_requests_of_other_sites_are_refused(browser):
    for origin in ("http://example.com", "null", "http://127.0.0.1:1", f"https://{browser.host}", None):
        assert refused(browser, "/api/start", {}, Origin=origin) == 403
    for site in ("cross-site", "same-site"):
        assert refused(browser, "/api/start", {}, Sec_Fetch_Site=site) == 403
        assert refused(browser, "/comparison", Sec_Fetch_Site=site) == 403


def test_only_get_and_post_are_known(browser):
    for method in ("PUT", "DELETE", "OPTIONS", "PATCH"):
        assert refused(browser, "/api/start", {}, method) == 405
    assert refused(browser, "/api/decide") == 405  # by GET


def test_a_body_may_not_be_long(browser):
    assert refused(browser, "/api/find", {"text": "x" * 70_000}) == 413


@pytest.mark.parametrize("path", ["/", "/review.js", "/api/start"])
def test_every_answer_carries_the_policy(browser, path):
    response, _ = browser.send(path, {} if path.startswith("/api") else None)
    policy = response.headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    assert response.headers["X-Content-Type-Options"] == "nosniff"
    assert response.headers["Cache-Control"] == "no-store"
    assert response.headers.get("Server") is None


def test_static_files_hold_no_data_and_nothing_else_is_served(browser):
    for path in ("/decisions.sqlite", "/../run/config.json", "/review.py", "/api", "/openapi.json"):
        assert refused(browser, path) == 404


def test_whoever_was_invited_says_a_name_first(browser):
    address = browser.ask("invite")["address"]
    guest = Browser(browser.server)
    guest.enter(address.partition("#")[2])
    response, body = guest.send("/api/start", {})
    assert (response.status, json.loads(body)["needs_name"]) == (403, True)
    for bad in ("", "  ", "x" * 81, "a\nb", 5):
        assert refused(guest, "/api/name", {"name": bad}) == 400
    guest.ask("name", name=" bob ")
    assert guest.ask("start")["reviewer"] == "bob"


def test_a_decision_is_told_when_it_is_on_disk_and_a_retry_counts_once(browser):
    row = browser.ask("line")["rows"][0]
    question = {"row": row, "action": "keep", "client": "retried"}
    first, again = browser.ask("decide", **question), browser.ask("decide", **question)
    assert first["seq"] == again["seq"]
    assert browser.server.desk.store.events()[-1].client == "retried"
    assert browser.ask("undo", client="back")["row"] == row
    assert browser.ask("card", row=row)["status"] == "open"


@pytest.mark.parametrize("question", [{"row": "1"}, {"row": True}, {}, {"row": 10**9}, {"row": 1, "action": "drop"}])
def test_strange_questions_get_a_sentence(browser, question):
    response, body = browser.send("/api/decide", question)
    assert response.status == 400
    assert json.loads(body)["error"].endswith(".")


HOSTILE = {
    "deep": b"[" * 60_000,
    "no text": rb'{"token": "\ud800", "text": "\ud800", "name": "\ud800", "client": "\ud800", "row": 1}',
    "no UTF-8": b'{"token": "\xff"}',
    "a number of 5,000 digits": b'{"row": ' + b"9" * 5_000 + b"}",
}


@pytest.mark.parametrize("body", HOSTILE.values(), ids=HOSTILE)
@pytest.mark.parametrize("path", ["enter", "name", "decide", "find", "export"])
def test_hostile_bodies_get_a_sentence(browser, path, body, capfd):
    for cookie in ("", browser.cookie):
        connection = http.client.HTTPConnection("127.0.0.1", browser.server.port, timeout=20)
        headers = {"Host": browser.host, "Origin": f"http://{browser.host}", "Cookie": cookie}
        connection.request("POST", f"/api/{path}", body, headers)
        assert connection.getresponse().status in (400, 401)
    assert capfd.readouterr().err == ""


def test_a_body_of_unsaid_length_may_not_be_long_either(browser, capfd):
    connection = http.client.HTTPConnection("127.0.0.1", browser.server.port, timeout=20)
    headers = {"Host": browser.host, "Origin": f"http://{browser.host}", "Cookie": browser.cookie}
    connection.request("POST", "/api/find", iter([b'{"text": "', *[b"x" * 30_000] * 5]), headers, encode_chunked=True)
    assert connection.getresponse().status == 400
    assert capfd.readouterr().err == ""


def test_a_site_with_strange_letters_is_another_site(browser, capfd):
    assert refused(browser, "/api/start", {}, Origin="http://\xe9xample.com") == 403
    assert refused(browser, "/api/start", {}, Cookie="\xe9=\xe9") == 401
    assert capfd.readouterr().err == ""


def test_a_question_is_an_object(browser):
    for body in ([1], "text", 5):
        assert refused(browser, "/api/start", body) == 400


def test_two_people_at_once(browser):
    bob = Browser(browser.server)
    bob.enter(browser.ask("invite")["address"].partition("#")[2])
    bob.ask("name", name="bob")
    rows = browser.ask("line")["rows"][:20]

    def work(who, name):
        for row in rows:
            who.ask("decide", row=row, action="keep", client=f"{name}-{row}")

    threads = [threading.Thread(target=work, args=pair) for pair in ((browser, "anna"), (bob, "bob"))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert bob.ask("progress")["agreement"]["pairs"][0]["n"] == 20
    assert browser.server.desk.store.verify() >= 40


def test_a_review_of_a_run_keeps_it_from_being_replaced(browser):
    from dips._study.folder import refuse_to_overwrite
    from dips.exceptions import OutputError

    with pytest.raises(OutputError, match="decisions of a review"):
        refuse_to_overwrite(browser.server.desk.store.path.parent.parent, force=True)


def test_a_port_that_is_taken_is_told_in_a_sentence(server):
    from dips._review.server import _bound

    words = rf"^dips cannot listen on 127.0.0.1:{server.port}: Address already in use; --port 0 takes a free port\.$"
    with pytest.raises(ReviewError, match=words):
        _bound("127.0.0.1", server.port)


def test_the_command_prints_one_line_and_ends_with_ctrl_c(finished, tmp_path):
    copy_of(finished, tmp_path)
    command = [sys.executable, "-m", "dips", "review", str(tmp_path / "run"), "--no-open", "--data", "patients.csv"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path)
    try:
        line = process.stdout.readline()
        port, token = re.match(r"Review at http://127\.0\.0\.1:(\d+)/#(\S+)  \(Ctrl-C ends it\)", line).groups()
        browser = Browser(types.SimpleNamespace(port=int(port)))
        browser.enter(token)
        row = browser.ask("line")["rows"][0]
        browser.ask("decide", row=row, action="keep", client="k")
    finally:
        process.send_signal(signal.SIGINT)
        rest, remarks = process.communicate(timeout=20)
    assert (process.returncode, rest) == (0, "")
    assert "1 decision in" in remarks
