# The process of the host's Python inside bubblewrap: sets its limits, reads one program from stdin, sends events on fd 3.
import base64
import json
import os
import resource
import socket
import stat
import sys
import threading

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import nanoclaw_runner as runner

EVENTS = 3
CHUNK_BYTES = 48 * 1024
OPTIONS = json.loads(sys.argv[1])
# The server's pipes, separate from the streams that the program gets.
COMMANDS = os.fdopen(os.dup(0), "rb")

_sending = threading.Lock()


def send(message):
    data = (json.dumps(message) + "\n").encode()
    with _sending:
        while data:
            data = data[os.write(EVENTS, data) :]


def set_limits():
    """Sets hard limits, which the kernel enforces and an unprivileged process cannot raise."""
    megabyte = 1024 * 1024
    for kind, value in (
        (resource.RLIMIT_AS, OPTIONS["maxMemoryBytes"]),
        (resource.RLIMIT_FSIZE, OPTIONS["maxFileBytes"]),
        (resource.RLIMIT_CPU, OPTIONS["maxCpuSeconds"]),
        (resource.RLIMIT_NPROC, 64),
        (resource.RLIMIT_NOFILE, 256),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_STACK, 16 * megabyte),
    ):
        resource.setrlimit(kind, (value, value))


def probe():
    """Attempts, without doing harm, what a program must not be able to do."""

    def works(attempt):
        try:
            return bool(attempt())
        except OSError:
            return False

    return {
        "readsHostFiles": works(lambda: open("/etc/passwd").read()),
        "listsHostFolders": works(lambda: os.listdir("/home") + os.listdir("/root")),
        "makesCode": False,
        "hasEnvironment": bool(set(os.environ) - {"PWD", "OPENBLAS_NUM_THREADS", "MPLBACKEND", "HOME", "LC_CTYPE"}),
        "hasBindings": os.getuid() == 0,
        "hasNetwork": works(lambda: [name for _, name in socket.if_nameindex() if name != "lo"]),
    }


class Output:
    """Forwards output on descriptors 1 and 2, including that of child processes, truncated at the limit."""

    def __init__(self):
        self.pumps = []
        for number, stream in ((1, "stdout"), (2, "stderr")):
            reading, writing = os.pipe()
            os.dup2(writing, number)
            os.close(writing)
            pump = threading.Thread(target=self.pump, args=(reading, stream), daemon=True)
            pump.start()
            self.pumps.append(pump)

    def pump(self, reading, stream):
        left = OPTIONS["maxOutputBytes"]
        while True:
            data = os.read(reading, 8192)
            if not data:
                return
            if left > 0:
                send({"type": "output", "stream": stream, "text": data[:left].decode("utf-8", "replace")})
                left -= len(data)
                if left <= 0:
                    send({"type": "output", "stream": stream, "text": "\n[output cut]\n"})

    def close(self):
        """Returns when all output so far has been sent; does not wait for children that keep the streams open."""
        null = os.open(os.devnull, os.O_WRONLY)
        for number in (1, 2):
            os.dup2(null, number)
        for pump in self.pumps:
            pump.join(0.5)


def put_file(path, data):
    # A whole path stays as it is: that of a file of a skill.
    full = os.path.join("/workspace", path)
    os.makedirs(os.path.dirname(full), exist_ok=True)
    with open(full, "wb") as file:
        file.write(data)
    os.chmod(full, 0o444)


def send_files():
    """Sends the regular files under /output, within the limits on number and size."""
    bytes_left, files_left, omitted = OPTIONS["maxResultBytes"], OPTIONS["maxResultFiles"], 0
    for folder, _, names in os.walk("/output"):
        for name in sorted(names):
            path = os.path.join(folder, name)
            found = os.lstat(path)
            if not stat.S_ISREG(found.st_mode):
                continue
            if files_left == 0 or found.st_size > bytes_left:
                omitted += 1
                continue
            files_left -= 1
            bytes_left -= found.st_size
            send({"type": "file", "path": os.path.relpath(path, "/output")})
            with open(path, "rb") as file:
                for chunk in iter(lambda: file.read(CHUNK_BYTES), b""):
                    send({"type": "chunk", "data": base64.b64encode(chunk).decode()})
    return omitted


def serve():
    file = None
    for line in COMMANDS:
        command = json.loads(line)
        if command["type"] == "file":
            file = (command["path"], [])
        elif command["type"] == "chunk":
            file[1].append(base64.b64decode(command["data"]))
        elif command["type"] == "end_file":
            put_file(file[0], b"".join(file[1]))
        elif command["type"] == "run":
            return run(json.dumps(command))


def run(request):
    checked = json.loads(runner.check(request))
    if "error" in checked:
        send({"type": "done", "status": "refused", "error": checked["error"], "result": None, "omitted": 0})
        return
    for folder in ("/workspace", "/skills"):
        os.chmod(folder, 0o555)
    os.chdir("/output")
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    output = Output()
    send({"type": "running"})
    outcome = json.loads(runner.execute())
    output.close()
    send({"type": "done", **outcome, "omitted": send_files()})


# A program may signal its own group, to which what guards the sandbox belongs.
if os.getpgrp() != os.getpid():
    os.setsid()
set_limits()
send({"type": "ready", "probe": probe()})
if OPTIONS["mode"] == "serve":
    serve()
os._exit(0)
