// What the release package contains, and on which packages it depends.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { RUNTIME_PACKAGES } from './build-server.ts'

/** The files and folders of the package, besides its manifest: no sources, no tests, nothing that only a build needs. */
export const RELEASE_FILES = [
  'bin',
  'dist/server',
  'dist/web',
  'migrations',
  'config.example.yml',
  'README.md',
  'README.zh-CN.md',
  'CHANGELOG.md',
  'SECURITY.md',
  'LICENSE',
] as const

const Versions = z.record(z.string(), z.string())
const Manifest = z.looseObject({ dependencies: Versions, optionalDependencies: Versions })

/** The packages on which the release depends, with their versions. @param root the folder of the sources. */
export function releaseDependencies(root: string): {
  dependencies: Record<string, string>
  optionalDependencies: Record<string, string>
} {
  const read = (file: string): unknown => JSON.parse(readFileSync(join(root, file), 'utf8'))
  const { dependencies, optionalDependencies } = Manifest.parse(read('package.json'))
  // npm can't leave a package out for a version of Node unless its own manifest says so, and this one is a folder of the
  // sources: `bin/nanoclaw.mjs` says what to install for Node 20.
  const { 'nanoclaw-sqlite-node20': _, ...optional } = optionalDependencies
  return {
    dependencies: Object.fromEntries(
      Object.entries(dependencies).filter(([name]) => RUNTIME_PACKAGES.includes(name)),
    ),
    optionalDependencies: optional,
  }
}
