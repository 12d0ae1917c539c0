// Measures checkpoints, searches and uploads, each compared with the usual tool: git, ripgrep, cp.
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { pino } from 'pino'
import { createServer } from '../server/app.ts'
import { parseConfig } from '../server/config/load.ts'
import { connect } from '../server/db/connect.ts'
import { createUserRepository } from '../server/db/repositories/accounts/users.ts'
import { createCheckpointRepository } from '../server/db/repositories/projects/checkpoints.ts'
import { createProjectRepository } from '../server/db/repositories/projects/projects.ts'
import { createStorageRepository } from '../server/db/repositories/projects/storage.ts'
import { createOutsideContentRepository } from '../server/db/repositories/runs/outside-contents.ts'
import { detectBubblewrap } from '../server/sandbox/bubblewrap.ts'
import { findRipgrep } from '../server/workspace/search/project-search.ts'
import { createWorkspaceServices } from '../server/workspace/workspace-services.ts'
import { median, type Row } from './row.ts'

const run_ = promisify(execFile)
const suite = 'workspace'
const FILES = 5_000
const FILE_BYTES = 40_000
const ROUNDS = 7
const UPLOADED = 1_000

async function timed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now()
  await work()
  return performance.now() - start
}

/** Median milliseconds of two actions, measured in alternation so that load on the machine affects both equally. */
async function inTurn(
  rounds: number,
  one: (round: number) => Promise<unknown>,
  other: (round: number) => Promise<unknown>,
): Promise<[number, number]> {
  const ones: number[] = []
  const others: number[] = []
  for (let round = 0; round < rounds; round++) {
    ones.push(await timed(() => one(round)))
    others.push(await timed(() => other(round)))
  }
  return [median(ones), median(others)]
}

/** Text that resembles source code, so that the costs of compressing and searching it are realistic. */
function content(seed: number): string {
  let state = seed + 1
  let text = ''
  while (text.length < FILE_BYTES) {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    text += `const value_${state % 1_000} = compute(${state}, 'name ${state % 97}')\n`
  }
  return text
}

async function fill(folder: string): Promise<void> {
  for (let index = 0; index < FILES; index++) {
    const inner = join(folder, `package${index % 50}`, `module${index % 7}`)
    await mkdir(inner, { recursive: true })
    await writeFile(join(inner, `file${index}.ts`), content(index))
  }
}

const row = (
  figure: string,
  target: string,
  value: number,
  limit: number,
  atLeast = false,
): Row => ({
  suite,
  figure,
  target,
  value,
  unit: '×',
  ok: atLeast ? value >= limit : value <= limit,
})

