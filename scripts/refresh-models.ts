// Refreshes the model table from models.dev: `npm run refresh-models [-- a URL or a file in the same format]`.
import { readFile, writeFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { modelTableText } from './models-dev.ts'

const SOURCE = 'https://models.dev/api.json'
const TARGET = resolve(import.meta.dirname, '../server/llm/model-table.json')

async function load(source: string): Promise<unknown> {
  if (!/^https?:/.test(source)) return JSON.parse(await readFile(source, 'utf8'))
  const response = await fetch(source)
  if (!response.ok) throw new Error(`${source}: ${response.status}`)
  return response.json()
}

const { text, models } = modelTableText(await load(process.argv[2] ?? SOURCE), (model) =>
  console.warn(`Skipped: ${model}`),
)
await writeFile(TARGET, text)
console.log(`${models} models, ${Math.round(text.length / 1024)} kB`)
