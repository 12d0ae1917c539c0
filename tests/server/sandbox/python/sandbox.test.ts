// Inputs and outputs of a program: result, output, files, traceback, levels, limits, random numbers.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openPython, type TestSandbox } from '../../../support/sandbox/python.ts'

let python: TestSandbox
let first: Awaited<ReturnType<TestSandbox['program']>>
// Each start costs half a second of CPU time: tests of the same program share its start.
beforeAll(async () => {
  python = await openPython()
  first = await python.program('import warnings\nprint("a")\nprint("b")\nwarnings.warn("c")')
})
afterAll(() => python.close())

const text = (value: string) => new TextEncoder().encode(value)

describe('a program', () => {
  test('the value of the last expression is the result, as JSON where JSON can express it', async () => {
    const outcome = await python.program('x = 20\n{"sum": x + 22, "list": (1, 2.5, None, "a")}')
    expect(outcome).toMatchObject({
      status: 'completed',
      error: null,
      result: { sum: 42, list: [1, 2.5, null, 'a'] },
    })
  })

  test('a value that JSON cannot express is returned as Python prints it', async () => {
    const outcome = await python.program('from fractions import Fraction\nFraction(1, 3), {3}')
    expect(outcome.result).toBe('(Fraction(1, 3), {3})')
  })

  test('the first call reports that Python is starting, then that it runs, and streams output in order', () => {
    expect(first.notifications.slice(0, 4)).toEqual([
      'starting',
      'running',
      'stdout: a\n',
      'stdout: b\n',
    ])
    expect(first.stdout).toBe('a\nb\n')
    expect(first.stderr).toContain('UserWarning: c')
  })

  test('an exception is reported as a traceback that contains only lines of the program', async () => {
    const outcome = await python.program(
      'def half(x):\n    return x / 0\n\nprint("so far")\nhalf(1)',
    )
    expect(outcome.status).toBe('raised')
    expect(outcome.stdout).toBe('so far\n')
    expect(outcome.error).toContain('File "program.py", line 5, in <module>')
    expect(outcome.error).toContain('line 2, in half\n    return x / 0')
    expect(outcome.error).toContain('ZeroDivisionError: division by zero')
    expect(outcome.error).not.toContain('nanoclaw')
  })

  test('a syntax error names its line', async () => {
    const outcome = await python.program('x = 1\nfor in x:\n')
    expect(outcome.status).toBe('refused')
    expect(outcome.error).toContain('line 2')
    expect(outcome.error).toContain('SyntaxError')
  })

  test('an exit status other than zero is a failure', async () => {
    expect(await python.program('raise SystemExit(0)')).toMatchObject({ status: 'completed' })
    expect(await python.program('raise SystemExit("no data")')).toMatchObject({
      status: 'raised',
      error: "The program exited with 'no data'",
    })
  })

  test.for(['strict', 'standard'] as const)(
    'at level %s open reaches /workspace and /output alone, while modules still read their own files',
    async (strictness) => {
      const outcome = await python.program(
        `refused = []
for path in ["/lib/python314.zip", "/proc/self/environ", "/etc/passwd", "/tmp/x", "/workspace/../lib/x", "relative/../../lib/x"]:
    try:
        open(path)
    except PermissionError as error:
        refused.append(path)
    except OSError:
        pass
with open("a.txt", "w") as out:
    out.write("x")
[len(refused), open("/output/a.txt").read()]`,
        { strictness },
      )
      expect(outcome).toMatchObject({ status: 'completed', result: [6, 'x'] })
    },
  )
})

describe('the files of a program', () => {
  const large = Buffer.from(Uint8Array.from({ length: 3_000_001 }, (_, index) => index * 31))
  let outcome: Awaited<ReturnType<TestSandbox['program']>>
  let files: Record<string, Buffer>
  beforeAll(async () => {
    outcome = await python.program(
      `import csv
rows = list(csv.DictReader(open('/workspace/data/prices.csv')))
with open('/output/sum.txt', 'w') as out:
    out.write(str(sum(float(row['price']) for row in rows)))
open('/output/plot.svg', 'w').write('<svg xmlns="http://www.w3.org/2000/svg"/>')
open('/output/out.bin', 'wb').write(open('/workspace/in.bin', 'rb').read())
try:
    open('/workspace/in.bin', 'w')
except PermissionError as error:
    refusal = str(error)
[len(rows), refusal]`,
      {
        files: [
          { path: 'data/prices.csv', content: text('name,price\na,1.5\nb,2\n') },
          { path: 'in.bin', content: large },
        ],
      },
    )
    files = Object.fromEntries(
      outcome.files.map(({ path, content }) => [path, Buffer.from(content)]),
    )
  })

  test('are readable under /workspace, and files written to /output are returned', () => {
    expect(outcome).toMatchObject({
      status: 'completed',
      result: [2, expect.any(String)],
      omittedFiles: 0,
    })
    expect(String(files['sum.txt'])).toBe('3.5')
    expect(String(files['plot.svg'])).toContain('<svg')
  })

  test('are passed in and out unchanged when they are large and binary', () => {
    expect(Buffer.compare(files['out.bin'] ?? Buffer.alloc(0), large)).toBe(0)
  })

  test('cannot be changed under /workspace', () => {
    expect(JSON.stringify(outcome.result)).toContain('open() can write under /output only')
  })
})

