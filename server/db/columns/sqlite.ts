// The same column kit as `postgres.ts`, for SQLite: one table definition serves both.
import { sql } from 'drizzle-orm'
import {
  blob,
  index,
  integer,
  primaryKey,
  real,
  sqliteTable,
  text,
  uniqueIndex,
} from 'drizzle-orm/sqlite-core'
import type { Columns } from './postgres.ts'

const columns = {
  table: sqliteTable,
  index,
  uniqueIndex,
  primaryKey,
  text: (name: string) => text(name),
  key: (name: string) => text(name),
  choice: (name: string) => text(name),
  randomId: (name: string) => text(name).notNull().default(sql`(lower(hex(randomblob(16))))`),
  integer: (name: string) => integer(name),
  bigInteger: (name: string) => integer(name),
  real: (name: string) => real(name),
  boolean: (name: string) => integer(name, { mode: 'boolean' }),
  time: (name: string) => integer(name, { mode: 'timestamp_ms' }),
  json: (name: string) => text(name, { mode: 'json' }),
  bytes: (name: string) => blob(name, { mode: 'buffer' }),
  counter: (name: string) => integer(name).primaryKey({ autoIncrement: true }),
} satisfies Record<keyof Columns, unknown>

/** Queries have the types of PostgreSQL; the tests run on both databases, which verifies this cast. */
export const sqliteColumns = columns as unknown as Columns
