// The column kit for PostgreSQL: the builders that define columns and tables. All queries have its types.
import { sql } from 'drizzle-orm'
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

/** The type of `references` callbacks; named here because only the kits know a dialect. */
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
  /** Text with a fixed set of values. */
  choice: <Value extends string>(name: string) => text(name).$type<Value>(),
  /** Text that the database fills with a random id where a statement gives none. */
  randomId: (name: string) => text(name).notNull().default(sql`gen_random_uuid()`),
  integer: (name: string) => integer(name),
  /** An integer that may exceed 2^31, exact up to 2^53. */
  bigInteger: (name: string) => bigint(name, { mode: 'number' }),
  real: (name: string) => doublePrecision(name),
  boolean: (name: string) => boolean(name),
  /** A time with milliseconds, UTC. */
  time: (name: string) => timestamp(name, { withTimezone: true, precision: 3, mode: 'date' }),
  /** Any JSON value, its text stored as written (`jsonb` would change the order of keys). */
  json: <Value>(name: string) => json(name).$type<Value>(),
  bytes: (name: string) => bytea(name),
  /** A primary key that the database increments; a number is never reused. */
  counter: (name: string) => bigserial(name, { mode: 'number' }).primaryKey(),
}

/** The column kit that `defineTables` receives. */
export type Columns = typeof postgresColumns
