// `npm run package`: the release package in dist/release. It holds the built server and page, and depends only on packages
// that the build can't contain: native ones, Python, and files that are read at run time. Installing it builds nothing.
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { cp, mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { z } from 'zod'
import { RELEASE_FILES, releaseDependencies } from './release-contents.ts'

const root = resolve(import.meta.dirname, '..')
const release = join(root, 'dist/release')
const staged = join(release, 'package')
const Manifest = z.looseObject({ version: z.string() })
const readJson = async (file: string): Promise<unknown> => JSON.parse(await readFile(file, 'utf8'))
const writeJson = (file: string, value: unknown): Promise<void> =>
  writeFile(file, `${JSON.stringify(value, null, 2)}\n`)

const npm = async (...values: string[]): Promise<string> =>
  (await promisify(execFile)('npm', values, { cwd: staged })).stdout.trim()

async function writeManifest(): Promise<string> {
  const { name, version, description, license, type, bin, engines } = Manifest.parse(
    await readJson(join(root, 'package.json')),
  )
  await writeJson(join(staged, 'package.json'), {
    name,
    version,
    description,
    license,
    type,
    bin,
    engines,
    scripts: { start: 'node bin/nanoclaw.mjs start' },
    ...releaseDependencies(root),
  })
  return version
}

/** The bytes and number of files below a folder. */
async function sizeOf(folder: string): Promise<{ bytes: number; files: number }> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const sizes = await Promise.all(
    entries
      .filter((entry) => entry.isFile())
      .map(async (entry) => (await stat(join(entry.parentPath, entry.name))).size),
  )
  return { bytes: sizes.reduce((sum, size) => sum + size, 0), files: sizes.length }
}

await rm(release, { recursive: true, force: true })
await mkdir(staged, { recursive: true })
for (const part of RELEASE_FILES)
  await cp(join(root, part), join(staged, part), { recursive: true })
await cp(join(root, 'docs'), join(staged, 'docs'), {
  recursive: true,
  filter: (path) => !/\/docs\/(images|decisions)$/.test(path),
})
const version = await writeManifest()
const archive = `nanoclaw-${version}.tgz`
await npm('pack', '--ignore-scripts', '--silent', '--pack-destination', release)
const { bytes, files } = await sizeOf(staged)
const content = await readFile(join(release, archive))
await writeFile(
  join(release, 'SHA256SUMS'),
  `${createHash('sha256').update(content).digest('hex')}  ${archive}\n`,
)
const MB = 1024 * 1024
console.log(
  `dist/release/${archive}: ${(content.length / MB).toFixed(1)} MB, unpacked ${(bytes / MB).toFixed(1)} MB in ${files} files`,
)
