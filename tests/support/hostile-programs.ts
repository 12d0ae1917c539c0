// Programs that try to break out, to break down or to never end. Only ever run inside a sandbox that was probed first.

export interface HostileProgram {
  name: string
  code: string
  /** How it must end; by default in any way but with the word ESCAPED. */
  ends?: 'raised' | 'timed_out' | 'refused' | 'out_of_memory' | 'completed'
  /** What the error must say. */
  says?: RegExp
}

export interface Canaries {
  /** A file of the host with a secret in it. */
  file: string
  secret: string
  /** A loopback port on which somebody counts visits. */
  port: number
  /** A path of the host at which nothing must appear. */
  target: string
  serverPid: number
}

/** Python that finds its way to a JavaScript object, as far as the interpreter lets it. */
const BRIDGE = `
import gc, importlib, sys
core = importlib.import_module("_pyodide_core")
array = core.to_js([1])
Function = array.constructor.constructor
`

const attempt = (...lines: string[]): string =>
  [
    'def attempt(work):',
    '    try:',
    '        found = work()',
    '        print("ESCAPED", found)',
    '    except BaseException as error:',
    '        print("held:", type(error).__name__)',
    ...lines.map((line) => `attempt(lambda: ${line})`),
  ].join('\n')

/** Ways out: to files, processes, network, environment, other programs' memory. */
export const escapes = ({ file, port, target, serverPid }: Canaries): HostileProgram[] => [
  { name: 'opens a host file', code: attempt(`open(${q(file)}).read()`) },
  {
    name: 'opens it by the system call',
    code: `import os\n${attempt(`os.open(${q(file)}, os.O_RDONLY)`)}`,
  },
  {
    name: 'opens it by the C library',
    code: `import ctypes\nlibrary = ctypes.CDLL(None)\nfound = library.open(${q(file)}.encode(), 0)\nprint("ESCAPED" if found >= 0 else "held")`,
  },
  {
    name: 'opens it by pathlib and io',
    code: `import io, pathlib, codecs, _io\n${attempt(`io.open(${q(file)}).read()`, `pathlib.Path(${q(file)}).read_text()`, `codecs.open(${q(file)}).read()`, `_io.open(${q(file)}).read()`)}`,
  },
  {
    name: 'reaches it over a link',
    code: `import os\nos.symlink(${q(file)}, "/output/link")\n${attempt('open("/output/link").read()')}`,
  },
  {
    name: 'reaches it over descriptors',
    code: `import os\nfor number in range(3, 40):\n    try:\n        print(os.read(number, 100))\n        print("ESCAPED")\n    except OSError:\n        pass`,
  },
  {
    name: 'reads processes',
    code: `import os\n${attempt('open("/proc/self/environ").read()', 'open("/proc/1/cmdline").read()', '__import__("io").open("/proc/self/maps").read()')}`,
  },
  {
    name: 'writes a host file',
    code: `import os\n${attempt(`os.open(${q(target)}, os.O_WRONLY | os.O_CREAT)`)}`,
  },
  {
    name: 'reads the environment',
    code: 'import os\nprint(dict(os.environ))\nprint(os.getenv("NANOCLAW_CANARY"))',
  },
  {
    name: 'reads the environment over JavaScript',
    code: BRIDGE + attempt('Function("return process.env.NANOCLAW_CANARY")()'),
  },
  {
    name: 'makes code over JavaScript',
    code:
      BRIDGE +
      attempt(
        'Function("return 1")()',
        'array.constructor.constructor.new("return process")()',
        'array.map.constructor("return this")()',
      ),
  },
  {
    name: 'asks JavaScript for its modules',
    code:
      BRIDGE +
      attempt(
        'importlib.import_module("js")',
        'importlib.import_module("pyodide_js")',
        'importlib.import_module("pyodide.code").run_js("1")',
        'core.to_js({}).constructor.constructor("return process")().getBuiltinModule("fs")',
      ),
  },
  {
    name: 'looks for hidden bridges',
    code: `import gc\nfinders = [o for o in gc.get_objects() if type(o).__name__ == "JsFinder"]\nprint("ESCAPED" if any(o.jsproxies for o in finders) else "held")`,
  },
  {
    name: 'runs JavaScript by the C library',
    code: 'import ctypes\nctypes.CDLL(None).emscripten_run_script(b"console.log(1)")\nprint("ESCAPED")',
  },
  {
    name: 'evaluates JavaScript by the C library',
    code: 'import ctypes\nprint("ESCAPED", ctypes.CDLL(None).emscripten_run_script_int(b"6*7"))',
  },
  {
    name: 'runs a command',
    code: `import os, subprocess\n${attempt('subprocess.run(["id"], capture_output=True)', 'os.popen("id").read()', 'os.execv("/bin/sh", ["sh"])', 'os.posix_spawn("/bin/sh", ["sh"], {})')}\nprint("ESCAPED" if os.system("id") == 0 else "held")`,
  },
  {
    name: 'runs one by the C library',
    code: 'import ctypes\nprint("ESCAPED" if ctypes.CDLL(None).system(b"id") == 0 else "held")',
  },
  { name: 'forks', code: `import os\n${attempt('os.fork()', 'os.forkpty()')}`, ends: 'completed' },
  {
    name: 'forks over and over',
    code: 'import os\nwhile True:\n    os.fork()',
    ends: 'raised',
    says: /not implemented|OSError/i,
  },
  {
    name: 'starts processes by multiprocessing',
    code: `import multiprocessing\n${attempt('multiprocessing.Process(target=print).start()')}`,
  },
  {
    name: 'starts threads without end',
    code: 'import threading\nwhile True:\n    threading.Thread(target=print).start()',
    ends: 'raised',
    says: /can't start new thread/,
  },
  {
    name: 'kills its parents',
    code: `import os, signal\nfor pid in (${serverPid}, os.getppid(), 1, -1):\n    try:\n        os.kill(pid, signal.SIGKILL)\n    except BaseException as error:\n        print(type(error).__name__)`,
  },
  {
    name: 'connects by sockets',
    code: `import socket\ns = socket.socket()\ns.settimeout(1)\ntry:\n    s.connect(("127.0.0.1", ${port}))\n    s.send(b"hit")\nexcept BaseException as error:\n    print(type(error).__name__)`,
  },
  {
    name: 'fetches',
    code: `import urllib.request\n${attempt(`urllib.request.urlopen("http://127.0.0.1:${port}/", timeout=1)`)}`,
  },
  {
    name: 'fetches over JavaScript',
    code: `${BRIDGE}${attempt(`importlib.import_module("pyodide.http").open_url("http://127.0.0.1:${port}/")`, `importlib.import_module("js").fetch("http://127.0.0.1:${port}/")`)}`,
  },
  {
    name: 'listens',
    code: 'import socket\ns = socket.socket()\ntry:\n    s.bind(("127.0.0.1", 0)); s.listen(); print(s.getsockname())\nexcept BaseException as error:\n    print(type(error).__name__)',
  },
  {
    name: 'mounts the host',
    code: `${BRIDGE}${attempt('importlib.import_module("pyodide_js").mountNodeFS("/host", "/")', 'importlib.import_module("pyodide_js")._api.loadBinaryFile("/etc/passwd")')}`,
  },
  {
    name: 'loads a package from the network',
    code: `${BRIDGE}${attempt(`importlib.import_module("pyodide_js").loadPackage("http://127.0.0.1:${port}/x.whl")`, 'importlib.import_module("micropip").install("x")')}`,
  },
  {
    name: 'walks to builtins from a literal',
    code: `subclasses = ().__class__.__base__.__subclasses__()\nfor c in subclasses:\n    if c.__name__ == "_wrap_close":\n        print(c.__init__.__globals__["system"]("id"))`,
  },
  {
    name: 'replaces the checker and asks again',
    code: `import sys\nfor module in list(sys.modules.values()):\n    if "nanoclaw" in getattr(module, "__name__", ""):\n        print("ESCAPED")\nimport gc\nfor o in gc.get_objects():\n    if isinstance(o, dict) and o.get("__name__") == "nanoclaw_runner":\n        o["_faults"] = o["_describe"] = o["_presentable"] = None\n1`,
  },
]

