// PostgreSQL's bulk load: rows as one COPY in its binary format, over the connection of the driver.
import { once } from 'node:events'
import type pg from 'pg'
import {
  type ColumnKind,
  columnList,
  type MovedTable,
  type MovedValue,
  type Rows,
} from './moved-tables.ts'

/** Signature, flags and the length of an extension (https://www.postgresql.org/docs/current/sql-copy.html). */
const HEADER = Buffer.from('PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0', 'latin1')
const TRAILER = Buffer.from([0xff, 0xff])
/** Bytes that are sent in one message. */
const CHUNK_BYTES = 256 * 1024
/** PostgreSQL counts times from 2000. */
const EPOCH_MS = Date.UTC(2000, 0)
const NO_VALUE = -1

/** A buffer that grows as values are added. */
interface ChunkWriter {
  buffer: Buffer
  length: number
}

function reserve(chunk: ChunkWriter, bytes: number): void {
  if (chunk.length + bytes <= chunk.buffer.length) return
  const larger = Buffer.allocUnsafe(Math.max(chunk.buffer.length * 2, chunk.length + bytes))
  chunk.buffer.copy(larger, 0, 0, chunk.length)
  chunk.buffer = larger
}

function writeInteger(chunk: ChunkWriter, value: number): void {
  chunk.length = chunk.buffer.writeInt32BE(value, chunk.length)
}

function writeBigInteger(chunk: ChunkWriter, value: number): void {
  writeInteger(chunk, 8)
  chunk.length = chunk.buffer.writeBigInt64BE(BigInt(value), chunk.length)
}

/** Adds the length of a value and the value. @throws RangeError for an integer beyond 32 bits in a column of such. */
function writeValue(chunk: ChunkWriter, kind: ColumnKind, value: MovedValue): void {
  reserve(chunk, 12)
  if (value === null) {
    writeInteger(chunk, NO_VALUE)
    return
  }
  if (Buffer.isBuffer(value) || typeof value === 'string') {
    const bytes = typeof value === 'string' ? Buffer.byteLength(value) : value.length
    reserve(chunk, 4 + bytes)
    writeInteger(chunk, bytes)
    if (typeof value === 'string') chunk.buffer.write(value, chunk.length)
    else value.copy(chunk.buffer, chunk.length)
    chunk.length += bytes
    return
  }
  const number = Number(value)
  if (kind === 'boolean') {
    writeInteger(chunk, 1)
    chunk.length = chunk.buffer.writeInt8(number, chunk.length)
  } else if (kind === 'integer') {
    writeInteger(chunk, 4)
    writeInteger(chunk, number)
  } else if (kind === 'real') {
    writeInteger(chunk, 8)
    chunk.length = chunk.buffer.writeDoubleBE(number, chunk.length)
  } else writeBigInteger(chunk, kind === 'time' ? (number - EPOCH_MS) * 1000 : number)
}

async function* encode({ columns }: MovedTable, rows: Rows): AsyncGenerator<Buffer> {
  yield HEADER
  const begin = (): ChunkWriter => ({ buffer: Buffer.allocUnsafe(CHUNK_BYTES * 2), length: 0 })
  let chunk = begin()
  for await (const row of rows) {
    reserve(chunk, 2)
    chunk.length = chunk.buffer.writeInt16BE(columns.length, chunk.length)
    for (const [at, { kind }] of columns.entries()) writeValue(chunk, kind, row[at] ?? null)
    if (chunk.length < CHUNK_BYTES) continue
    yield chunk.buffer.subarray(0, chunk.length)
    chunk = begin()
  }
  if (chunk.length > 0) yield chunk.buffer.subarray(0, chunk.length)
  yield TRAILER
}

/** A message of the client: its kind, its length, its content. */
function messageHead(kind: 'd' | 'c' | 'f', bytes: number): Buffer {
  const head = Buffer.alloc(5)
  head.write(kind)
  head.writeInt32BE(bytes + 4, 1)
  return head
}

/**
 * Inserts rows into a table. The driver only passes on what belongs to a COPY, so the messages are written here.
 * @throws what reading the rows throws, or PostgreSQL's error; no row is then inserted.
 */
export async function copyIn(client: pg.Client, table: MovedTable, rows: Rows): Promise<void> {
  const { stream } = client.connection
  let isEnded = false
  let fault: { error: unknown } | null = null
  // The driver reports why it was closed.
  const listening = new AbortController()
  const heard = (event: 'close' | 'drain') =>
    once(stream, event, { signal: listening.signal }).catch(() => {})
  const closed = heard('close')

  async function send(): Promise<void> {
    try {
      for await (const chunk of encode(table, rows)) {
        if (isEnded) return
        stream.write(messageHead('d', chunk.length))
        if (!stream.write(chunk)) await Promise.race([heard('drain'), closed])
      }
      stream.write(messageHead('c', 0))
    } catch (error) {
      fault = { error }
      const reason = Buffer.from('reading the rows failed\0')
      stream.write(Buffer.concat([messageHead('f', reason.length), reason]))
    }
  }

  await new Promise<void>((resolve, reject) => {
    let sending: Promise<void> = Promise.resolve()
    const query = {
      submit: (connection: pg.Connection) =>
        connection.query(`copy "${table.name}" (${columnList(table)}) from stdin (format binary)`),
      handleCopyInResponse() {
        sending = send()
      },
      handleCommandComplete() {},
      handleError(error: unknown) {
        isEnded = true
        void sending.then(() => reject(fault === null ? error : fault.error))
      },
      handleReadyForQuery: () => resolve(),
    }
    client.query(query)
  }).finally(() => listening.abort())
}
