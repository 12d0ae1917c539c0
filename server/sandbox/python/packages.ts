// Python packages that programs may import offline: wheels in folders that the operator provides.
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import type { Interpreter } from './interpreter.ts'
import type { DescribedWheel } from './protocol.ts'

const MAX_WHEELS = 1000

/** A distribution's name in the normalized form of requirements (PEP 503). */
const normalName = (fileName: string): string =>
  (fileName.split('-')[0] ?? '').replace(/[-_.]+/g, '-').toLowerCase()

const PyodideLock = z.object({ info: z.object({ abi_version: z.string(), platform: z.string() }) })

/** The file name endings of wheels that the Pyodide in `folder` can load: pure Python, or built for its version. */
async function suitableEndings(folder: string): Promise<string[]> {
  const text = await readFile(join(folder, 'pyodide-lock.json'), 'utf8')
  const { abi_version, platform } = PyodideLock.parse(JSON.parse(text)).info
  return [
    '-none-any.whl',
    `pyemscripten_${abi_version}_wasm32.whl`,
    `pyodide_${abi_version}_wasm32.whl`,
    `${platform}_wasm32.whl`,
  ]
}

/** Lists wheels that this interpreter can load, one file per distribution; the others are passed to `onUnsuitable`. */
export async function listWheels(
  folders: readonly string[],
  pyodide: string,
  onUnsuitable: (fileName: string, suitable: readonly string[]) => void,
): Promise<{ name: string; file: string }[]> {
  if (folders.length === 0) return []
  const endings = await suitableEndings(pyodide)
  const found = new Map<string, string>()
  for (const folder of folders)
    for (const fileName of (await readdir(folder)).sort())
      if (endings.some((ending) => fileName.endsWith(ending)))
        found.set(normalName(fileName), join(folder, fileName))
      else if (fileName.endsWith('.whl')) onUnsuitable(fileName, endings)
  return [...found].slice(0, MAX_WHEELS).map(([name, file]) => ({ name, file }))
}

/**
 * Has an interpreter read which modules the wheels contain and which distributions they require. Only names are taken from
 * its output; the paths remain the listed ones.
 */
export async function describeWheels(
  wheels: readonly { name: string; file: string }[],
  interpreter: Interpreter,
): Promise<DescribedWheel[]> {
  if (wheels.length === 0) return []
  try {
    await interpreter.ready
    const described = await interpreter.describe(wheels)
    return wheels.flatMap((wheel, index) => {
      const description = described[index]
      return description === undefined ? [] : [{ ...description, ...wheel }]
    })
  } finally {
    interpreter.kill()
  }
}
