// After `nanoclaw move`: the data folder knows the database that its rows left, so that no start works on them by mistake.
import { readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import type { DatabaseSettings } from '../db/database.ts'
import { unlessMissing } from '../lib/system-faults.ts'
import { databaseName } from './held-folders.ts'
import { ADOPT, refuse } from './installation.ts'

const NOTE_NAME = '.nanoclaw-moved'
const Note = z.object({ from: z.string(), to: z.string(), at: z.string() })

async function noteIn(dataFolder: string): Promise<z.infer<typeof Note> | null> {
  const text = await unlessMissing(readFile(join(dataFolder, NOTE_NAME), 'utf8'))
  if (text === null) return null
  try {
    return Note.parse(JSON.parse(text))
  } catch {
    // A note that nobody can read refuses nothing.
    return null
  }
}

/** @param to describes the new database for the operator. */
export async function rememberMove(
  dataFolder: string,
  from: DatabaseSettings,
  to: string,
): Promise<void> {
  const note: z.infer<typeof Note> = { from: databaseName(from), to, at: new Date().toISOString() }
  const draft = join(dataFolder, `${NOTE_NAME}.unfinished`)
  await writeFile(draft, `${JSON.stringify(note)}\n`, { flush: true, mode: 0o600 })
  await rename(draft, join(dataFolder, NOTE_NAME))
}

/** Allows a database that its rows left to be used with this folder again. */
export async function forgetMove(dataFolder: string, database: DatabaseSettings): Promise<void> {
  const note = await noteIn(dataFolder)
  if (note?.from === databaseName(database)) await rm(join(dataFolder, NOTE_NAME), { force: true })
}

/** Where the rows of a database were moved to, as `rememberMove` was told; null if they were not. */
export async function movedTo(
  dataFolder: string,
  database: DatabaseSettings,
): Promise<string | null> {
  const note = await noteIn(dataFolder)
  return note?.from === databaseName(database) ? note.to : null
}

/** @throws AppError with a text for the operator when the rows of the database were moved into another one. */
export async function assertNotMoved(
  dataFolder: string,
  database: DatabaseSettings,
): Promise<void> {
  const note = await noteIn(dataFolder)
  if (note === null || note.from !== databaseName(database)) return
  refuse({
    detail: `This database was moved at ${note.at} to ${note.to}, and what was stored since is only there`,
    advice: `Set db_type and the keys of that database. To use this older state nevertheless: ${ADOPT}`,
  })
}
