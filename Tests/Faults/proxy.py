"""A TCP proxy that a test puts in somebody's way, to cut what is open, to hang, or to lead elsewhere."""

import contextlib
import selectors
import socket
import threading


class Proxy:
    def __init__(self, target):
        # Where new connections lead.
        self.target = target
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=100)
        self.port = self.listener.getsockname()[1]
        self.lock = threading.Lock()
        self.pairs = set()
        self.opened = 0
        self.hangs = threading.Event()
        self.ended = threading.Event()

    def __enter__(self):
        self.thread = threading.Thread(target=self.accept)
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.ended.set()
        self.listener.close()
        self.cut()
        self.thread.join()

    def accept(self):
        with selectors.DefaultSelector() as selector:
            selector.register(self.listener, selectors.EVENT_READ)
            while not self.ended.is_set():
                if not selector.select(0.1):
                    continue
                try:
                    client, _ = self.listener.accept()
                    server = socket.create_connection(self.target, timeout=5)
                except OSError:
                    continue  # Either side has gone already.
                pair = (client, server)
                with self.lock:
                    self.pairs.add(pair)
                    self.opened += 1
                threading.Thread(target=self.carry, args=(pair,), daemon=True).start()

    def carry(self, pair):
        client, server = pair
        with contextlib.suppress(OSError, ValueError), selectors.DefaultSelector() as selector:
            selector.register(client, selectors.EVENT_READ, server)
            selector.register(server, selectors.EVENT_READ, client)
            while not self.ended.is_set():
                if self.hangs.is_set():
                    self.ended.wait(0.05)
                    continue
                for key, _ in selector.select(0.1):
                    data = key.fileobj.recv(65536)
                    if not data:
                        raise OSError("closed")
                    key.data.sendall(data)
        self.close(pair)

    def close(self, pair):
        with self.lock:
            self.pairs.discard(pair)
        for end in pair:
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()

    def cut(self):
        """Closes all that is open, politely as far as TCP is concerned."""
        with self.lock:
            pairs = list(self.pairs)
        for pair in pairs:
            self.close(pair)
