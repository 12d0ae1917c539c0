// Python programs that crash, exhaust resources or never end. Run them only inside a sandbox that has been probed.

export interface HostileProgram {
  name: string
  code: string
  /** The required outcome; by default any, as long as the output does not contain ESCAPED. */
  ends?: 'raised' | 'timed_out' | 'refused' | 'out_of_memory' | 'completed'
  /** Pattern that the error message must match. */
  says?: RegExp
}

/** Programs that crash or exhaust a resource: each must end by itself or at a limit, and report what happened. */
export const bombs: HostileProgram[] = [
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

/** Programs that never end: each must be stopped at its time limit, whatever it is doing. */
export const endless: HostileProgram[] = [
  { name: 'an empty loop', code: 'print("on")\nwhile True:\n    pass' },
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
