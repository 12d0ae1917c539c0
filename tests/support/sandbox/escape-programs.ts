// Python programs that try to escape the sandbox. Run them only inside a sandbox that has been probed.
import type { HostileProgram } from './hostile-programs.ts'

/** Programs whose attempts all return have a group and share its interpreter, because each start takes seconds. */
interface EscapeProgram extends HostileProgram {
  group?: 'files' | 'bridge' | 'processes'
  /** Asks the system for something of the host, so that each isolation has its own say. */
  onHost?: true
}

export interface Escape extends HostileProgram {
  /** Strings that the output contains once every attempt has been made. */
  tried: string[]
  /** Whether it asks the system for something of the host, and not only the interpreter. */
  onHost: boolean
}

export interface Canaries {
  /** Path of a host file that contains `secret`. */
  file: string
  secret: string
  /** A loopback port whose listener counts connections. */
  port: number
  /** A host path that must never come to exist. */
  target: string
  serverPid: number
}

/** Python code that gets hold of a JavaScript object, as far as the interpreter permits. */
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

/** Escape attempts: to files, processes, the network, the environment and other programs' memory. */
const programs = ({ file, port, target, serverPid }: Canaries): EscapeProgram[] => [
  { name: 'opens a host file', group: 'files', code: attempt(`open(${q(file)}).read()`) },
  {
    name: 'opens it by the system call',
    group: 'files',
    code: `import os\n${attempt(`os.open(${q(file)}, os.O_RDONLY)`)}`,
  },
  {
    name: 'opens it by the C library',
    code: `import ctypes\nlibrary = ctypes.CDLL(None)\nfound = library.open(${q(file)}.encode(), 0)\nprint("ESCAPED" if found >= 0 else "held")`,
  },
  {
    name: 'opens it by pathlib and io',
    group: 'files',
    code: `import io, pathlib, codecs, _io\n${attempt(`io.open(${q(file)}).read()`, `pathlib.Path(${q(file)}).read_text()`, `codecs.open(${q(file)}).read()`, `_io.open(${q(file)}).read()`)}`,
  },
  {
    name: 'reaches it over a link',
    group: 'files',
    code: `import os\nos.symlink(${q(file)}, "/output/link")\n${attempt('open("/output/link").read()')}`,
  },
  {
    name: 'reaches it over descriptors',
    onHost: true,
    code: `import os\nfor number in range(3, 40):\n    try:\n        print(os.read(number, 100))\n        print("ESCAPED")\n    except OSError:\n        pass`,
  },
  {
    name: 'reads processes',
    group: 'files',
    code: `import os\n${attempt('open("/proc/self/environ").read()', 'open("/proc/1/cmdline").read()', '__import__("io").open("/proc/self/maps").read()')}`,
  },
  {
    name: 'writes a host file',
    group: 'files',
    code: `import os\n${attempt(`os.open(${q(target)}, os.O_WRONLY | os.O_CREAT)`)}`,
  },
  {
    name: 'reads the environment',
    group: 'files',
    code: 'import os\nprint(dict(os.environ))\nprint(os.getenv("NANOCLAW_CANARY"))',
  },
  {
    name: 'reads the environment over JavaScript',
    group: 'bridge',
    code: BRIDGE + attempt('Function("return process.env.NANOCLAW_CANARY")()'),
  },
  {
    name: 'makes code over JavaScript',
    group: 'bridge',
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
    group: 'bridge',
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
    group: 'processes',
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
    onHost: true,
    code: `import os, subprocess\n${attempt('subprocess.run(["id"], capture_output=True)', 'os.popen("id").read()', 'os.execv("/bin/sh", ["sh"])', 'os.posix_spawn("/bin/sh", ["sh"], {})')}\nprint("ESCAPED" if os.system("id") == 0 else "held")`,
  },
  {
    name: 'runs one by the C library',
    code: 'import ctypes\nprint("ESCAPED" if ctypes.CDLL(None).system(b"id") == 0 else "held")',
  },
  {
    name: 'forks',
    group: 'processes',
    code: `import os\n${attempt('os.fork()', 'os.forkpty()')}`,
    ends: 'completed',
  },
  {
    name: 'forks over and over',
    code: 'import os\nwhile True:\n    os.fork()',
    ends: 'raised',
    says: /not implemented|OSError/i,
  },
  {
    name: 'starts processes by multiprocessing',
    group: 'processes',
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
    onHost: true,
    code: `import os, signal\nfor pid in (${serverPid}, os.getppid(), 1, -1):\n    try:\n        os.kill(pid, signal.SIGKILL)\n    except BaseException as error:\n        print(type(error).__name__)`,
  },
  {
    name: 'connects by sockets',
    group: 'processes',
    code: `import socket\ns = socket.socket()\ns.settimeout(1)\ntry:\n    s.connect(("127.0.0.1", ${port}))\n    s.send(b"hit")\nexcept BaseException as error:\n    print(type(error).__name__)`,
  },
  {
    name: 'fetches',
    group: 'processes',
    code: `import urllib.request\n${attempt(`urllib.request.urlopen("http://127.0.0.1:${port}/", timeout=1)`)}`,
  },
  {
    name: 'fetches over JavaScript',
    group: 'bridge',
    code: `${BRIDGE}${attempt(`importlib.import_module("pyodide.http").open_url("http://127.0.0.1:${port}/")`, `importlib.import_module("js").fetch("http://127.0.0.1:${port}/")`)}`,
  },
  {
    name: 'listens',
    onHost: true,
    code: 'import socket\ns = socket.socket()\ntry:\n    s.bind(("127.0.0.1", 0)); s.listen(); print(s.getsockname())\nexcept BaseException as error:\n    print(type(error).__name__)',
  },
  {
    name: 'mounts the host',
    group: 'bridge',
    code: `${BRIDGE}${attempt('importlib.import_module("pyodide_js").mountNodeFS("/host", "/")', 'importlib.import_module("pyodide_js")._api.loadBinaryFile("/etc/passwd")')}`,
  },
  {
    name: 'loads a package from the network',
    group: 'bridge',
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

/** One entry for each program without a group, and one for each group, which runs its programs in sequence. */
export function escapes(canaries: Canaries): Escape[] {
  const all = programs(canaries)
  const groups = new Set(all.flatMap(({ group }) => group ?? []))
  return [
    ...all
      .filter(({ group }) => group === undefined)
      .map((each) => ({ ...each, tried: [], onHost: each.onHost === true })),
    ...[...groups].map((name) =>
      oneAfterTheOther(
        name,
        all.filter(({ group }) => group === name),
      ),
    ),
  ]
}

function oneAfterTheOther(name: string, programs: readonly EscapeProgram[]): Escape {
  const tried = programs.map((each) => `tried: ${each.name}`)
  const code = programs.map(
    (each, index) => `try:
${each.code.replace(/^/gm, '    ')}
except BaseException as error:
    print("ended:", type(error).__name__)
print(${q(tried[index] ?? '')})`,
  )
  return { name, code: code.join('\n'), ends: 'completed', tried, onHost: true }
}

const q = (text: string): string => JSON.stringify(text)
