// The command line of the MCP Inspector, installed at a pinned version, uses `/mcp` with a key, in both eras of the protocol.
// `npm run test:programs`; not part of the other commands, because it installs some hundred megabytes from the registry.
import { execFile, spawn } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { turn } from '../support/provider/upstream-turns.ts'
import { useUpstream } from '../support/provider/use-upstream.ts'
import { TEST_JWT_SECRET, type TestServer, useServers } from '../support/server/server.ts'
import { setUp } from '../support/sign-in/single-sign-on.ts'

/** The package as docs/api.md names it, with the Node that it needs. */
const PACKAGES = { '@modelcontextprotocol/inspector': '2.12.0', node: '22.23.3' } as const
const INSTALL_MS = 900_000

describe.runIf(process.env.PROGRAMS === '1')('the MCP Inspector', () => {
  const installed = join(tmpdir(), 'nanoclaw-mcp-clients')
  let server: TestServer
  let key: string
  let upstream: Awaited<ReturnType<typeof useUpstream>>
  const { start } = useServers()
  const opened = useUpstream()

  beforeAll(async () => {
    upstream = await opened
    await mkdir(installed, { recursive: true })
    await writeFile(join(installed, 'package.json'), JSON.stringify({ dependencies: PACKAGES }))
    await promisify(execFile)('npm', ['install', '--no-audit', '--no-fund'], { cwd: installed })
    server = await start({
      config: {
        auth_mode: 'multi',
        jwt_secret: TEST_JWT_SECRET,
        models: [{ id: 'scripted', api_url: upstream.url }],
        titles: 'off',
      },
    })
    const token = await setUp(server)
    const made = await server.call('POST', '/api/auth/keys', {
      token,
      body: { name: 'inspector', scopes: ['mcp'] },
    })
    key = made.json.data.key
  }, INSTALL_MS)
  beforeEach(() => upstream.reset())

  /** Starts it, and resolves with what it prints and its exit code when it has ended. */
  function begin(args: string[], authorization = `Bearer ${key}`) {
    const bin = join(installed, 'node_modules/.bin')
    const child = spawn(
      join(bin, 'mcp-inspector'),
      ['--cli', `${server.url}/mcp`, '--header', `Authorization: ${authorization}`, ...args],
      {
        env: { PATH: `${bin}:${process.env.PATH}`, HOME: installed },
        stdio: ['ignore', 'pipe', 'pipe'],
      },
    )
    let output = ''
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (data: Buffer) => {
        output += data.toString()
      })
    const ended = new Promise<{ code: number | null; output: string }>((done) =>
      child.once('close', (code) => done({ code, output })),
    )
    return { child, ended }
  }
  const ask = (era: string, text: string) => [
    ...['--protocol-era', era, '--method', 'tools/call'],
    ...['--tool-name', 'ask', '--tool-arg', `text=${text}`],
  ]

  describe.each(['legacy', 'modern'])('in the era %s', (era) => {
    test('lists the tools, whose schemas it finds no fault with', async () => {
      const args = ['--protocol-era', era, '--method', 'tools/list', '--strict']
      const { code, output } = await begin(args).ended
      expect(output).toContain('"name": "ask"')
      expect(code).toBe(0)
    })

    test('asks, and gets the answer', async () => {
      upstream.program(() => turn.text('The answer of the model.'))
      const { code, output } = await begin(ask(era, 'What is it?')).ended
      expect(output).toContain('The answer of the model.')
      expect(code).toBe(0)
    })

    test('stops the run when it is stopped', async () => {
      upstream.program(() => turn.cut(turn.text('Begun, but never ended.'), 3, 'stall'))
      const { child, ended } = begin(ask(era, 'Wait.'))
      const { closed } = await upstream.nextRequest()
      child.kill('SIGINT')
      await ended
      expect(await closed).toBe('client_left')
    })

    test('says that a wrong key needs signing in, and does not take the page for metadata', async () => {
      const { code, output } = await begin(
        ['--protocol-era', era, '--method', 'tools/list', '--stored-auth-only'],
        'Bearer nc-wrong',
      ).ended
      expect(output).toContain('auth_required')
      expect(code).not.toBe(0)
    })
  })
})
