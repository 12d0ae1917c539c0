// Builds what is missing or older than its sources, before something runs it.
import { spawnSync } from 'node:child_process'
import { readdirSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..')

function newestChange(path) {
  let newest = 0
  const visit = (entry) => {
    let stats
    try {
      stats = statSync(entry)
    } catch {
      return
    }
    if (stats.isDirectory()) {
      if (entry.endsWith('node_modules')) return
      for (const name of readdirSync(entry)) visit(join(entry, name))
    } else if (stats.mtimeMs > newest) newest = stats.mtimeMs
  }
  visit(path)
  return newest
}

/** Whether `output` is missing or older than any of `sources`. An installation without sources is never stale. */
function isStale(output, sources) {
  const source = Math.max(...sources.map((path) => newestChange(join(root, path))))
  return source > newestChange(join(root, output))
}

function build(part) {
  const tsx = join(root, 'node_modules/tsx/dist/cli.mjs')
  const { status } = spawnSync(process.execPath, [tsx, join(root, 'scripts/build.ts'), part], {
    stdio: ['inherit', process.stderr, 'inherit'],
    cwd: root,
  })
  return status === 0
}

const PARTS = [
  {
    part: 'server',
    name: 'the server',
    output: 'dist/server/main.js',
    sources: [
      'server',
      'locales',
      'skills',
      'package.json',
      'package-lock.json',
      'migrations',
      'scripts/build.ts',
      'scripts/build-server.ts',
    ],
  },
  {
    part: 'web',
    name: 'the page',
    output: 'dist/web/index.html',
    sources: ['web', 'locales', 'server/protocol', 'scripts/build.ts'],
  },
]

/** Prints on standard error: standard output belongs to the program that is started afterwards. */
export function buildOutdated(withPage = true) {
  for (const { part, name, output, sources } of PARTS)
    if ((withPage || part === 'server') && isStale(output, sources)) {
      console.error(`Building ${name}…`)
      if (!build(part)) return false
    }
  return true
}
