// Checks the licences of all installed packages: `npm run licences`. Exits with 1 if one is not allowed.
import { readFileSync } from 'node:fs'

/**
 * Permissive, or copyleft for the files of the package only: MPL for Pyodide, LGPL for libvips, which sharp loads as a
 * separate library, and for libheif, a separate WebAssembly module that a child process loads. OFL for fonts, which documents may contain.
 */
const ALLOWED = new Set([
  '0BSD',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'BlueOak-1.0.0',
  'CC0-1.0',
  'ISC',
  'LGPL-3.0',
  'LGPL-3.0-or-later',
  'MIT',
  'MIT-0',
  'MPL-2.0',
  'OFL-1.1',
  'Python-2.0',
  'Unlicense',
  'Zlib',
])

/** Packages whose manifest names no exact licence, and the one in their files. */
const READ = new Map([['duck', 'BSD-2-Clause']])

/** Whether an SPDX expression can be fulfilled with allowed licences only. */
const isAllowed = (expression) =>
  expression
    .replaceAll(/[()]/g, '')
    .split(' OR ')
    .some((choice) => choice.split(' AND ').every((licence) => ALLOWED.has(licence.trim())))

const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8'))
const installed = Object.entries(packages).filter(
  ([path, { dev, link }]) => path !== '' && dev !== true && link !== true,
)
if (installed.length === 0) throw new Error('package-lock.json has no packages.')

const counts = new Map()
const refused = []
for (const [path, { version, license }] of installed) {
  const name = path.split('node_modules/').at(-1)
  const licence = READ.get(name) ?? license ?? 'none'
  counts.set(licence, (counts.get(licence) ?? 0) + 1)
  if (!isAllowed(licence)) refused.push(`${name} ${version}: ${licence}`)
}
for (const [licence, count] of [...counts].sort((a, b) => b[1] - a[1]))
  console.log(`${String(count).padStart(5)}  ${licence}`)
if (refused.length > 0) {
  console.error(`Licences that are not allowed:\n${refused.map((line) => `  ${line}`).join('\n')}`)
  process.exitCode = 1
}
