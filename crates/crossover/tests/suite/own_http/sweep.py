# A server with a planted time: `serial SECONDS` answers one request at a time, as a file with one writer;
# `parallel SECONDS` answers each so long after it came, as a server far away. It says its port, and ends with its
# standard input.
import asyncio
import sys
import time

kind, seconds = sys.argv[1], float(sys.argv[2])
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\nok"


async def serve(reader, writer):
    try:
        while True:
            await reader.readuntil(b"\r\n\r\n")
            if kind == "serial":
                time.sleep(seconds)
            else:
                await asyncio.sleep(seconds)
            writer.write(ANSWER)
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        writer.close()


async def main():
    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)


asyncio.run(main())
