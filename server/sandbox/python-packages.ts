// Python packages that programs may import offline: the wheels in folders that the operator filled.
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Interpreter } from './python-interpreter.ts'
import type { DescribedWheel } from './python-protocol.ts'

const MAX_WHEELS = 1000

/** A distribution's name in the one form in which requirements are compared (PEP 503). */
const normalName = (fileName: string): string =>
  (fileName.split('-')[0] ?? '').replace(/[-_.]+/g, '-').toLowerCase()

/** Wheels that this interpreter can load: pure Python, or built for WebAssembly. One file for each distribution. */
export async function listWheels(
  folders: readonly string[],
): Promise<{ name: string; file: string }[]> {
  const found = new Map<string, string>()
  for (const folder of folders)
    for (const fileName of (await readdir(folder)).sort())
      if (/(-none-any|wasm32)\.whl$/.test(fileName))
        found.set(normalName(fileName), join(folder, fileName))
  return [...found].slice(0, MAX_WHEELS).map(([name, file]) => ({ name, file }))
}

/**
 * Reads, inside an interpreter, which modules the wheels hold and what they need. Only names come back: the files stay
 * the ones that were listed.
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
      const offer = described[index]
      return offer === undefined ? [] : [{ ...offer, ...wheel }]
    })
  } finally {
    interpreter.kill()
  }
}