describe('one run and the next', () => {
  const seeds = 'random.random(), os.urandom(8).hex(), random.getrandbits(64).__str__()'
  const outcomes: Awaited<ReturnType<TestSandbox['program']>>[] = []
  beforeAll(async () => {
    for (const code of [
      `import math, builtins, os, random\nmath.pi = 3\nbuiltins.sum = None\nleft = 1\nopen("/output/left.txt", "w").write("x")\n[${seeds}]`,
      `import math, os, random\n[${seeds}, math.pi > 3, sum([1, 1]), "left" in dir(), os.listdir("/output"), os.listdir("/workspace")]`,
      `import os, random\n[${seeds}]`,
    ])
      outcomes.push(await python.program(code, { strictness: 'lenient' }))
  })
  const results = (): unknown[][] => outcomes.map(({ result }) => result as unknown[])

  test('share no names, files or changed modules', () => {
    expect(outcomes.map(({ status }) => status)).toEqual(['completed', 'completed', 'completed'])
    expect(results()[1]?.slice(3)).toEqual([true, 2, false, [], []])
  })

  test('have their own random numbers', () => {
    expect(new Set(results().flatMap((each) => each.slice(0, 3))).size).toBe(9)
  })
})

describe('levels', () => {
  test('a refusal names the module or builtin, the line, and what is allowed', async () => {
    const names = 'eval exec compile __import__ input globals locals vars breakpoint'.split(' ')
    const outcome = await python.program(
      `import json\nimport os.path, sys\nfrom subprocess import run\nimport xml\nfrom xml.sax import make_parser\n${names.map((name) => `${name}("a")`).join('\n')}`,
    )
    expect(outcome.status).toBe('refused')
    expect(outcome.stdout).toBe('')
    const refused = (outcome.error ?? '').split('\n').slice(1, -1)
    expect(refused).toEqual([
      "  line 2: import of module 'os.path'",
      "  line 2: import of module 'sys'",
      "  line 3: import of module 'subprocess.run'",
      "  line 4: import of module 'xml'",
      "  line 5: import of module 'xml.sax.make_parser'",
      ...names.map((name, index) => `  line ${index + 6}: use of '${name}'`),
    ])
    expect(outcome.error).toContain('xml.etree.ElementTree')
  })

  test('standard has its modules, submodules in either spelling, and getattr, setattr, delattr and type', async () => {
    const modules =
      'json csv re typing collections itertools functools operator heapq bisect array copy pprint enum math cmath statistics random fractions decimal numbers datetime time calendar string textwrap unicodedata difflib base64 binascii html xml.etree.ElementTree dataclasses hashlib hmac abc contextlib warnings logging io collections.abc'
    const imports = modules.split(' ').map((name) => `import ${name}\n`)
    const outcome = await python.program(
      `${imports.join('')}from xml.etree import ElementTree as ET\ngetattr\nsetattr\ndelattr\n[ET.fromstring("<a b='1'/>").get("b"), str(type(1))]`,
    )
    expect(outcome).toMatchObject({ error: null, result: ['1', "<class 'int'>"] })
  })

  test('strict allows pure computation only, and refuses access to scopes and code made from text', async () => {
    const good =
      'import collections, itertools, functools, operator, array, copy, enum, math, cmath, numbers, fractions, decimal\nimport random, statistics, string, textwrap, unicodedata, typing, dataclasses, abc, contextlib\n1'
    expect(await python.program(good, { strictness: 'strict' })).toMatchObject({ result: 1 })
    const modules = ['json', 're', 'io', 'datetime']
    const names =
      'eval exec compile __import__ input globals locals vars breakpoint getattr setattr delattr type'.split(
        ' ',
      )
    const code = `import ${modules.join(', ')}\n${names.map((name) => `${name}(1)`).join('\n')}`
    const bad = await python.program(code, { strictness: 'strict' })
    expect(bad.status).toBe('refused')
    for (const module of modules)
      expect(bad.error).toContain(`line 1: import of module '${module}'`)
    for (const [index, name] of names.entries())
      expect(bad.error).toContain(`line ${index + 2}: use of '${name}'`)
  })

  test('lenient has the whole standard library, with asyncio', async () => {
    const outcome = await python.program(
      `import os, sys, tempfile, importlib, threading, asyncio, ctypes, email, urllib.parse
async def one(n):
    await asyncio.sleep(0.01)
    return n
async def main():
    return await asyncio.gather(one(1), one(2))
[eval("1 + 1"), asyncio.run(main())]`,
      { strictness: 'lenient' },
    )
    expect(outcome).toMatchObject({ status: 'completed', result: [2, [1, 2]] })
  })

  test('the operator can add modules to a level, and every looser level allows them too', async () => {
    const own = await openPython({
      poolSize: 0,
      extraModules: { strict: ['json'], standard: ['ast'] },
    })
    const program = 'import json\nimport ast\n1'
    const [strict, standard] = await Promise.all([
      own.program(program, { strictness: 'strict' }),
      own.program(program),
    ])
    expect(strict.error?.split('\n').slice(1, -1)).toEqual(["  line 2: import of module 'ast'"])
    expect(standard).toMatchObject({ result: 1 })
    await own.close()
  })
})
