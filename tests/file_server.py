"""A server on this machine that answers as it is told: well, badly, or badly first and then well."""

import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class Answer:
    """What is sent; `announced` is another length than the body has, and -1 is none at all.

    With a `pause`, in seconds, there is one after each byte.
    """

    body: bytes = b""
    status: int = 200
    announced: int | None = None
    headers: dict = field(default_factory=dict)
    pause: float = 0.0


class Files:
    """`answers` has, for a path, bytes, an `Answer`, or a list of them whose last one stays; `asked` are the paths.

    `dribbled` counts the bytes that were sent one by one.
    """

    def __init__(self):
        self.answers, self.asked, self.url = {}, [], ""
        self.dribbled = 0
        self._lock = threading.Lock()

    def answer(self, path):
        with self._lock:
            self.asked.append(path)
            found = self.answers.get(path, Answer(b"<html>not found</html>", 404))
            if isinstance(found, list):
                found = found.pop(0) if len(found) > 1 else found[0]
        return Answer(found) if isinstance(found, bytes) else found


@contextmanager
def serve():
    files = Files()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            answer = files.answer(self.path)
            self.send_response(answer.status)
            for name, value in answer.headers.items():
                self.send_header(name, value)
            length = len(answer.body) if answer.announced is None else answer.announced
            if length >= 0:
                self.send_header("Content-Length", str(length))
            self.end_headers()
            if not answer.pause:
                self.wfile.write(answer.body)
                return
            for byte in answer.body:
                try:
                    self.wfile.write(bytes([byte]))
                except OSError:  # nobody listens any more
                    return
                files.dribbled += 1
                time.sleep(answer.pause)

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    files.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield files
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def left_in(folder):
    """Names of all that is in a folder, at any depth."""
    return sorted(path.name for path in folder.rglob("*"))
