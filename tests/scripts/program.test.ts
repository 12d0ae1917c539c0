// `nanoclaw` as it is installed: in a checkout, in one without the packages that build it, and in the image.
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { afterAll, describe, expect, inject, test } from 'vitest'
import { z } from 'zod'
import { TEST_JWT_SECRET } from '../support/server/server.ts'

const root = resolve(import.meta.dirname, '../..')
const scratch = mkdtempSync(join(tmpdir(), 'nanoclaw-program-'))
const children = new Set<ChildProcess>()
afterAll(() => {
  for (const child of children) child.kill('SIGKILL')
  rmSync(scratch, { recursive: true, force: true })
})

/** How `nanoclaw` is called, and where its data is. */
interface Layout {
  program: readonly [string, ...string[]]
  environment: Record<string, string>
  data: string
}

const copy = (name: string, target: string): void =>
  cpSync(join(root, name), join(target, name), { recursive: true })

/** The build, newer than everything else, as in a checkout that has been built. */
function addBuild(target: string): void {
  cpSync(inject('serverBuild'), join(target, 'dist/server'), { recursive: true })
  mkdirSync(join(target, 'dist/web'), { recursive: true })
  writeFileSync(join(target, 'dist/web/index.html'), '<!doctype html><title>NanoClaw</title>')
}

function installCheckout(name: string): string {
  const target = join(scratch, name)
  mkdirSync(target)
  for (const part of ['bin', 'scripts', 'package.json', 'migrations']) copy(part, target)
  for (const part of ['server', 'web']) symlinkSync(join(root, part), join(target, part))
  writeFileSync(
    join(target, 'config.yml'),
    `auth_mode: multi\njwt_secret: ${TEST_JWT_SECRET}\nlog_level: warn\n`,
  )
  return target
}

const Lockfile = z.object({
  packages: z.record(z.string(), z.object({ dev: z.boolean().optional() })),
})

/** The packages that `npm prune --omit=dev` leaves. */
function linkProductionPackages(target: string): void {
  const { packages } = Lockfile.parse(
    JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')),
  )
  for (const [path, { dev = false }] of Object.entries(packages)) {
    const isTop = /^node_modules\/(@[^/]+\/)?[^/]+$/.test(path)
    if (!isTop || dev || !existsSync(join(root, path))) continue
    mkdirSync(dirname(join(target, path)), { recursive: true })
    symlinkSync(join(root, path), join(target, path))
  }
}

const program = (target: string): Layout['program'] => [
  process.execPath,
  join(target, 'bin/nanoclaw.mjs'),
]

