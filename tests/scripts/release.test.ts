// `npm run release`: what it writes, commits and tags, and when it refuses.
import { execFileSync, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { release, releasedChangelog } from '../../scripts/release.mjs'

const folder = mkdtempSync(join(tmpdir(), 'nanoclaw-release-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const git = (...values: string[]): string =>
  execFileSync('git', ['-C', folder, ...values], { encoding: 'utf8' })

test('a release moves the unreleased changes into its section, and commits and tags the version once it is built; an unclean checkout and an existing version are refused', () => {
  git('init', '-q')
  git('config', 'user.name', 'a')
  git('config', 'user.email', 'a@b')
  writeFileSync(join(folder, 'package.json'), '{"name": "x", "version": "0.1.0"}\n')
  writeFileSync(join(folder, 'CHANGELOG.md'), '# Changelog\n\n## [Unreleased]\n\n- News.\n')
  mkdirSync(join(folder, 'deploy/helm/nanoclaw'), { recursive: true })
  const chart = join(folder, 'deploy/helm/nanoclaw/Chart.yaml')
  writeFileSync(chart, 'version: 0.1.0\nappVersion: "0.1.0"\n')
  const build = () => undefined
  expect(() => release(folder, '0.2.0', build)).toThrow('Commit or discard')
  git('add', '.')
  git('commit', '-qm', 'first')
  expect(() => release(folder, 'two', build)).toThrow('Usage')
  expect(() =>
    release(folder, '0.2.0', () => {
      throw new Error('no build')
    }),
  ).toThrow('no build')
  expect(git('status', '--porcelain')).toBe('')
  expect(git('tag')).toBe('')

  let printed = ''
  release(folder, '0.2.0', (run) => {
    expect(git('tag')).toBe('')
    expect(readFileSync(chart, 'utf8')).toContain('0.2.0')
    // As long as a bill of materials.
    printed = run(process.execPath, '-e', 'process.stdout.write("x".repeat(3_000_000))')
  })
  expect(printed).toHaveLength(3_000_000)
  expect(JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')).version).toBe('0.2.0')
  expect(readFileSync(join(folder, 'CHANGELOG.md'), 'utf8')).toMatch(
    /^# Changelog\n\n## \[Unreleased\]\n\n## \[0\.2\.0\] - \d{4}-\d\d-\d\d\n\n- News\.\n$/,
  )
  expect(readFileSync(chart, 'utf8')).toBe('version: 0.1.0\nappVersion: "0.2.0"\n')
  expect(git('status', '--porcelain')).toBe('')
  expect(git('tag', '--points-at', 'HEAD')).toBe('v0.2.0\n')
  expect(() => release(folder, '0.2.0', build)).toThrow('exists already')
  expect(() => release(folder, '0.3.0', build)).toThrow('says nothing')
})

test('install.sh installs an archive whose checksum is right, with the driver that this version of Node needs, and nothing else', () => {
  const place = join(folder, 'downloaded')
  const commands = join(folder, 'commands')
  for (const each of [place, commands]) mkdirSync(each)
  const archive = join(place, 'nanoclaw-1.0.0.tgz')
  writeFileSync(archive, 'content')
  const sum = createHash('sha256').update('content').digest('hex')
  const sums = join(place, 'SHA256SUMS')
  const asked = join(folder, 'asked')
  writeFileSync(join(commands, 'npm'), `#!/bin/sh\necho "$@" >> '${asked}'\n`, { mode: 0o755 })
  const bare = join(folder, 'bare')
  mkdirSync(bare)
  for (const name of ['mktemp', 'rm', 'cp', 'dirname']) {
    const found = execFileSync('/bin/sh', ['-c', `command -v ${name}`], { encoding: 'utf8' })
    symlinkSync(found.trim(), join(bare, name))
  }
  symlinkSync(process.execPath, join(bare, 'node'))
  const install = (source = archive) =>
    spawnSync('/bin/sh', [resolve(import.meta.dirname, '../../install.sh'), source], {
      env: { PATH: `${commands}:${bare}` },
      encoding: 'utf8',
    })
  writeFileSync(sums, `${'0'.repeat(64)}  nanoclaw-1.0.0.tgz\n`)
  expect(install()).toMatchObject({ status: 1, stderr: expect.stringContaining('Nothing was') })
  expect(existsSync(asked)).toBe(false)
  writeFileSync(sums, `${sum}  nanoclaw-1.0.0.tgz\n`)
  expect(install()).toMatchObject({ status: 0, stdout: expect.stringContaining('Installed.') })
  const driver = Number(process.versions.napi) >= 10 ? '' : ' better-sqlite3-12@npm:\\S+'
  expect(readFileSync(asked, 'utf8')).toMatch(
    new RegExp(`^install -g /\\S+/nanoclaw-1\\.0\\.0\\.tgz${driver}\\n$`),
  )

  const address = 'https://files.example.org/nanoclaw-1.0.0.tgz?token=a/b'
  expect(install(address)).toMatchObject({
    status: 1,
    stderr: expect.stringContaining('curl is not installed'),
  })
  writeFileSync(
    join(commands, 'curl'),
    `#!/bin/sh\necho "$4" >> '${asked}'\nname=\${4%%\\?*}\ncp '${place}'/"\${name##*/}" "$3"\n`,
    { mode: 0o755 },
  )
  rmSync(asked)
  expect(install(address)).toMatchObject({ status: 0 })
  const [downloaded, checksums, installed] = readFileSync(asked, 'utf8').split('\n')
  expect(downloaded).toBe(address)
  expect(checksums).toBe('https://files.example.org/SHA256SUMS?token=a/b')
  expect(installed).toMatch(/\/nanoclaw-1\.0\.0\.tgz( |$)/)
})

test('a changelog without a section for what is unreleased is refused', () => {
  expect(() => releasedChangelog('# Changelog\n', '1.0.0', '2026-01-01')).toThrow('no section')
})
