// The SQLite driver for this version of Node: better-sqlite3 13 where Node offers Node-API 10 (22.14 and later), else 12.
import { createRequire } from 'node:module'
import type Client from 'better-sqlite3'

/** An open SQLite file. */
export type SqliteDatabase = Client.Database
/** A prepared statement. */
export type SqliteStatement = Client.Statement
/** What a statement that changes rows returns. */
export type RunResult = Client.RunResult

/**
 * Version 12 aborts Node 24.19 and later when its objects are collected, and version 13 crashes Node 20; what the server uses
 * of them is the same (see decision 6). `bin/nanoclaw.mjs` chooses in the same way.
 */
const PACKAGE = Number(process.versions.napi) >= 10 ? 'better-sqlite3' : 'better-sqlite3-12'

export const SqliteClient: typeof Client = createRequire(import.meta.url)(PACKAGE)
