// The SQLite file of the Python NanoClaw: conversations and their messages, whose content is JSON with steps.

import { statSync } from 'node:fs'
import { z } from 'zod'
import { looseList } from '../../lib/loose-list.ts'
import { SqliteClient, type SqliteDatabase } from '../../lib/sqlite-driver.ts'
import { storedFailure } from '../../protocol/failures/stored.ts'
import {
  argumentsText,
  type Draft,
  type DraftFile,
  type DraftNode,
  type DraftStep,
  draftNode,
  looseName,
  looseText,
  resultText,
  timeOf,
} from '../draft.ts'
import {
  ImportFault,
  MAX_CONVERSATION_BYTES,
  MAX_CONVERSATION_TEXT,
  MAX_MESSAGES,
} from '../import-items.ts'

const id = z.union([z.string(), z.number()]).transform(String)
const ConversationRow = z.looseObject({
  id,
  title: looseText,
  model: looseName,
  system_prompt: looseName,
  temperature: z.number().min(0).max(2).nullish().catch(null),
  max_tokens: z.int().min(1).max(10_000_000).nullish().catch(null),
  thinking_enabled: z.unknown().optional(),
  created_at: z.unknown().optional(),
  updated_at: z.unknown().optional(),
  project: looseName,
})
const MessageRow = z.looseObject({
  id,
  role: z.string(),
  content: looseText,
  token_count: z.int().min(0).max(10_000_000).catch(0),
  created_at: z.unknown().optional(),
})
const Step = z.looseObject({
  type: z.string(),
  content: looseText,
  id_ref: looseName,
  name: looseText,
  arguments: z.unknown().optional(),
})
const Content = z.looseObject({
  text: looseText,
  steps: looseList(Step),
  attachments: looseList(z.looseObject({ name: looseText, content: looseText })),
})

/** The known data of a conversation that cannot be read. */
export interface PythonEntry {
  title: string
  read(): Draft
}

/** The database of a Python NanoClaw. */
export interface PythonDatabase {
  count: number
  conversations(): Generator<PythonEntry>
  close(): void
}

/** @throws ImportFault for a file that is damaged or from another program. */
export function openPython(file: string): PythonDatabase {
  let database: SqliteDatabase
  try {
    database = new SqliteClient(file, { readonly: true, fileMustExist: true })
    // Refuses functions that a hostile schema may call.
    database.pragma('trusted_schema = off')
    database.pragma('cell_size_check = on')
    assertPlainTables(database, statSync(file).size)
    const columns = columnsOf(database, 'messages')
    if (!columns.has('conversation_id') || !columns.has('content')) throw new Error('no messages')
    const count = z
      .object({ count: z.number() })
      .parse(database.prepare('select count(*) as count from conversations').get()).count
    return { count, conversations: () => readAll(database), close: () => void database.close() }
  } catch {
    throw new ImportFault(storedFailure('import_database_unreadable'))
  }
}

/** Fewer bytes hold no row of a table. */
const MIN_BYTES_PER_ROW = 4
const TABLES = ['conversations', 'messages', 'projects'] as const

/**
 * Only tables are read, because a view can yield rows without end; and a table has no more rows than the file has room for,
 * unless its pages refer to each other. @throws Error otherwise.
 */
function assertPlainTables(database: SqliteDatabase, bytes: number): void {
  const limit = Math.max(100, Math.floor(bytes / MIN_BYTES_PER_ROW))
  const found = z
    .array(z.object({ name: z.string(), type: z.string(), sql: z.string().nullable() }))
    .parse(database.prepare('select name, type, sql from sqlite_schema').all())
  for (const { name, type, sql } of found) {
    const table = TABLES.find((one) => one === name.toLowerCase())
    if (table === undefined || type === 'index' || type === 'trigger') continue
    if (type !== 'table' || /^\s*create\s+virtual\b/i.test(sql ?? ''))
      throw new Error(`${table} is no table`)
    const { count } = z.object({ count: z.number() }).parse(
      // The limit ends the count while it is read.
      database
        .prepare(`select count(*) as count from (select 1 from ${table} limit ${limit + 1})`)
        .get(),
    )
    if (count > limit) throw new Error(`${table} has more rows than the file has room for`)
  }
}

