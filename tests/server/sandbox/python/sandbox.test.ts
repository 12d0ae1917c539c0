// What a program gets and gives back: result, output, files, traceback, levels, limits, fresh seeds.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openPython, type TestSandbox } from '../../../support/python.ts'

let python: TestSandbox
beforeAll(async () => {
  python = await openPython()
})
afterAll(() => python.close())

const text = (value: string) => new TextEncoder().encode(value)

describe('a program', () => {
  test('the value of the last expression is the result, as JSON where JSON knows it', async () => {
    const outcome = await python.program('x = 20\n{"sum": x + 22, "list": (1, 2.5, None, "a")}')
    expect(outcome).toMatchObject({
      status: 'completed',
      error: null,
      result: { sum: 42, list: [1, 2.5, null, 'a'] },
    })
  })

  test('what JSON does not know comes back as Python writes it', async () => {
    const outcome = await python.program('from fractions import Fraction\nFraction(1, 3), {3}')
    expect(outcome.result).toBe('(Fraction(1, 3), {3})')
  })

  test('a first call says that Python is starting, then that it runs, and output streams in order', async () => {
    const fresh = await openPython({ poolSize: 0 })
    const outcome = await fresh.program(
      'import warnings\nprint("a")\nprint("b")\nwarnings.warn("c")',
    )
    await fresh.close()
    expect(outcome.heard.slice(0, 4)).toEqual(['starting', 'running', 'stdout: a\n', 'stdout: b\n'])
    expect(outcome.stdout).toBe('a\nb\n')
    expect(outcome.stderr).toContain('UserWarning: c')
  })

  test('an exception is a traceback with the lines of the program and none of ours', async () => {
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

  test('an exit status other than zero is a failure, zero is none', async () => {
    expect(await python.program('raise SystemExit(0)')).toMatchObject({ status: 'completed' })
    expect(await python.program('raise SystemExit("no data")')).toMatchObject({
      status: 'raised',
      error: "The program exited with 'no data'",
    })
  })

  test('files are seen under /workspace and what is written to /output comes back', async () => {
    const outcome = await python.program(
      `import csv
rows = list(csv.DictReader(open('/workspace/data/prices.csv')))
with open('/output/report/sum.txt', 'w') if False else open('/output/sum.txt', 'w') as out:
    out.write(str(sum(float(row['price']) for row in rows)))
open('/output/plot.svg', 'w').write('<svg xmlns="http://www.w3.org/2000/svg"/>')
len(rows)`,
      { files: [{ path: 'data/prices.csv', content: text('name,price\na,1.5\nb,2\n') }] },
    )
    expect(outcome).toMatchObject({ status: 'completed', result: 2, omittedFiles: 0 })
    const files = Object.fromEntries(
      outcome.files.map(({ path, content }) => [path, Buffer.from(content).toString()]),
    )
    expect(files['sum.txt']).toBe('3.5')
    expect(files['plot.svg']).toContain('<svg')
  })

  test('a large binary file survives the way in and out unchanged', async () => {
    const content = Buffer.alloc(3_000_001, 7)
    for (let index = 0; index < content.length; index += 1) content[index] = (index * 31) % 256
    const outcome = await python.program(
      'data = open("/workspace/in.bin", "rb").read()\nopen("/output/out.bin", "wb").write(data)',
      { files: [{ path: 'in.bin', content }] },
    )
    expect(Buffer.compare(outcome.files[0]?.content ?? Buffer.alloc(0), content)).toBe(0)
  })

  test('files under /workspace can not be changed', async () => {
    const outcome = await python.program('open("/workspace/a.txt", "w")', {
      files: [{ path: 'a.txt', content: text('kept') }],
    })
    expect(outcome.error).toContain('open() can write under /output only')
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

  test('asyncio programs run at the level that allows them', async () => {
    const outcome = await python.program(
      `import asyncio
async def one(n):
    await asyncio.sleep(0.01)
    return n
async def main():
    return await asyncio.gather(one(1), one(2))
asyncio.run(main())`,
      { strictness: 'lenient' },
    )
    expect(outcome).toMatchObject({ status: 'completed', result: [1, 2] })
  })
})

describe('one run and the next', () => {
  test('share nothing: no names, no files, no changed modules', async () => {
    const first = await python.program(
      'import math, builtins\nmath.pi = 3\nbuiltins.sum = None\nleft = 1\nopen("/output/left.txt", "w").write("x")',
      { strictness: 'lenient' },
    )
    expect(first.status).toBe('completed')
    const second = await python.program(
      'import math, os\n[math.pi > 3, sum([1, 1]), "left" in dir(), os.listdir("/output"), os.listdir("/workspace")]',
      { strictness: 'lenient' },
    )
    expect(second.result).toEqual([true, 2, false, [], []])
  })

  test('have their own seeds, for random numbers and for hashes', async () => {
    const seeds = []
    for (let run = 0; run < 3; run += 1) {
      const { result } = await python.program(
        'import random\n[random.random(), hash("one text"), random.getrandbits(64).__str__()]',
      )
      seeds.push(...(result as unknown[]))
    }
    expect(new Set(seeds).size).toBe(9)
  })
})

describe('levels', () => {
  test('a refusal names module, builtin and line, and what is allowed', async () => {
    const outcome = await python.program(
      'import json\nimport os.path, sys\nfrom subprocess import run\nx = eval("1")\n',
    )
    expect(outcome.status).toBe('refused')
    expect(outcome.error).toContain("line 2: import of module 'os.path'")
    expect(outcome.error).toContain("line 2: import of module 'sys'")
    expect(outcome.error).toContain("line 3: import of module 'subprocess.run'")
    expect(outcome.error).toContain("line 4: use of 'eval'")
    expect(outcome.error).toContain('xml.etree.ElementTree')
    expect(outcome.stdout).toBe('')
  })

  test.each([
    'json csv re typing collections itertools functools operator heapq bisect array copy pprint enum math cmath',
    'statistics random fractions decimal numbers datetime time calendar string textwrap unicodedata difflib base64',
    'binascii html xml.etree.ElementTree dataclasses hashlib hmac abc contextlib warnings logging io collections.abc',
  ])('standard imports %s', async (modules) => {
    const code = modules.split(' ').map((name) => `import ${name}\n`)
    expect(await python.program(code.join(''))).toMatchObject({ status: 'completed', error: null })
  })

  test('standard takes a submodule in either spelling, and its parent in none', async () => {
    const good = 'from xml.etree import ElementTree as ET\nET.fromstring("<a b=\'1\'/>").get("b")'
    expect(await python.program(good)).toMatchObject({ status: 'completed', result: '1' })
    expect(await python.program('import xml')).toMatchObject({ status: 'refused' })
    expect(await python.program('from xml.sax import make_parser')).toMatchObject({
      status: 'refused',
    })
  })

  test('strict imports pure computation only', async () => {
    const good =
      'import collections, itertools, functools, operator, array, copy, enum, math, cmath, numbers, fractions, decimal\nimport random, statistics, string, textwrap, unicodedata, typing, dataclasses, abc, contextlib\n1'
    expect(await python.program(good, { strictness: 'strict' })).toMatchObject({ result: 1 })
    const bad = await python.program('import json, re, io, datetime', { strictness: 'strict' })
    for (const module of ['json', 're', 'io', 'datetime'])
      expect(bad.error).toContain(`import of module '${module}'`)
  })

  test('strict and standard refuse what makes code out of text or looks into scopes', async () => {
    const names = 'eval exec compile __import__ input globals locals vars breakpoint'.split(' ')
    const code = names.map((name) => `${name}("a")`).join('\n')
    for (const strictness of ['strict', 'standard'] as const) {
      const outcome = await python.program(code, { strictness })
      expect(outcome).toMatchObject({ status: 'refused' })
      for (const [index, name] of names.entries())
        expect(outcome.error).toContain(`line ${index + 1}: use of '${name}'`)
    }
  })

  test('only strict refuses getattr, setattr, delattr and type', async () => {
    const code = 'getattr\nsetattr\ndelattr\nstr(type(1))'
    const strict = await python.program(code, { strictness: 'strict' })
    expect(strict.status).toBe('refused')
    for (const [index, name] of ['getattr', 'setattr', 'delattr', 'type'].entries())
      expect(strict.error).toContain(`line ${index + 1}: use of '${name}'`)
    expect(await python.program(code)).toMatchObject({ result: "<class 'int'>" })
  })

  test('lenient has the whole standard library', async () => {
    const outcome = await python.program(
      'import os, sys, tempfile, importlib, threading, asyncio, ctypes, email, urllib.parse\neval("1 + 1")',
      { strictness: 'lenient' },
    )
    expect(outcome).toMatchObject({ status: 'completed', result: 2 })
  })

  test('the operator adds modules by level; what a stricter level may, a looser one may too', async () => {
    const own = await openPython({
      poolSize: 0,
      extraModules: { strict: ['json'], standard: ['ast'] },
    })
    expect(await own.program('import json\n1', { strictness: 'strict' })).toMatchObject({
      result: 1,
    })
    expect(await own.program('import ast, json\n1')).toMatchObject({ result: 1 })
    expect(await own.program('import ast', { strictness: 'strict' })).toMatchObject({
      status: 'refused',
    })
    await own.close()
  })
})
