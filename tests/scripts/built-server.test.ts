// Promises of the files of the built server.
import { readdir, readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { builtServer } from '../support/built.ts'

const IMPORTED = /(?:from|import)\s?"\.\/([\w-]+\.js)"/g

/** The files that a start loads: the server and what it imports, but not what it imports later. */
async function loadedAtStart(folder: string): Promise<Map<string, string>> {
  const loaded = new Map<string, string>()
  const load = async (name: string): Promise<void> => {
    if (loaded.has(name)) return
    loaded.set(name, '')
    const text = await readFile(join(folder, name), 'utf8')
    loaded.set(name, text)
    await Promise.all([...text.matchAll(IMPORTED)].map(([, found = '']) => load(found)))
  }
  await Promise.all(['main.js', 'app.js'].map(load))
  return loaded
}

test('no file that a start loads has a character that makes V8 keep all of it at two bytes each', async () => {
  const folder = dirname(await builtServer())
  const loaded = await loadedAtStart(folder)
  expect(loaded.size).toBeGreaterThan(10)
  expect(loaded.size).toBeLessThan((await readdir(folder)).length)
  const wide = [...loaded].filter(([, text]) => Buffer.byteLength(text) !== text.length)
  expect(wide.map(([name]) => name)).toEqual([])
})

test('a start loads neither the colours of code nor a whole HTTP client before they are needed', async () => {
  const folder = dirname(await builtServer())
  const loaded = await loadedAtStart(folder)
  const built = (await readdir(folder)).filter((name) => name.endsWith('.js'))
  const texts = new Map(
    await Promise.all(
      built.map(async (name) => [name, await readFile(join(folder, name), 'utf8')] as const),
    ),
  )
  for (const name of ['codeToTokensWithThemes', 'MockAgent']) {
    const holders = [...texts].filter(([, text]) => text.includes(name)).map(([file]) => file)
    expect(holders).not.toEqual([])
    expect(holders.filter((file) => loaded.has(file))).toEqual([])
  }
})
