// `nanoclaw` as it is installed: in a checkout, in one without the packages that build it, as a package, and in the image.
import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process'
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
import { basename, dirname, join, resolve } from 'node:path'
import { afterAll, describe, expect, inject, test } from 'vitest'
import { z } from 'zod'
import { RELEASE_FILES, releaseDependencies } from '../../scripts/release-contents.ts'
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
  /** Where its configuration file is. */
  fileFolder?: string
  /** Where commands are started; by default, in a folder with nothing in it. */
  startedIn?: string
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

/** The packages that the release package names, with all that these need: no other package can be found from its folder. */
function linkPackagesOfRelease(target: string): void {
  const Entry = z.looseObject({
    dependencies: z.record(z.string(), z.string()).default({}),
    optionalDependencies: z.record(z.string(), z.string()).default({}),
    peerDependencies: z.record(z.string(), z.string()).default({}),
  })
  const { dependencies, optionalDependencies } = releaseDependencies(root)
  const waiting = [...Object.keys(dependencies), ...Object.keys(optionalDependencies)]
  const linked = new Set<string>()
  for (const name of waiting) {
    const place = join('node_modules', name)
    // Optional packages are there for one system and one version of Node.
    if (linked.has(name) || !existsSync(join(root, place, 'package.json'))) continue
    linked.add(name)
    mkdirSync(dirname(join(target, place)), { recursive: true })
    symlinkSync(join(root, place), join(target, place))
    const entry = Entry.parse(JSON.parse(readFileSync(join(root, place, 'package.json'), 'utf8')))
    waiting.push(
      ...Object.keys(entry.dependencies),
      ...Object.keys(entry.optionalDependencies),
      ...Object.keys(entry.peerDependencies),
    )
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
    return {
      program: program(target),
      environment: {},
      data: join(target, 'data'),
      fileFolder: target,
    }
  },
  'checkout without the packages that build it'() {
    const target = installCheckout('pruned')
    linkProductionPackages(target)
    addBuild(target)
    // `npm prune` writes the lockfile again, which must not count as a change of the sources.
    copy('package-lock.json', target)
    return {
      program: program(target),
      environment: {},
      data: join(target, 'data'),
      fileFolder: target,
    }
  },
  package() {
    const target = join(scratch, 'prefix/lib/node_modules/nanoclaw')
    mkdirSync(target, { recursive: true })
    for (const part of RELEASE_FILES)
      if (part === 'dist/server') addBuild(target)
      else if (part !== 'dist/web') copy(part, target)
    copy('package.json', target)
    linkPackagesOfRelease(target)
    // On Node 20, its driver is installed beside the package.
    const driver = 'node_modules/better-sqlite3-12'
    if (Number(process.versions.napi) < 10)
      symlinkSync(join(root, driver), join(scratch, 'prefix/lib', driver))
    rmSync(join(target, driver), { force: true })
    const commands = join(scratch, 'prefix/bin')
    mkdirSync(commands)
    symlinkSync(join(target, 'bin/nanoclaw.mjs'), join(commands, 'nanoclaw'))
    const home = join(scratch, 'home')
    mkdirSync(home)
    return {
      program: [join(commands, 'nanoclaw')],
      environment: {
        HOME: home,
        NANOCLAW_AUTH_MODE: 'multi',
        NANOCLAW_JWT_SECRET: TEST_JWT_SECRET,
        NANOCLAW_LOG_LEVEL: 'warn',
      },
      data: join(home, '.nanoclaw'),
    }
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
      else cpSync(join(root, part), join(target, basename(part)), { recursive: true })
    const [, linked = '', name = ''] =
      /^RUN ln -s \/app\/(\S+) \/usr\/local\/bin\/(\S+)$/m.exec(last) ?? []
    const commands = join(scratch, 'image-commands')
    mkdirSync(commands)
    symlinkSync(join(target, linked), join(commands, name))
    const entry = /^ENTRYPOINT (.+)$/m.exec(last)?.[1] ?? ''
    const [, , ...started] = z.array(z.string()).parse(JSON.parse(entry))
    expect(started).toEqual(['nanoclaw'])
    expect(last).toMatch(/^CMD \["start"\]$/m)
    expect(last).toMatch(/^ENV .*NANOCLAW_DATA=\/data(?: |$)/m)
    const data = join(scratch, 'image-data')
    const presets = join(target, 'presets.yml')
    // The image listens on all addresses; a test only on this machine's.
    writeFileSync(presets, readFileSync(presets, 'utf8').replace('0.0.0.0', '127.0.0.1'))
    return {
      program: [join(commands, name)],
      environment: { NANOCLAW_DATA: data, PUBLIC_URL: '' },
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
      { cwd: layout.startedIn ?? elsewhere, env: environmentOf(layout) },
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
  let isAsked = false
  const read = (chunk: Buffer): void => {
    output += chunk
    // Once: a second signal ends the process at once, with an error.
    if (!isAsked && output.includes('NanoClaw is ready')) isAsked = child.kill('SIGTERM')
  }
  child.stdout.on('data', read)
  child.stderr.on('data', read)
  const status = await new Promise<number | null>((done) => child.once('close', done))
  children.delete(child)
  return { output, status }
}

/** The commands that the documentation names, such as `admin list`. */
function documentedCommands(): Set<string> {
  const pages = ['README.md', 'README.zh-CN.md', 'CONTRIBUTING.md', 'config.example.yml'].map(
    (name) => join(root, name),
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

const quote = (text: string): string => `'${text}'`

const isFull = process.env.FAULTS === 'full'

/** What is tried below. */
const TRIED = [
  '--version',
  '--help',
  'doctor',
  'config',
  'service',
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
  'rollback',
  'move',
  'export',
  'admin',
]

test('every command that the documentation names is tried in each layout', () => {
  const documented = documentedCommands()
  expect(documented.size).toBeGreaterThan(8)
  expect([...documented].filter((name) => !TRIED.includes(name))).toEqual([])
})

describe.each(Object.keys(LAYOUTS))('in the layout: %s', (name) => {
  test('every command works from any folder, on the installation of its configuration file; those for accounts, which know no layout, in one', async () => {
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
    expect(await ran('config')).toContain('backend_port: 0 # environment variable PORT\n')
    expect(await ran('config', '--changed')).toContain('jwt_secret: "[secret]" # ')

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
    if (name === Object.keys(LAYOUTS)[0] || isFull) {
      expect(await ran('admin', 'reset-password', 'bob')).toMatch(
        /Password link .*: http:\/\/(127\.0\.0\.1|localhost):\d+\/join#/,
      )
      await ran('admin', 'reset-second-factor', 'bob')
      await ran('admin', 'make-admin', 'bob')
      await ran('admin', 'disable', 'bob')
      expect(await ran('admin', 'list')).toBe('bob\tadmin\tdisabled\t\nada\tadmin\tactive\t\n')
      await ran('admin', 'make-user', 'bob')
      await ran('admin', 'enable', 'bob')
      await ran('admin', 'end-sessions', 'bob')
      expect(await ran('admin', 'list')).toContain('bob\tuser\tactive\t\n')
    }
    expect(await ran('admin', 'rotate-keys')).toContain('new key created')
    const unchanged = await run(layout, 'rollback')
    expect(unchanged.status).toBe(1)
    expect(unchanged.stdout + unchanged.stderr).toContain('There is no copy')
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

    // A service manager that only notes what it is asked.
    const manager = join(scratch, `manager-of-${name}`)
    mkdirSync(manager)
    const asked = join(manager, 'asked')
    writeFileSync(join(manager, 'systemctl'), `#!/bin/sh\necho "$@" >> ${quote(asked)}\n`, {
      mode: 0o755,
    })
    const managed: Layout = {
      ...layout,
      environment: {
        ...layout.environment,
        XDG_CONFIG_HOME: manager,
        PATH: `${manager}:${environmentOf(layout).PATH ?? ''}`,
      },
    }
    if (process.platform === 'linux') {
      const unit = join(manager, 'systemd/user/nanoclaw.service')
      expect((await run(managed, 'service', 'install')).stdout).toContain(unit)
      const text = readFileSync(unit, 'utf8')
      expect(text).toContain(`ExecStart="${process.execPath}" "${layout.program.at(-1)}" "start"\n`)
      expect(text).not.toContain(TEST_JWT_SECRET)
      // It finds what this call found: a file that is not named is found from its folder.
      expect(text).not.toContain('NANOCLAW_CONFIG')
      expect(/^WorkingDirectory=(.*)$/m.exec(text)?.[1]).toBe(layout.fileFolder)
      const home = /^Environment="NANOCLAW_DATA=(.*)"$/m.exec(text)?.[1]
      expect(home).toBe(layout.fileFolder === undefined ? layout.data : undefined)
      // Installed again, for a file that says where the data is: NANOCLAW_DATA still names the folder with that file.
      const folder = join(scratch, `folder-of-${name}`)
      mkdirSync(folder)
      writeFileSync(join(folder, 'config.yml'), 'data_dir: inner\nworkspace_root: projects\n')
      const inFolder = {
        ...managed,
        environment: { ...managed.environment, NANOCLAW_DATA: folder },
      }
      expect((await run(inFolder, 'service', 'install')).status).toBe(0)
      const again = readFileSync(unit, 'utf8')
      expect(again).toContain(`Environment="NANOCLAW_DATA=${folder}"\n`)
      expect(again).toContain(`WorkingDirectory=${folder}\n`)
      expect((await run(managed, 'service', 'remove')).status).toBe(0)
      expect(existsSync(unit)).toBe(false)
      expect(readFileSync(asked, 'utf8').split('\n')).toEqual([
        '--user daemon-reload',
        '--user enable nanoclaw',
        '--user restart nanoclaw',
        '--user daemon-reload',
        '--user enable nanoclaw',
        '--user restart nanoclaw',
        '--user disable --now nanoclaw',
        '',
      ])
      expect((await run(managed, 'service')).status).toBe(1)
    }

    if (layout.fileFolder === undefined) {
      // A file in the data folder does not move the data for a command that starts there.
      writeFileSync(join(layout.data, 'config.yml'), '')
      const inside = await run({ ...layout, startedIn: layout.data }, 'admin', 'list')
      expect(inside.stdout, inside.stderr).toContain('ada\tadmin\tactive\t\n')
      rmSync(join(layout.data, 'config.yml'))
    }

    const usage = await run(layout, 'admin')
    expect([usage.status, usage.stdout]).toEqual([
      1,
      expect.stringContaining('nanoclaw admin list'),
    ])
    expect((await run(layout, 'doctor', '--nonsense')).status).toBe(2)
    expect((await run(layout, 'fly')).stderr).toMatch(/Unknown command "fly"/)
    // The last command: from here on, nothing may be stored in the database that was left.
    expect(await ran('move', '--to', join(files, 'moved.db'))).toContain('Moved ')
    expect(statSync(join(files, 'moved.db')).isFile()).toBe(true)
    expect(readdirSync(elsewhere)).toEqual([])
  })
})

test('an edited config.yml of a version that tracked it goes on working after the documented command', async () => {
  const git = (folder: string, ...values: string[]): string =>
    execFileSync('git', ['-C', folder, '-c', 'user.name=a', '-c', 'user.email=a@b', ...values], {
      encoding: 'utf8',
      stdio: 'pipe',
    })
  const published = join(scratch, 'published')
  mkdirSync(published)
  git(published, 'init', '-q', '-b', 'main')
  writeFileSync(join(published, 'config.yml'), 'backend_port: 3000\n')
  git(published, 'add', '.')
  git(published, 'commit', '-qm', 'earlier')
  const checkout = join(scratch, 'upgraded')
  git(scratch, 'clone', '-q', published, checkout)
  writeFileSync(join(checkout, 'config.yml'), 'backend_port: 4321\n')
  git(published, 'rm', '-q', 'config.yml')
  copy('.gitignore', published)
  copy('config.example.yml', published)
  git(published, 'add', '.')
  git(published, 'commit', '-qm', 'later')

  expect(() => git(checkout, 'pull', '-q')).toThrow(/overwritten by merge/)
  const command = /^mv config\.yml .+$/m.exec(
    readFileSync(join(root, 'docs/operations.md'), 'utf8'),
  )
  execFileSync('sh', ['-c', command?.[0] ?? 'exit 1'], { cwd: checkout, stdio: 'pipe' })
  expect(readFileSync(join(checkout, 'config.yml'), 'utf8')).toBe('backend_port: 4321\n')
  expect(git(checkout, 'status', '--porcelain')).toBe('')
  expect(git(checkout, 'pull')).toContain('up to date')
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