const LAYOUTS: Record<string, () => Layout> = {
  checkout() {
    const target = installCheckout('checkout')
    symlinkSync(join(root, 'node_modules'), join(target, 'node_modules'))
    addBuild(target)
    return { program: program(target), environment: {}, data: join(target, 'data') }
  },
  'checkout without the packages that build it'() {
    const target = installCheckout('pruned')
    linkProductionPackages(target)
    addBuild(target)
    // `npm prune` writes the lockfile again, which must not count as a change of the sources.
    copy('package-lock.json', target)
    return { program: program(target), environment: {}, data: join(target, 'data') }
  },
  image() {
    const text = readFileSync(join(root, 'Dockerfile'), 'utf8')
    const target = join(scratch, 'image')
    const [, last = ''] = text.split(/^FROM node:\$\{NODE\}$/m)
    const parts = [...last.matchAll(/^COPY --from=build \S+ (.+) \S+$/gm)]
      .flatMap(([, sources = '']) => sources.split(' '))
      .map((source) => source.replace(/^\/app\//, ''))
    mkdirSync(target)
    for (const part of parts)
      if (part === 'node_modules') linkProductionPackages(target)
      else if (part === 'dist') addBuild(target)
      else copy(part, target)
    const [, linked = '', name = ''] =
      /^RUN ln -s \/app\/(\S+) \/usr\/local\/bin\/(\S+)$/m.exec(last) ?? []
    const commands = join(scratch, 'image-commands')
    mkdirSync(commands)
    symlinkSync(join(target, linked), join(commands, name))
    const entry = /^ENTRYPOINT (.+)$/m.exec(last)?.[1] ?? ''
    const [, , ...started] = z.array(z.string()).parse(JSON.parse(entry))
    expect(started).toEqual(['nanoclaw'])
    expect(last).toMatch(/^CMD \["start"\]$/m)
    expect(last).toMatch(/^ENV .*NANOCLAW_DATA=\/data$/m)
    const data = join(scratch, 'image-data')
    const config = join(scratch, 'image-config.yml')
    writeFileSync(
      config,
      readFileSync(join(root, 'docker/config.sqlite.yml'), 'utf8')
        .replaceAll('/data', data)
        .replace('0.0.0.0', '127.0.0.1'),
    )
    return {
      program: [join(commands, name)],
      environment: { NANOCLAW_DATA: data, NANOCLAW_CONFIG: config, PUBLIC_URL: '' },
      data,
    }
  },
}

/** A folder with nothing in it, in which all commands are started. */
const elsewhere = join(scratch, 'elsewhere')
mkdirSync(elsewhere)

const environmentOf = ({ environment }: Layout): Record<string, string> => ({
  PATH: `${dirname(process.execPath)}:${process.env.PATH ?? ''}`,
  PORT: '0',
  ...environment,
})

function run(
  layout: Layout,
  ...values: string[]
): Promise<{ status: number; stdout: string; stderr: string }> {
  const [file, ...before] = layout.program
  return new Promise((done) => {
    execFile(
      file,
      [...before, ...values],
      { cwd: elsewhere, env: environmentOf(layout) },
      (error, stdout, stderr) =>
        done({ status: error === null ? 0 : Number(error.code), stdout, stderr }),
    )
  })
}

/** Starts the server, and ends it once it is ready. */
async function startAndStop(layout: Layout): Promise<{ output: string; status: number | null }> {
  const [file, ...before] = layout.program
  const child = spawn(file, [...before, 'start'], {
    cwd: elsewhere,
    env: environmentOf(layout),
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  children.add(child)
  let output = ''
  const read = (chunk: Buffer): void => {
    output += chunk
    if (output.includes('NanoClaw is ready')) child.kill('SIGTERM')
  }
  child.stdout.on('data', read)
  child.stderr.on('data', read)
  const status = await new Promise<number | null>((done) => child.once('close', done))
  children.delete(child)
  return { output, status }
}

/** The commands that the documentation names, such as `admin list`. */
function documentedCommands(): Set<string> {
  const pages = ['README.md', 'README.zh-CN.md', 'CONTRIBUTING.md', 'config.yml'].map((name) =>
    join(root, name),
  )
  for (const name of readdirSync(join(root, 'docs')))
    if (name.endsWith('.md')) pages.push(join(root, 'docs', name))
  const names = pages.flatMap((page) =>
    [
      ...readFileSync(page, 'utf8').matchAll(
        /(?:`|\bnanoclaw )nanoclaw (--[a-z]+|admin [a-z-]+|[a-z]+)\b/g,
      ),
    ].map(([, name = '']) => name),
  )
  return new Set(names)
}

/** What is tried below. */
const TRIED = [
  '--version',
  '--help',
  'doctor',
  'start',
  'migrate',
  'admin list',
  'admin create',
  'admin reset-password',
  'admin reset-second-factor',
  'admin make-admin',
  'admin make-user',
  'admin disable',
  'admin enable',
  'admin end-sessions',
  'admin rotate-keys',
  'admin export-user',
  'admin delete-user',
  'admin adopt',
  'admin reset-push-key',
  'backup',
  'restore',
  'export',
  'admin',
]

test('every command that the documentation names is tried in each layout', () => {
  const documented = documentedCommands()
  expect(documented.size).toBeGreaterThan(8)
  expect([...documented].filter((name) => !TRIED.includes(name))).toEqual([])
})

describe.each(Object.keys(LAYOUTS))('in the layout: %s', (name) => {
  test('every command works from any folder, on the installation of its configuration file', async () => {
    const create = LAYOUTS[name]
    if (create === undefined) throw new Error('a layout')
    const layout = create()
    const ran = async (...values: string[]): Promise<string> => {
      const { status, stdout, stderr } = await run(layout, ...values)
      expect(status, `${values.join(' ')}: ${stdout}${stderr}`).toBe(0)
      expect(`${stdout}${stderr}`).not.toMatch(/\n\s+at |Building/)
      return stdout
    }
    /** Linked packages do not pass the isolation check of Python; everything else has to be right. */
    const diagnosis = async (): Promise<string> => {
      const { stdout } = await run(layout, 'doctor')
      const faults = stdout.split('\n').filter((line) => line.startsWith('[FAIL]'))
      expect(faults.filter((line) => !line.startsWith('[FAIL] execute_python'))).toEqual([])
      expect(stdout).toMatch(/\nAll required checks passed\.\n$|\n1 of \d+ checks failed\.\n$/)
      return stdout
    }
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
    expect(await ran('--version')).toBe(`${version}\n`)
    expect(await ran('--help')).toContain('Usage: nanoclaw <command>')
    expect(await ran('backup', '--help')).toContain('Usage: nanoclaw backup')

    // Commands that only read create nothing, and say what they looked at.
    expect(await diagnosis()).toContain('the first start creates')
    for (const values of [
      ['admin', 'list'],
      ['export', 'x.zip'],
      ['admin', 'rotate-keys'],
    ]) {
      const refused = await run(layout, ...values)
      expect(refused.status).toBe(1)
      expect(refused.stdout).toContain('nothing was created')
      expect(refused.stderr).toContain(`database: SQLite, ${layout.data}/nanoclaw.db`)
    }
    expect(existsSync(layout.data)).toBe(false)

    const started = await startAndStop(layout)
    expect(started, started.output).toMatchObject({ status: 0 })
    expect(statSync(join(layout.data, 'nanoclaw.db')).isFile()).toBe(true)
    expect(await ran('migrate')).toBe('The database is up to date.\n')
    expect(await ran('admin', 'create', 'ada', 'admin')).toContain('Created ada (admin)')
    expect(await ran('admin', 'create', 'bob')).toContain('Created bob (user)')
    expect(await ran('admin', 'list')).toBe('bob\tuser\tactive\t\nada\tadmin\tactive\t\n')
    expect(await ran('admin', 'reset-password', 'bob')).toContain('Password link')
    await ran('admin', 'reset-second-factor', 'bob')
    await ran('admin', 'make-admin', 'bob')
    await ran('admin', 'disable', 'bob')
    expect(await ran('admin', 'list')).toBe('bob\tadmin\tdisabled\t\nada\tadmin\tactive\t\n')
    await ran('admin', 'make-user', 'bob')
    await ran('admin', 'enable', 'bob')
    await ran('admin', 'end-sessions', 'bob')
    expect(await ran('admin', 'list')).toContain('bob\tuser\tactive\t\n')
    expect(await ran('admin', 'rotate-keys')).toContain('new key created')
    const files = join(scratch, `files-of-${name}`)
    mkdirSync(files)
    await ran('admin', 'export-user', 'ada', join(files, 'ada.zip'))
    await ran('export', join(files, 'again.zip'), 'ada')
    await ran('backup', join(files, 'backup'))
    await ran('admin', 'delete-user', 'bob')
    await ran('admin', 'adopt')
    // The key can be opened, so nothing is done.
    const kept = await run(layout, 'admin', 'reset-push-key')
    expect([kept.status, `${kept.stdout}${kept.stderr}`]).toEqual([
      1,
      expect.stringContaining('Nothing to do.'),
    ])
    expect(await ran('admin', 'list')).toBe('ada\tadmin\tactive\t\n')
    await ran('restore', join(files, 'backup'))
    expect(await ran('admin', 'list')).toContain('bob')
    await diagnosis()

    const usage = await run(layout, 'admin')
    expect([usage.status, usage.stdout]).toEqual([
      1,
      expect.stringContaining('nanoclaw admin list'),
    ])
    expect((await run(layout, 'doctor', '--nonsense')).status).toBe(2)
    expect((await run(layout, 'fly')).stderr).toMatch(/Unknown command "fly"/)
    expect(readdirSync(elsewhere)).toEqual([])
  })
})

test('a checkout that cannot be built says so in one line', async () => {
  const target = installCheckout('unbuilt')
  linkProductionPackages(target)
  const { status, stdout, stderr } = await run({
    program: program(target),
    environment: {},
    data: '',
  })
  expect([status, stdout]).toEqual([1, ''])
  expect(stderr.trim().split('\n')).toEqual([
    expect.stringContaining('Run `npm ci && npm run build` first'),
  ])
})