export async function run(): Promise<Row[]> {
  const folder = await mkdtemp(join(tmpdir(), 'bench-workspace-'))
  try {
    return [...(await measureProject(folder)), ...(await measureUpload(folder))]
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function measureProject(folder: string): Promise<Row[]> {
  const log = { info() {}, warn() {} }
  const database = await connect({ dialect: 'sqlite', file: join(folder, 'bench.db') }, { log })
  const user = await createUserRepository(database).ensureDefault('bench')
  const project = await createProjectRepository(database).create(user.id, {
    name: 'bench',
    description: null,
  })
  const services = await createWorkspaceServices({
    root: join(folder, 'workspaces'),
    searchTimeoutMs: 2_000,
    limits: { fileRead: 5e6, fileWrite: 2e7, project: 1e9 },
    projects: createProjectRepository(database),
    outsideContents: createOutsideContentRepository(database),
    rule: { keep: 200, maxAgeDays: 30, maxBytes: 1e9 },
    records: createCheckpointRepository(database),
    storage: { records: createStorageRepository(database), limit: () => 5e9 },
    bubblewrap: await detectBubblewrap(),
    log,
  })
  const workspace = services.workspaces.open(user.id, project.id)
  const origin = { tool: 'bench', messageId: null, runId: null }
  try {
    await workspace.state('')
    await fill(workspace.root)
    const other = join(folder, 'git')
    await fill(other)
    const git = (...args: string[]) =>
      run_('git', ['-c', 'user.name=b', '-c', 'user.email=b@example.org', ...args], { cwd: other })
    await git('init', '-q')
    await git('add', '-A')
    await git('commit', '-q', '-m', 'first')

    const path = (round: number): string => `package${round}/module${round % 7}/file${round}.ts`
    const change = (round: number) =>
      services.checkpoints.change(workspace, origin, [path(round)], () =>
        workspace.write(path(round), Buffer.from(content(round + 10_000))),
      )
    // The write itself is not part of a checkpoint: on both sides, only the additional time is measured.
    const write: number[] = []
    await workspace.stats()
    for (let round = 0; round < ROUNDS; round++)
      write.push(
        await timed(() => workspace.write(path(round), Buffer.from(content(round + 20_000)))),
      )
    const [checkpoint, commit] = await inTurn(ROUNDS, change, async (round) => {
      await writeFile(join(other, path(round)), content(round + 10_000))
      await git('add', '-A')
      await git('commit', '-q', '-m', 'next')
    })
    const anything = (round: number) =>
      services.checkpoints.changeAnything(workspace, origin, () =>
        writeFile(join(workspace.root, path(round)), content(round + 30_000)),
      )
    await anything(0)
    const [whole] = await inTurn(ROUNDS, anything, async () => {})

    const ripgrep = findRipgrep()
    const pattern = 'compute\\(1234\\d+'
    const grep = () =>
      services.search.grep(workspace, {
        pattern,
        fixed: false,
        caseSensitive: true,
        path: '',
        maxResults: 1_000,
      })
    const bare = () => run_(ripgrep ?? 'rg', ['--hidden', pattern, '.'], { cwd: workspace.root })
    await grep()
    const [searched, found] = await inTurn(ROUNDS, grep, bare)
    return [
      row(
        'checkpoint of a one-file change, 5,000 files, 200 MB',
        '≤ 0.3 × git add -A && git commit',
        Math.max(0, checkpoint - median(write)) / commit,
        0.3,
      ),
      row('checkpoint and the write itself', 'for comparison', checkpoint / commit, Infinity),
      row(
        'checkpoint around a command (whole project)',
        'for comparison',
        whole / commit,
        Infinity,
      ),
      row('file_grep in the same project', '≤ 2 × ripgrep', searched / found, 2),
    ]
  } finally {
    await services.close()
    await database.close()
  }
}

async function measureUpload(folder: string): Promise<Row[]> {
  const config = parseConfig(
    JSON.stringify({
      backend_port: 0,
      data_dir: join(folder, 'data'),
      workspace_root: join(folder, 'uploads'),
    }),
    {},
  )
  const server = await createServer({
    config,
    log: pino({ level: 'silent' }),
    webRoot: join(folder, 'web'),
  })
  try {
    const url = await server.app.listen({ host: '127.0.0.1', port: 0 })
    const source = join(folder, 'source')
    const files: { path: string; text: string }[] = []
    for (let index = 0; index < UPLOADED; index++) {
      const path = `dir${index % 20}/file${index}.txt`
      const text = content(index).slice(0, 4_000)
      await mkdir(join(source, `dir${index % 20}`), { recursive: true })
      await writeFile(join(source, path), text)
      files.push({ path, text })
    }
    // The body is built in advance, so that the server is measured and not the client.
    const upload = async (round: number) => {
      const response = await fetch(`${url}/api/projects/upload`, {
        method: 'POST',
        headers: { 'content-type': 'multipart/form-data; boundary=part' },
        body: bodies.get(round) ?? '',
      })
      if (!response.ok) throw new Error(await response.text())
      await response.arrayBuffer()
    }
    const bodies = new Map<number, Buffer>()
    for (let round = -1; round < ROUNDS; round++) bodies.set(round, multipart(round, files))
    await upload(-1)
    const [uploaded, copied] = await inTurn(ROUNDS, upload, (round) =>
      run_('cp', ['-r', source, join(folder, `copy${round}`)]),
    )
    return [
      row('upload of 1,000 files', '≥ 0.3 × the speed of cp -r', copied / uploaded, 0.3, true),
    ]
  } finally {
    await server.close()
  }
}

function multipart(round: number, files: readonly { path: string; text: string }[]): Buffer {
  const field = `--part\r\nContent-Disposition: form-data; name="name"\r\n\r\nupload ${round}\r\n`
  const parts = files.map(
    ({ path, text }) =>
      `--part\r\nContent-Disposition: form-data; name="files[]"; filename="${path}"\r\nContent-Type: text/plain\r\n\r\n${text}\r\n`,
  )
  return Buffer.from(`${field}${parts.join('')}--part--\r\n`)
}
