// The words that tables are written in, for PostgreSQL. Its types are the lens through which all queries are typed.
import {
  type AnyPgColumn,
  bigint,
  bigserial,
  boolean,
  customType,
  doublePrecision,
  index,
  integer,
  json,
  pgTable,
  primaryKey,
  text,
  timestamp,
  uniqueIndex,
} from 'drizzle-orm/pg-core'

/** What `references` callbacks return; named here because only the kits know a dialect. */
export type AnyColumn = AnyPgColumn

const bytea = customType<{ data: Buffer }>({ dataType: () => 'bytea' })

export const postgresColumns = {
  table: pgTable,
  index,
  uniqueIndex,
  primaryKey,
  text: (name: string) => text(name),
  /** Text that holds a branded id. */
  key: <Id extends string>(name: string) => text(name).$type<Id>(),
  /** Text out of a closed list. */
  choice: <Value extends string>(name: string) => text(name).$type<Value>(),
  integer: (name: string) => integer(name),
  /** A whole number that may pass 2^31, exact up to 2^53. */
  bigInteger: (name: string) => bigint(name, { mode: 'number' }),
  real: (name: string) => doublePrecision(name),
  boolean: (name: string) => boolean(name),
  /** A moment with milliseconds, UTC. */
  time: (name: string) => timestamp(name, { withTimezone: true, precision: 3, mode: 'date' }),
  /** Any JSON value, its text kept as written (`jsonb` would change the order of keys). */
  json: <Value>(name: string) => json(name).$type<Value>(),
  bytes: (name: string) => bytea(name),
  /** A primary key that the database counts up, never giving a number twice. */
  counter: (name: string) => bigserial(name, { mode: 'number' }).primaryKey(),
}

/** The vocabulary of `defineTables`. */
export type Columns = typeof postgresColumns
