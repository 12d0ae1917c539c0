// Shared workers serve users in turn: hashing, page reading, Python, jobs on files, documents, pictures, web search. In most of
// these tests one piece of work runs at a time, so that work ends in the order in which it began.
import { describe, expect, test } from 'vitest'
import { createPasswords } from '../../server/auth/passwords.ts'
import { readResultImage } from '../../server/files/images.ts'
import { createPageReader, type PageReader } from '../../server/net/page-reader.ts'
import type { UserId } from '../../server/protocol/ids.ts'
import {
  createAvailable,
  failedProgram,
  noCompiledFiles,
} from '../../server/sandbox/python/isolated-sandbox.ts'
import { createDocumentReader } from '../../server/tools/builtin/files/files-read/document-text.ts'
import { createExecutePythonTool } from '../../server/tools/builtin/programs/execute-python.ts'
import { createPageTools } from '../../server/tools/builtin/web/fetch-page.ts'
import { createWebSearchTool } from '../../server/tools/builtin/web/web-search.ts'
import { createWorkerPool } from '../../server/workspace/worker/worker-pool.ts'
import { createScriptedLauncher } from '../support/sandbox/scripted-interpreter.ts'
import { noSkills, runTool } from './tools/support.ts'

const never = new AbortController().signal

/** Asks for four pieces of Ann's work, then two of Bob's and one of Cyd's. @returns the order in which they ended. */
async function orderOf(work: (owner: string, name: string) => Promise<unknown>): Promise<string[]> {
  const ended: string[] = []
  const names = ['ann 1', 'ann 2', 'ann 3', 'ann 4', 'bob 1', 'bob 2', 'cyd 1']
  await Promise.all(
    names.map(async (name) => {
      await work(name.slice(0, 3), name)
      ended.push(name)
    }),
  )
  return ended
}
/** Ann's second piece is the first one in the queue; from then on everybody has a turn. */
const IN_TURNS = ['ann 1', 'ann 2', 'bob 1', 'cyd 1', 'ann 3', 'bob 2', 'ann 4']

describe('users take turns when the server is', () => {
  test('hashing passwords', async () => {
    const cost = { memoryCost: 8, timeCost: 1, parallelism: 1 }
    const passwords = createPasswords(cost, 1)
    expect(await orderOf((owner, name) => passwords.hash(name, owner))).toEqual(IN_TURNS)
  })

  test('reading pages', async () => {
    const pages = createPageReader({ threads: 1 })
    const job = {
      body: Buffer.from('<html lang="en"><body><p>Read me.</p></body></html>'),
      contentType: 'text/html',
      url: 'https://example.org/',
      extract: 'text' as const,
    }
    expect(await orderOf((owner) => pages.read(job, never, owner))).toEqual(IN_TURNS)
    await pages.close()
  })

  test('working on files', async () => {
    const pool = createWorkerPool(1)
    const job = { pattern: 'a', text: 'a', fixed: true, caseSensitive: true, limit: 1 }
    const find = (owner: string) => pool.run('find', job, { timeoutMs: 600_000, owner })
    expect(await orderOf(find)).toEqual(IN_TURNS)
    await pool.close()
  })

  test('running Python', async () => {
    const python = createAvailable({
      engine: 'wasm',
      isolation: 'auto',
      multiUser: true,
      poolSize: 0,
      poolIdleMs: 60_000,
      compiledFolder: '',
      packagesFolder: null,
      extraModules: {},
      log: () => undefined,
      concurrent: 1,
      state: { engine: 'wasm', isolation: 'wasm', available: true, reason: null },
      launcher: createScriptedLauncher(),
      wheels: [],
      compiled: noCompiledFiles,
    })
    const listener = { onStarting() {}, onRunning() {}, onOutput() {} }
    const run = async (owner: string, code: string) => {
      const program = { code, strictness: 'standard', files: [], owner } as const
      expect((await python.run(program, listener, never)).status).toBe('completed')
    }
    expect(await orderOf(run)).toEqual(IN_TURNS)
    await python.close()
  })

  test('reading documents of projects', async () => {
    const begun: string[] = []
    const ends: (() => void)[] = []
    const read = createDocumentReader(async (name) => {
      begun.push(name)
      await new Promise<void>((resolve) => ends.push(resolve))
      const nothingMissing = { pages: null, failure: null, encoding: null }
      return { ok: true, text: name, characters: name.length, ...nothingMissing }
    })
    const all = ['ann 1', 'ann 2', 'ann 3', 'ann 4', 'bob 1'].map((path) =>
      read(
        { root: '/', path, version: '1', bytes: new Uint8Array() },
        path.slice(0, 'ann'.length),
        never,
      ),
    )
    await expect.poll(() => begun).toEqual(['ann 1', 'ann 2', 'bob 1'])
    for (let at = 0; at < all.length; at += 1) {
      await expect.poll(() => ends.length).toBeGreaterThan(at)
      ends[at]?.()
    }
    await Promise.all(all)
  })

  test('reading pictures of tool results', async () => {
    const picture =
      'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
    const ended: string[] = []
    await Promise.all(
      ['ann', 'ann', 'ann', 'ann', 'bob'].map(async (owner) => {
        await readResultImage(Buffer.from(picture, 'base64'), owner)
        ended.push(owner)
      }),
    )
    // Two are read at once, of each user one.
    expect(ended.at(-1)).toBe('ann')
  })

  test('searching the web', async () => {
    const asked: string[] = []
    const tool = createWebSearchTool([
      {
        name: 'brave',
        async search(query) {
          asked.push(query)
          return { ok: true, hits: [] }
        },
      },
    ])
    const search = (owner: string, query: string) =>
      runTool(tool, { query }, { userId: owner as UserId })
    expect(await orderOf(search)).toEqual(IN_TURNS)
    expect(asked).toEqual(IN_TURNS)
  })
})

test('tools name the user of each job', async () => {
  const owners: (string | undefined)[] = []
  const userId = 'ann' as UserId
  const pages: PageReader = {
    async read(_job, _signal, owner) {
      owners.push(owner)
      return { ok: false, error: 'not read', reason: 'page_unreadable' }
    },
    readSearch: async () => null,
    close: async () => undefined,
  }
  const body = Buffer.from('<p>A page.</p>')
  const respond = async () => ({
    ok: true as const,
    status: 200,
    url: 'https://example.org/',
    contentType: 'text/html',
    headers: {},
    body,
    truncated: false,
  })
  const fetch = Object.assign(respond, { close: async () => undefined })
  for (const tool of createPageTools({ fetch, pages })) {
    const url = 'https://example.org/'
    await runTool(tool, tool.name === 'fetch_page' ? { url } : { urls: [url] }, { userId })
  }
  const python = createExecutePythonTool({
    python: {
      state: { engine: 'wasm', isolation: 'wasm', available: true, reason: null },
      packages: [],
      ready: Promise.resolve(),
      modules: () => null,
      close: async () => undefined,
      async run(request) {
        owners.push(request.owner)
        return failedProgram('crashed', 'not run')
      },
    },
    defaultStrictness: 'standard',
    skills: noSkills,
    readFiles: async () => ({ files: [], untrusted: false }),
    storeOutput: async () => ({ paths: new Map() }),
  })
  await runTool(python, { code: '1' }, { userId })
  expect(owners).toEqual(['ann', 'ann', 'ann'])
})
