"""An application of the tests: a table `item` in SQLite or, over a socket, in PostgreSQL, chosen by
DATABASE_URL. Without one it uses own.db beside it, as many applications do. A connection per request."""
import http.server, json, os, socket, sqlite3, struct, urllib.parse

ADDRESS = os.environ.get("DATABASE_URL") or f"sqlite://{os.path.abspath('own.db')}"
MODE = os.environ.get("MODE", "")
HOST, PORT = os.environ["LISTEN"].split(":")
KEPT = {}


def sqlite(sql):
    with sqlite3.connect(ADDRESS.removeprefix("sqlite://")) as database:
        return [list(row) for row in database.execute(sql)]


def postgres(sql):
    url = urllib.parse.urlsplit(ADDRESS)
    folder = urllib.parse.parse_qs(url.query)["host"][0]
    stream = socket.socket(socket.AF_UNIX)
    stream.connect(f"{folder}/.s.PGSQL.5432")
    start = f"user\0{url.username}\0database\0{url.path[1:]}\0\0".encode()
    stream.sendall(struct.pack("!ii", len(start) + 8, 196608) + start)
    messages = stream.makefile("rb")
    rows = []
    for query in (None, sql):
        if query:
            stream.sendall(b"Q" + struct.pack("!i", len(query.encode()) + 5) + query.encode() + b"\0")
        kind = b""
        while kind != b"Z":
            kind = messages.read(1)
            body = messages.read(struct.unpack("!i", messages.read(4))[0] - 4)
            if kind == b"E":
                raise RuntimeError(body)
            if kind == b"D":
                length = struct.unpack("!i", body[2:6])[0]
                rows.append([json.loads(body[6 : 6 + length])])
    stream.sendall(b"X" + struct.pack("!i", 4))
    stream.close()
    return rows


def query(sql):
    return sqlite(sql) if ADDRESS.startswith("sqlite") else postgres(sql)


def count():
    return query("SELECT count(*) FROM item")


if MODE == "loads all at its start":
    KEPT["/count"] = count()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def answer(self, value, status=200):
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        if self.path in KEPT:
            self.answer(KEPT[self.path])
        elif self.path == "/count":
            rows = count()
            if MODE == "keeps answers":
                KEPT[self.path] = rows
            self.answer(rows)
        elif self.path == "/first":
            self.answer(query("SELECT price FROM item WHERE id = 1"))
        else:
            self.answer("ready")

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.headers["Content-Type"] != "application/json":
            return self.answer("no JSON", 415)
        statement = f"INSERT INTO item (price) VALUES ({int(body['price'])})"
        if MODE == "writes to its own file":
            with sqlite3.connect("own.db") as own:
                own.execute(statement)
        else:
            query(statement)
        self.answer({"ok": True}, 201)

    def do_PUT(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        query(f"UPDATE item SET price = {int(body['price'])} WHERE id = 1")
        self.answer({"ok": True})

    def log_message(self, *_):
        pass


http.server.ThreadingHTTPServer((HOST, int(PORT)), Handler).serve_forever()
