// After `nanoclaw move`: the data folder knows the database that its rows left, so that no start works on them by mistake.
import { readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import type { DatabaseSettings } from '../db/database.ts'
import { unlessMissing } from '../lib/system-faults.ts'
import { databaseName } from './held-folders.ts'
import { ADOPT, refuse } from './installation.ts'

const NOTE_NAME = '.nanoclaw-moved'
const Move = z.object({ from: z.string(), to: z.string(), at: z.string() })
type Move = z.infer<typeof Move>
/** Earlier versions remembered only the last move. */
const Note = z.union([
  z.object({ moves: z.array(Move) }).transform(({ moves }) => moves),
  Move.transform((move) => [move]),
])
/** More databases than anybody moves between with one folder. */
const MOVES_KEPT = 50

/** The moves from databases that have not been used with this folder again, oldest first; null if the note is damaged. */
async function movesIn(dataFolder: string): Promise<Move[] | null> {
  const text = await unlessMissing(readFile(join(dataFolder, NOTE_NAME), 'utf8'))
  if (text === null) return []
  try {
    return Note.parse(JSON.parse(text))
  } catch {
    return null
  }
}

/** @throws AppError with a text for the operator if nobody can tell. */
async function moveFrom(dataFolder: string, database: DatabaseSettings): Promise<Move | undefined> {
  const moves = await movesIn(dataFolder)
  if (moves === null)
    refuse({
      detail: `${join(dataFolder, NOTE_NAME)} is damaged: it says which databases were moved to others`,
      advice: `Make sure that db_type and its keys name the newest database. To use it then: ${ADOPT}`,
    })
  const from = databaseName(database)
  return moves.find((move) => move.from === from)
}

async function writeMoves(dataFolder: string, moves: readonly Move[]): Promise<void> {
  const file = join(dataFolder, NOTE_NAME)
  if (moves.length === 0) return await rm(file, { force: true })
  const draft = `${file}.unfinished`
  await writeFile(draft, `${JSON.stringify({ moves })}\n`, { flush: true, mode: 0o600 })
  await rename(draft, file)
}

/** @param to describes the new database for the operator. */
export async function rememberMove(
  dataFolder: string,
  database: DatabaseSettings,
  to: string,
): Promise<void> {
  const from = databaseName(database)
  const others = ((await movesIn(dataFolder)) ?? []).filter((move) => move.from !== from)
  const move = { from, to, at: new Date().toISOString() }
  await writeMoves(dataFolder, [...others, move].slice(-MOVES_KEPT))
}

/** Allows a database that its rows left to be used with this folder again. A damaged note is removed. */
export async function forgetMove(dataFolder: string, database: DatabaseSettings): Promise<void> {
  const from = databaseName(database)
  const moves = await movesIn(dataFolder)
  if (moves === null) return await writeMoves(dataFolder, [])
  const others = moves.filter((move) => move.from !== from)
  if (others.length < moves.length) await writeMoves(dataFolder, others)
}

/** Where the rows of a database were moved to, as `rememberMove` was told; null if they were not. */
export const movedTo = async (
  dataFolder: string,
  database: DatabaseSettings,
): Promise<string | null> => (await moveFrom(dataFolder, database))?.to ?? null

/** @throws AppError with a text for the operator when the rows of the database were moved into another one. */
export async function assertNotMoved(
  dataFolder: string,
  database: DatabaseSettings,
): Promise<void> {
  const move = await moveFrom(dataFolder, database)
  if (move === undefined) return
  refuse({
    detail: `This database was moved at ${move.at} to ${move.to}, and what was stored since is only there`,
    advice: `Set db_type and the keys of that database. To use this older state nevertheless: ${ADOPT}`,
  })
}