function* readAll(database: SqliteDatabase): Generator<PythonEntry> {
  const columns = columnsOf(database, 'conversations')
  const withProjects = columns.has('project_id') && columnsOf(database, 'projects').has('name')
  const select = database.prepare(
    withProjects
      ? 'select c.*, p.name as project from conversations c left join projects p on p.id = c.project_id where c.rowid = ?'
      : 'select * from conversations where rowid = ?',
  )
  const all = z
    .array(z.object({ rowid: z.number() }))
    .parse(database.prepare('select rowid from conversations order by rowid').all())
  for (const { rowid } of all) {
    const row = select.get(rowid)
    const { title } = z.looseObject({ title: looseText }).catch({ title: '' }).parse(row)
    yield { title, read: () => readOne(database, row) }
  }
}

function readOne(database: SqliteDatabase, unchecked: unknown): Draft {
  const row = ConversationRow.parse(unchecked)
  const [size] = z
    .array(z.object({ count: z.number(), bytes: z.number().nullable() }))
    .parse(
      database
        .prepare(
          'select count(*) as count, sum(length(content)) as bytes from messages where conversation_id = ?',
        )
        .all(row.id),
    )
  if ((size?.count ?? 0) > MAX_MESSAGES)
    throw new ImportFault(storedFailure('import_too_many_messages', { limit: MAX_MESSAGES }))
  if ((size?.bytes ?? 0) > MAX_CONVERSATION_BYTES)
    throw new ImportFault(
      storedFailure('import_conversation_too_large', { limit: MAX_CONVERSATION_TEXT }),
    )
  const order = columnsOf(database, 'messages').has('created_at') ? 'created_at, rowid' : 'rowid'
  const messages = looseList(MessageRow).parse(
    database
      .prepare(`select * from messages where conversation_id = ? order by ${order}`)
      .all(row.id),
  )
  const nodes = messages.map((message, index) =>
    toNode(message, messages[index - 1]?.id ?? null, row.model),
  )
  return {
    origin: `python:${row.id}`,
    title: row.title,
    model: row.model,
    systemPrompt: row.system_prompt,
    temperature: row.temperature ?? null,
    maxTokens: row.max_tokens ?? null,
    thinkingEnabled: row.thinking_enabled === 1,
    pinned: false,
    archived: false,
    // The file has no project folders; the tag keeps the conversations of a project together.
    tags: row.project === null ? [] : [row.project],
    createdAt: timeOf(row.created_at),
    updatedAt: timeOf(row.updated_at),
    nodes,
    leaf: nodes.at(-1)?.id ?? null,
    skipped: [],
  }
}

const columnsOf = (database: SqliteDatabase, table: string): Set<string> =>
  new Set(
    z
      .array(z.object({ name: z.string() }))
      .parse(database.prepare('select name from pragma_table_info(?)').all(table))
      .map(({ name }) => name),
  )

function toNode(
  message: z.output<typeof MessageRow>,
  parentId: string | null,
  model: string | null,
): DraftNode {
  const { id: nodeId, role } = message
  const createdAt = timeOf(message.created_at)
  const content = contentOf(message.content)
  const files: DraftFile[] = content.attachments.map(({ name, content: text }) => ({
    name: name || 'attachment.txt',
    text,
  }))
  if (role === 'user')
    return draftNode({ id: nodeId, parentId, role, text: content.text, files, createdAt })
  if (role !== 'assistant') return draftNode({ id: nodeId, parentId, role: 'hidden' })
  const steps = content.steps.flatMap(toSteps)
  return draftNode({
    id: nodeId,
    parentId,
    role,
    steps:
      steps.length > 0 || content.text === '' ? steps : [{ type: 'text', content: content.text }],
    model,
    createdAt,
  })
}

/** Content is JSON with `text` and `steps`; older messages are plain text. */
function contentOf(text: string): z.output<typeof Content> {
  try {
    return Content.parse(JSON.parse(text))
  } catch {
    return { text, steps: [], attachments: [] }
  }
}

function toSteps(step: z.output<typeof Step>): DraftStep[] {
  const { type, content, id_ref: callId, name } = step
  if (type === 'thinking' || type === 'text') return [{ type, content }]
  if (type === 'tool_call')
    return [{ type, callId, name, arguments: argumentsText(step.arguments) }]
  if (type === 'tool_result') return [{ type, callId, name, content: content || resultText(null) }]
  return []
}
