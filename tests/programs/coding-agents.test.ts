// Real coding agents, installed at pinned versions, do a small task in a folder through the server, with a scripted model.
// `npm run test:programs`; not part of the other commands, because it installs several hundred megabytes from the registry.
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { UpstreamRequest } from '../support/provider/upstream.ts'
import { turn } from '../support/provider/upstream-turns.ts'
import { useUpstream } from '../support/provider/use-upstream.ts'
import { type TestServer, useServers } from '../support/server/server.ts'

const MODEL = 'nanoclaw/scripted'
/** The package of each program, as docs/api.md names it, with what its package runs after an installation. */
const PACKAGES = {
  '@openai/codex': '0.171.0',
  '@anthropic-ai/claude-code': '2.1.332',
  '@qwen-code/qwen-code': '0.24.4',
  'opencode-ai': '1.18.33',
  cline: '3.0.65',
  '@continuedev/cli': '1.5.47',
} as const
const INSTALL_MS = 900_000
/** What these packages do after their installation: they put the program for this system in its place. */
const AFTER_INSTALL = [
  '@anthropic-ai/claude-code/install.cjs',
  'opencode-ai/postinstall.mjs',
  'cline/postinstall.mjs',
] as const

/** What a provider says to a request that is too long for its model. */
const TOO_LONG = "This model's maximum context length is 8192 tokens, your messages have 9000."

interface Program {
  command: string
  arguments(task: string, home: string): string[]
  /** The arguments that ask again in the newest session of the folder. Cline does so only in a terminal. */
  again?(task: string, home: string): string[]
  environment(url: string, home: string): Record<string, string>
  /** Files below the home folder, by path. */
  files?(url: string): Record<string, string>
}

const PROGRAMS: Record<string, Program> = {
  codex: {
    command: 'codex',
    arguments: (task) => [
      'exec',
      '--skip-git-repo-check',
      '--dangerously-bypass-approvals-and-sandbox',
      task,
    ],
    again: (task) => [
      'exec',
      'resume',
      '--last',
      '--skip-git-repo-check',
      '--dangerously-bypass-approvals-and-sandbox',
      task,
    ],
    environment: (_url, home) => ({ CODEX_HOME: home, NANOCLAW_KEY: 'none' }),
    files: (url) => ({
      'config.toml': `model = "${MODEL}"
model_provider = "nanoclaw"
[model_providers.nanoclaw]
name = "NanoClaw"
base_url = "${url}/v1"
env_key = "NANOCLAW_KEY"
wire_api = "responses"
[mcp_servers.shopping]
command = "node"
args = ["${resolve('examples/mcp-server.mjs')}"]
`,
    }),
  },
  claude: {
    command: 'claude',
    arguments: (task) => ['-p', task, '--dangerously-skip-permissions'],
    again: (task) => ['--continue', '-p', task, '--dangerously-skip-permissions'],
    environment: (url) => ({
      ANTHROPIC_BASE_URL: url,
      ANTHROPIC_AUTH_TOKEN: 'none',
      ANTHROPIC_MODEL: MODEL,
      ANTHROPIC_DEFAULT_HAIKU_MODEL: MODEL,
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      // Otherwise it sends a refused request up to five times more, each time without another feature of its own.
      CLAUDE_CODE_DISABLE_EXPERIMENTAL_BETAS: '1',
      // It refuses to run without questions as root, unless it is told that this is a sandbox.
      IS_SANDBOX: '1',
    }),
  },
  qwen: {
    command: 'qwen',
    arguments: (task) => ['--auth-type', 'openai', '-y', '-p', task],
    again: (task) => ['--auth-type', 'openai', '-y', '--continue', '-p', task],
    environment: (url) => ({
      OPENAI_BASE_URL: `${url}/v1`,
      OPENAI_API_KEY: 'none',
      OPENAI_MODEL: MODEL,
    }),
  },
  opencode: {
    command: 'opencode',
    arguments: (task) => ['run', task],
    again: (task) => ['run', '--continue', task],
    environment: () => ({}),
    files: (url) => ({
      '.config/opencode/opencode.json': JSON.stringify({
        model: `nanoclaw/${MODEL}`,
        permission: { '*': 'allow' },
        provider: {
          nanoclaw: {
            npm: '@ai-sdk/openai-compatible',
            name: 'NanoClaw',
            options: { baseURL: `${url}/v1`, apiKey: 'none' },
            models: { [MODEL]: { name: 'Scripted' } },
          },
        },
      }),
    }),
  },
  cline: {
    command: 'cline',
    arguments: (task) => ['-P', 'openai-compatible', '-m', MODEL, task],
    // Otherwise it leaves a process behind, which its next call uses.
    environment: () => ({ CLINE_SESSION_BACKEND_MODE: 'local' }),
    // As `cline auth -p openai-compatible -b <url>/v1 -k <key> -m <model>` writes it.
    files: (url) => ({
      '.cline/data/settings/providers.json': JSON.stringify({
        version: 1,
        lastUsedProvider: 'openai-compatible',
        modes: {},
        providers: {
          'openai-compatible': {
            settings: {
              provider: 'openai-compatible',
              apiKey: 'none',
              model: MODEL,
              baseUrl: `${url}/v1`,
            },
            updatedAt: '2026-01-01T00:00:00.000Z',
            tokenSource: 'manual',
          },
        },
      }),
    }),
  },
  continue: {
    command: 'cn',
    arguments: (task, home) => ['--config', join(home, 'config.yaml'), '--auto', '-p', task],
    again: (task, home) => [
      ...['--config', join(home, 'config.yaml')],
      ...['--auto', '--resume', '-p', task],
    ],
    environment: () => ({}),
    files: (url) => ({
      'config.yaml': `name: NanoClaw
version: 0.0.1
schema: v1
models:
  - name: Scripted
    provider: openai
    model: ${MODEL}
    apiBase: ${url}/v1
    apiKey: none
    roles: [chat, edit, apply]
`,
    }),
  },
}