/** Ways to break down: each must end by itself or at a limit, and say what happened. */
export const bombs: HostileProgram[] = [
  { name: 'a syntax error', code: 'def f(:\n', ends: 'refused', says: /SyntaxError/ },
  { name: 'a NUL in the source', code: 'x = "a\0b"', ends: 'refused', says: /null byte/i },
  {
    name: 'a source that nests deeply',
    code: `x = ${'('.repeat(20_000)}${')'.repeat(20_000)}`,
    says: /./,
  },
  { name: 'a source of nested operators', code: `x = ${'not '.repeat(50_000)}1`, says: /./ },
  {
    name: 'endless recursion',
    code: 'def f():\n    f()\nf()',
    ends: 'raised',
    says: /RecursionError/,
  },
  {
    name: 'recursion in C',
    code: 'x = []\nfor _ in range(10**6):\n    x = [x]\nrepr(x)',
    says: /./,
  },
  {
    name: 'recursion without a limit',
    code: 'import sys\nsys.setrecursionlimit(10**9)\ndef f():\n    f()\nf()',
    says: /./,
  },
  {
    name: 'more memory than there is, at once',
    code: 'x = bytearray(600 * 1024 * 1024)',
    ends: 'raised',
    says: /MemoryError/,
  },
  {
    name: 'more memory than there is, bit by bit',
    code: 'x = []\nwhile True:\n    x.append(bytes(10**7))',
    ends: 'raised',
    says: /MemoryError/,
  },
  {
    name: 'a text that doubles',
    code: 'x = "a"\nwhile True:\n    x += x',
    ends: 'raised',
    says: /MemoryError|OverflowError/,
  },
  {
    name: 'files without end',
    code: 'n = 0\nwhile True:\n    n += 1\n    open(f"/output/{n}", "wb").write(bytes(10**6))',
    ends: 'raised',
    says: /No space left/,
  },
  {
    name: 'one huge sparse file',
    code: 'import os\nwith open("/output/x", "wb") as f:\n    f.truncate(10**12)',
    ends: 'raised',
    says: /OSError|OverflowError/,
  },
  {
    name: 'an error while cleaning up',
    code: 'import atexit\nclass A:\n    def __del__(self):\n        raise ValueError("late")\na = A()\natexit.register(lambda: 1 / 0)\ndel a\n1',
    ends: 'completed',
  },
  {
    name: 'an exception that can not be shown',
    code: 'class E(Exception):\n    def __str__(self):\n        raise RuntimeError("no")\n    __repr__ = __str__\nraise E()',
    ends: 'raised',
    says: /E/,
  },
  {
    name: 'a result that can not be shown',
    code: 'class A:\n    def __repr__(self):\n        raise ValueError("no repr")\nA()',
    ends: 'raised',
    says: /no repr/,
  },
  {
    name: 'a result that lies about itself',
    code: 'class D(dict):\n    def items(self):\n        raise SystemExit\nD(a=1)',
    ends: 'completed',
  },
  { name: 'a result that contains itself', code: 'x = []\nx.append(x)\nx', ends: 'completed' },
  { name: 'a result far too long', code: '"x" * 10**7', ends: 'completed' },
  {
    name: 'control characters and halves of characters',
    code: 'print("\\x1b[2J\\x00\\ud800\\r\\u202e")\n"\\ud800\\x00"',
    ends: 'completed',
  },
  {
    name: 'bytes that are no text',
    code: 'import sys\nsys.stdout.buffer.write(bytes(range(256)))\nsys.stdout.flush()',
    ends: 'completed',
  },
  { name: 'closed streams', code: 'import sys\nsys.stdout.close()\nsys.stderr.close()\n1' },
  {
    name: 'no streams at all',
    code: 'import sys, os\nsys.stdout = None\nos.close(1)\nos.close(2)\n1',
  },
  {
    name: 'a fatal error on purpose',
    code: 'import ctypes\nctypes.string_at(0xFFFFFFF0, 10)',
    says: /./,
  },
  { name: 'an abort', code: 'import os\nos.abort()', says: /./ },
  { name: 'an exit around everything', code: 'import os\nos._exit(0)', says: /./ },
]

/** Ways to never end: each must be stopped at its limit, whatever it is doing. */
export const endless: HostileProgram[] = [
  { name: 'an empty loop', code: 'while True:\n    pass' },
  { name: 'a loop that prints', code: 'while True:\n    print("x" * 100)' },
  {
    name: 'a loop that catches everything',
    code: 'while True:\n    try:\n        while True:\n            pass\n    except BaseException:\n        continue',
  },
  { name: 'a number too large to compute', code: 'x = 7 ** (10 ** 9)' },
  { name: 'a loop in C', code: 'import itertools\nsum(itertools.count())' },
  {
    name: 'an exception that takes for ever to describe',
    code: 'class E(Exception):\n    def __str__(self):\n        while True:\n            pass\nraise E()',
  },
]

const q = (text: string): string => JSON.stringify(text)
