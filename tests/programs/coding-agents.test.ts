// Real coding agents, installed at pinned versions, do a small task in a folder through the server, with a scripted model.
// `npm run test:programs`; not part of the other commands, because it installs several hundred megabytes from the registry.
import { execFile, spawn } from 'node:child_process'
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
/** What these packages do after their installation: they put the program for this system in its place. */
const AFTER_INSTALL = [
  '@anthropic-ai/claude-code/install.cjs',
  'opencode-ai/postinstall.mjs',
  'cline/postinstall.mjs',
] as const

interface Program {
  command: string
  arguments(task: string, home: string): string[]
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
    environment: (url) => ({
      ANTHROPIC_BASE_URL: url,
      ANTHROPIC_AUTH_TOKEN: 'none',
      ANTHROPIC_MODEL: MODEL,
      ANTHROPIC_DEFAULT_HAIKU_MODEL: MODEL,
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      // It refuses to run without questions as root, unless it is told that this is a sandbox.
      IS_SANDBOX: '1',
    }),
  },
  qwen: {
    command: 'qwen',
    arguments: (task) => ['--auth-type', 'openai', '-y', '-p', task],
    environment: (url) => ({
      OPENAI_BASE_URL: `${url}/v1`,
      OPENAI_API_KEY: 'none',
      OPENAI_MODEL: MODEL,
    }),
  },
  opencode: {
    command: 'opencode',
    arguments: (task) => ['run', task],
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
    environment: () => ({}),
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
  })
  afterAll(async () => {
    for (const folder of folders) await rm(folder, { recursive: true, force: true })
  })

  async function run(name: string, task: string): Promise<{ folder: string; output: string }> {
    const program = PROGRAMS[name]
    if (program === undefined) throw new Error(`no program ${name}`)
    const home = await mkdtemp(join(tmpdir(), 'nanoclaw-home-'))
    const folder = await mkdtemp(join(tmpdir(), 'nanoclaw-work-'))
    folders.push(home, folder)
    for (const [path, text] of Object.entries(program.files?.(url) ?? {})) {
      await mkdir(join(home, path, '..'), { recursive: true })
      await writeFile(join(home, path), text)
    }
    const child = spawn(
      join(installed, 'node_modules/.bin', program.command),
      program.arguments(task.replace('FOLDER', folder), home),
      {
        cwd: folder,
        env: { PATH: process.env.PATH, HOME: home, ...program.environment(url, home) },
        stdio: ['ignore', 'pipe', 'pipe'],
      },
    )
    let output = ''
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (data: Buffer) => {
        output += data.toString()
      })
    await new Promise((done) => child.once('close', done))
    return { folder, output }
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