const ASKING_AGAIN = Object.keys(PROGRAMS).filter((name) => PROGRAMS[name]?.again !== undefined)

/** How each program is made to write the file: the name of its tool, and the arguments. `offered`: the tools as JSON. */
const WRITES: Record<string, (file: string, offered: string) => object> = {
  exec_command: () => ({ cmd: 'echo hello > hello.txt' }),
  run_commands: () => ({ commands: ['echo hello > hello.txt'] }),
  // Of Claude Code and of Continue.
  Write: (file, offered) => ({
    [offered.includes('"filepath"') ? 'filepath' : 'file_path']: file,
    content: 'hello\n',
  }),
  write_file: (file) => ({ file_path: file, content: 'hello\n' }),
  write: (file) => ({ filePath: file, content: 'hello\n' }),
}

describe.runIf(process.env.PROGRAMS === '1')('a real coding agent', () => {
  let installed: string
  let server: TestServer
  let url: string
  let upstream: Awaited<ReturnType<typeof useUpstream>>
  const folders: string[] = []
  const running = new Set<ChildProcess>()
  const { start } = useServers()
  const opened = useUpstream()

  beforeAll(async () => {
    upstream = await opened
    installed = join(tmpdir(), 'nanoclaw-programs')
    await mkdir(installed, { recursive: true })
    await writeFile(join(installed, 'package.json'), JSON.stringify({ dependencies: PACKAGES }))
    await promisify(execFile)('npm', ['install', '--no-audit', '--no-fund'], { cwd: installed })
    for (const script of AFTER_INSTALL)
      await promisify(execFile)(process.execPath, [join('node_modules', script)], {
        cwd: installed,
      })
    server = await start({
      config: {
        models: [{ id: 'scripted', api_url: upstream.url, context_window: 200_000 }],
        titles: 'off',
      },
    })
    url = server.url
  }, INSTALL_MS)
  afterAll(async () => {
    for (const child of running) signal(child, 'SIGKILL')
    for (const folder of folders) await rm(folder, { recursive: true, force: true })
  })

  /** A program in a folder of its own, with a home of its own. */
  interface Place {
    program: Program
    home: string
    folder: string
  }

  async function placeFor(name: string): Promise<Place> {
    const program = PROGRAMS[name]
    if (program === undefined) throw new Error(`no program ${name}`)
    const home = await mkdtemp(join(tmpdir(), 'nanoclaw-home-'))
    const folder = await mkdtemp(join(tmpdir(), 'nanoclaw-work-'))
    folders.push(home, folder)
    for (const [path, text] of Object.entries(program.files?.(url) ?? {})) {
      await mkdir(join(home, path, '..'), { recursive: true })
      await writeFile(join(home, path), text)
    }
    return { program, home, folder }
  }

  /** Starts the program, as the leader of a group as in a terminal. `output` resolves when it has ended. */
  function begin({ program, home, folder }: Place, args: string[]) {
    const child = spawn(join(installed, 'node_modules/.bin', program.command), args, {
      cwd: folder,
      env: { PATH: process.env.PATH, HOME: home, ...program.environment(url, home) },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    })
    running.add(child)
    let text = ''
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (data: Buffer) => {
        text += data.toString()
      })
    const output = new Promise<string>((done) => {
      child.once('close', () => {
        running.delete(child)
        done(text)
      })
    })
    return { child, output }
  }

  function signal({ pid }: ChildProcess, name: NodeJS.Signals): void {
    if (pid !== undefined) process.kill(-pid, name)
  }

  async function run(name: string, task: string): Promise<{ folder: string; output: string }> {
    const place = await placeFor(name)
    const { folder, home, program } = place
    const { output } = begin(place, program.arguments(task.replace('FOLDER', folder), home))
    return { folder, output: await output }
  }

  /** How often the provider has received the same request with this text. Some programs also ask for a title, which is another request. */
  function requestsWith(text: string): number {
    const counts = new Map<string, number>()
    for (const { path, messages } of upstream.requests) {
      const sent = JSON.stringify(messages)
      if (path.endsWith('/completions') && sent.includes(text))
        counts.set(sent, (counts.get(sent) ?? 0) + 1)
    }
    return Math.max(...counts.values())
  }

  /** Plays a model that writes the file, uses a tool of the program's own MCP server, and answers. */
  function playTask(request: UpstreamRequest) {
    if (!request.path.endsWith('/completions')) return undefined
    const tools = JSON.stringify(request.body.tools ?? [])
    const text = JSON.stringify(request.messages)
    const file = join(/in (\S*nanoclaw-work-\w+)/.exec(text)?.[1] ?? '', 'hello.txt')
    const writer = Object.keys(WRITES).find((name) => tools.includes(`"name":"${name}"`))
    const shopping = /"name":"([^"]*shopping[^"]*show)"/.exec(tools)?.[1]
    const wasCalled = (name: string) => text.includes(`"name":"${name}"`)
    if (writer !== undefined && !wasCalled(writer))
      return turn.toolCalls([{ name: writer, arguments: WRITES[writer]?.(file, tools) }])
    if (shopping !== undefined && !wasCalled(shopping))
      return turn.toolCalls([{ name: shopping, arguments: {} }])
    return turn.text('The file is written.')
  }

  test.each(Object.keys(PROGRAMS))('%s writes a file and says so', async (name) => {
    upstream.reset()
    upstream.program(playTask)
    const { folder, output } = await run(name, 'Write hello into hello.txt in FOLDER .')
    expect(output).toContain('The file is written.')
    expect(existsSync(join(folder, 'hello.txt'))).toBe(true)
    expect(await readFile(join(folder, 'hello.txt'), 'utf8')).toBe('hello\n')
  })

  test('codex also calls the tool of its own MCP server', async () => {
    upstream.reset()
    upstream.program(playTask)
    const { output } = await run('codex', 'Write hello into hello.txt in FOLDER .')
    expect(output).toContain('shopping/show')
  })

  test.each(ASKING_AGAIN)('%s asks a second time in the same session', async (name) => {
    upstream.reset()
    upstream.program(({ path, messages }) =>
      path.endsWith('/completions')
        ? turn.text(`Answer ${new Set(JSON.stringify(messages).match(/Question \w+ of/g)).size}.`)
        : undefined,
    )
    const place = await placeFor(name)
    const { program, home } = place
    const first = begin(place, program.arguments('Question one of two.', home))
    expect(await first.output).toContain('Answer 1.')
    const second = begin(place, program.again?.('Question two of two.', home) ?? [])
    expect(await second.output).toContain('Answer 2.')
  })

  test.each(Object.keys(PROGRAMS))(
    '%s ends the call of the model when it is stopped',
    async (name) => {
      upstream.reset()
      upstream.program(({ path }) =>
        path.endsWith('/completions')
          ? turn.cut(turn.text('Begun, but never ended.'), 3, 'stall')
          : undefined,
      )
      const before = upstream.requests.length
      const place = await placeFor(name)
      const { child, output } = begin(place, place.program.arguments(`Wait, ${name}.`, place.home))
      const asked = () =>
        upstream.requests
          .slice(before)
          .filter(({ messages }) => JSON.stringify(messages).includes(`Wait, ${name}.`))
      await expect.poll(() => asked().some(({ body }) => body.tools !== undefined)).toBe(true)
      signal(child, 'SIGINT')
      await output
      for (const { closed } of asked()) expect(await closed).toBe('client_left')
    },
  )

  test.each(Object.keys(PROGRAMS))(
    '%s says that a conversation is too long, which the provider gets once',
    async (name) => {
      upstream.reset()
      upstream.program(() => turn.error(400, TOO_LONG))
      const { output } = await run(name, `Overflow ${name} now.`)
      expect(output).toMatch(/too long|context/i)
      expect(requestsWith(`Overflow ${name} now.`)).toBe(1)
    },
  )

  test.each(Object.keys(PROGRAMS))(
    '%s shows why a request is refused, which the provider gets once',
    async (name) => {
      upstream.reset()
      upstream.program(() => turn.error(400, 'The field x is unknown.'))
      const { output } = await run(name, `Refuse ${name} now.`)
      expect(output).toContain('The field x is unknown.')
      expect(requestsWith(`Refuse ${name} now.`)).toBe(1)
    },
  )

  test.each(Object.keys(PROGRAMS))('%s asks a broken provider at most four times', async (name) => {
    upstream.reset()
    upstream.program(() => turn.error(500, 'The provider is broken.'))
    const { output } = await run(name, `Break ${name} now.`)
    expect(output).toContain('The provider is broken.')
    expect(requestsWith(`Break ${name} now.`)).toBeLessThanOrEqual(4)
  })
})
