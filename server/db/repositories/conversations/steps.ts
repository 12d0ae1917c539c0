// The steps of assistant messages.
import { and, asc, eq, getTableColumns, gt, gte, isNotNull, or, sql } from 'drizzle-orm'
import type { LongJson, LongText } from '../../../lib/json-pieces.ts'
import { createTurns } from '../../../lib/turns.ts'
import type { CallId, MessageId, UserId } from '../../../protocol/ids.ts'
import { type Artifact, type Step, stepId } from '../../../protocol/runs/step.ts'
import type { Database, Reader, Writer } from '../../database.ts'
import {
  byteLength,
  inParallel,
  parametersOf,
  prepareOnEach,
  readLongText,
  valuesOf,
} from '../../fragments.ts'
import { assertWritten, createAttemptFence, type RunAttempt } from '../runs/runs.ts'
import { createSearchIndex } from '../search/index-writer.ts'

/** A stored step, without what only its provider may receive (`carries`). */
export type StepRow = Omit<Database['tables']['steps']['$inferSelect'], 'carry'>
/** A new row of `steps`. */
export type NewStep = Database['tables']['steps']['$inferInsert']

/** A step whose long text and artifact are read on demand; `content` is empty then, and `artifact` null. */
export type StreamedStep = StepRow & { long: LongText | null; longArtifact: LongJson | null }

/** Steps that one query of `stream` reads. */
const READ_BATCH_SIZE = 4
/** Sorts steps without events to the end: the largest number of the column. */
const NO_EVENT = 2_147_483_647
/** Maximum bytes of a text that is read together with its step. */
const MAX_INLINE_BYTES = 64_000

/** A thinking or text step with the positions of its events in the run log. */
export type ProseRow = {
  messageId: MessageId
  position: number
  type: 'thinking' | 'text'
  content: string
  closed: boolean
  firstEvent: number
  cuts: string
  /** Only of complete thinking. */
  durationMs?: number | null
}

/**
 * The artifact of a step as its stored text. Drivers parse JSON with the rows: those of one answer may have hundreds of
 * thousands of values.
 */
export const artifactText = ({ artifact }: Pick<Database['tables']['steps'], 'artifact'>) =>
  sql<string | null>`cast(${artifact} as text)`

/** An artifact from its stored text, which was a checked artifact. */
const parseArtifact = (text: string | null): Artifact | null =>
  text === null ? null : JSON.parse(text)

/** Rows with their artifacts, from those with `artifactText`, parsed in short turns of the event loop. */
export async function withArtifacts<Row extends { artifact: string | null }>(
  rows: readonly Row[],
): Promise<(Omit<Row, 'artifact'> & { artifact: Artifact | null })[]> {
  const turn = createTurns()
  const parsed = []
  for (const { artifact, ...row } of rows) {
    parsed.push({ ...row, artifact: parseArtifact(artifact) })
    if (artifact !== null) await turn()
  }
  return parsed
}

/** The artifact of one step as it is stored, read on demand. */
export const readLongArtifact = (
  { read, tables: { steps } }: Pick<Database, 'read' | 'tables'>,
  messageId: MessageId,
  position: number,
): LongJson => {
  const at = and(eq(steps.messageId, messageId), eq(steps.position, position))
  const { readPieces } = readLongText(read, steps, artifactText(steps), at)
  return { readJson: readPieces }
}

/** Stores the steps of answers. */
export type StepRepository = ReturnType<typeof createStepRepository>

/** Reads the steps of messages. */
function createStepReader(database: Database) {
  const { steps } = database.tables
  const { carry: _carry, ...shownColumns } = getTableColumns(steps)

  return {
    /**
     * Streams the steps of a message in the order of their first events, with few of them in memory at a time and long texts
     * in pieces. A continued text comes after the steps that were there before it went on; steps without events come last.
     */
    async *stream(messageId: MessageId): AsyncGenerator<StreamedStep> {
      const { content, artifact: _artifact, ...columns } = shownColumns
      const bytes = byteLength(content)
      const artifact = artifactText(steps)
      const artifactBytes = sql`coalesce(${byteLength(artifact)}, 0)`.mapWith(Number)
      const firstEvent = sql<number>`coalesce(${steps.firstEvent}, ${NO_EVENT})`
      for (let last = { firstEvent: -1, position: -1 }; ; ) {
        const rows = await database.read
          .select({
            ...columns,
            content: sql<string>`case when ${bytes} <= ${MAX_INLINE_BYTES} then ${content} else '' end`,
            bytes,
            artifact: sql<
              string | null
            >`case when ${artifactBytes} <= ${MAX_INLINE_BYTES} then ${artifact} end`,
            artifactBytes,
          })
          .from(steps)
          .where(
            and(
              eq(steps.messageId, messageId),
              or(
                gt(firstEvent, last.firstEvent),
                and(eq(firstEvent, last.firstEvent), gt(steps.position, last.position)),
              ),
            ),
          )
          .orderBy(asc(firstEvent), asc(steps.position))
          .limit(READ_BATCH_SIZE)
        for (const { bytes: size, artifactBytes: artifactSize, ...row } of await withArtifacts(
          rows,
        )) {
          const condition = and(eq(steps.messageId, messageId), eq(steps.position, row.position))
          yield {
            ...row,
            long:
              size <= MAX_INLINE_BYTES
                ? null
                : readLongText(database.read, steps, content, condition),
            longArtifact:
              artifactSize <= MAX_INLINE_BYTES
                ? null
                : readLongArtifact(database, messageId, row.position),
          }
          last = {
            firstEvent: row.firstEvent ?? NO_EVENT,
            position: row.position,
          }
        }
        if (rows.length < READ_BATCH_SIZE) return
      }
    },

    /** What providers must receive back with the calls of a message, by position of the call. */
    async carries(messageId: MessageId): Promise<ReadonlyMap<number, string>> {
      const rows = await database.read
        .select({ position: steps.position, carry: steps.carry })
        .from(steps)
        .where(and(eq(steps.messageId, messageId), isNotNull(steps.carry)))
      return new Map(rows.map(({ position, carry }) => [position, carry ?? '']))
    },

    async list(
      messageId: MessageId,
      tx: Pick<Reader, 'select'> = database.read,
    ): Promise<StepRow[]> {
      const rows = await tx
        .select({ ...shownColumns, artifact: artifactText(steps) })
        .from(steps)
        .where(eq(steps.messageId, messageId))
        .orderBy(asc(steps.position))
      return await withArtifacts(rows)
    },
  }
}

/** Uses the table `steps`. */
export function createStepRepository(database: Database) {
  const parts = stepGuards(database)
  return {
    ...createStepReader(database),
    ...proseSteps(database, parts),
    ...storedSteps(database, parts),
  }
}

/** Who may write steps, and what is searched of them. */
function stepGuards(database: Database) {
  const searchIndex = createSearchIndex(database)
  const fence = createAttemptFence(database)
  /** Indexes the text of a complete step, which no longer changes. */
  async function indexClosed(tx: Writer, userId: UserId, step: ProseRow | NewStep): Promise<void> {
    if (step.closed) await searchIndex.indexStep(tx, userId, step.messageId, step)
  }

  return { searchIndex, fence, indexClosed }
}

type StepGuards = ReturnType<typeof stepGuards>

/** Text and thinking, which grow. */
function proseSteps(database: Database, { fence, indexClosed }: StepGuards) {
  const { steps } = database.tables
  const proseStatement = prepareOnEach((tx) =>
    tx
      .insert(steps)
      .select(
        sql`select ${valuesOf(steps)} where ${fence(sql.placeholder('runId'), sql.placeholder('attempt'))}`,
      )
      .onConflictDoUpdate({
        target: [steps.messageId, steps.position],
        set: {
          ...DEFAULT_COLUMNS,
          type: sql`excluded.type`,
          content: sql`excluded.content`,
          skipped: false,
          closed: sql`excluded.closed`,
          firstEvent: sql`excluded.first_event`,
          cuts: sql`excluded.cuts`,
          durationMs: sql`excluded.duration_ms`,
        },
      })
      .returning({ position: steps.position })
      .prepare('prose step'),
  )

  return {
    /**
     * Stores thinking or text at its position, replacing what was there. The most frequent write of a run.
     * @param userId the owner of the conversation.
     * @throws RunOver when the attempt may no longer write.
     */
    async storeProse(
      tx: Writer,
      userId: UserId,
      step: ProseRow,
      { id: runId, attempt }: RunAttempt,
    ): Promise<void> {
      const values = { ...DEFAULT_COLUMNS, skipped: false, ...step, runId, attempt }
      // A growing text is not indexed yet.
      if (!step.closed) return assertWritten(await proseStatement(tx).execute(values))
      await inParallel(
        async () => assertWritten(await proseStatement(tx).execute(values)),
        () => indexClosed(tx, userId, step),
      )
    },
  }
}

/** Steps that are stored whole, and marks on them. */
function storedSteps(database: Database, { searchIndex, fence, indexClosed }: StepGuards) {
  const { steps } = database.tables
  const updateOf = (
    tx: Writer,
    { id, attempt }: RunAttempt,
    messageId: MessageId,
    position: number,
    patch: Pick<NewStep, 'firstEvent'> | Pick<NewStep, 'startedAt' | 'grantId'>,
  ): Promise<{ position: number }[]> =>
    tx
      .update(steps)
      .set(patch)
      .where(and(eq(steps.messageId, messageId), eq(steps.position, position), fence(id, attempt)))
      .returning({ position: steps.position })

  return {
    /** Stores a step at its position, replacing what was there. @param userId the owner of the conversation. */
    async store(tx: Writer, userId: UserId, step: NewStep): Promise<void> {
      const { messageId, position, ...given } = step
      const content = { ...DEFAULT_COLUMNS, ...given }
      await inParallel(
        () =>
          tx
            .insert(steps)
            .values({ messageId, position, ...content })
            .onConflictDoUpdate({ target: [steps.messageId, steps.position], set: content }),
        () => indexClosed(tx, userId, step),
      )
    },

    /** Stores a step on behalf of an attempt. @throws RunOver when it may no longer write. */
    async storeOf(
      { id, attempt }: RunAttempt,
      tx: Writer,
      userId: UserId,
      step: NewStep,
    ): Promise<void> {
      const { messageId, position, ...given } = step
      const content = { ...DEFAULT_COLUMNS, ...given }
      await inParallel(
        async () =>
          assertWritten(
            await tx
              .insert(steps)
              .select(
                sql`select ${parametersOf(steps, { messageId, position, ...content })} where ${fence(id, attempt)}`,
              )
              .onConflictDoUpdate({ target: [steps.messageId, steps.position], set: content })
              .returning({ position: steps.position }),
          ),
        () => indexClosed(tx, userId, step),
      )
    },

    /** @throws RunOver when the attempt may no longer write. */
    async setFirstEvent(
      tx: Writer,
      messageId: MessageId,
      position: number,
      firstEvent: number,
      attempt: RunAttempt,
    ): Promise<void> {
      assertWritten(await updateOf(tx, attempt, messageId, position, { firstEvent }))
    },

    /**
     * @param startedAt `null` clears the mark.
     * @param grantId the grant that lets the call through.
     * @throws RunOver when the attempt may no longer write: the call must not run.
     */
    async markStarted(
      tx: Writer,
      messageId: MessageId,
      position: number,
      mark: { startedAt: Date | null; grantId?: string | null },
      attempt: RunAttempt,
    ): Promise<void> {
      assertWritten(await updateOf(tx, attempt, messageId, position, mark))
    },

    /** Removes the steps from `position` on, which a new attempt produces again. */
    async removeFrom(tx: Writer, messageId: MessageId, position: number): Promise<void> {
      await tx
        .delete(steps)
        .where(and(eq(steps.messageId, messageId), gte(steps.position, position)))
      await searchIndex.removeSteps(tx, messageId, position)
    },
  }
}

/** The optional columns' defaults, so that a step inherits nothing from one that it replaces. */
const DEFAULT_COLUMNS = {
  idRef: null,
  name: null,
  artifact: null,
  firstEvent: null,
  cuts: null,
  startedAt: null,
  carry: null,
  durationMs: null,
  grantId: null,
  origin: null,
} satisfies Partial<NewStep>

/** Stored from a checked call id. */
const callIdOf = ({ idRef }: StepRow): CallId => (idRef ?? '') as CallId

/** A stored step as it is sent to clients. */
export function toStep(row: StepRow): Step {
  const identity = { id: stepId(row.position), index: row.position }
  switch (row.type) {
    case 'thinking':
      return {
        ...identity,
        type: row.type,
        content: row.content,
        ...(row.durationMs === null ? {} : { duration_ms: row.durationMs }),
      }
    case 'text':
      return { ...identity, type: row.type, content: row.content }
    case 'tool_call':
      return {
        ...identity,
        type: row.type,
        id_ref: callIdOf(row),
        name: row.name ?? '',
        arguments: row.content,
        ...(row.grantId === null ? {} : { grant_id: row.grantId }),
        ...(row.origin === null ? {} : { origin: row.origin }),
      }
    case 'tool_result':
      return {
        ...identity,
        type: row.type,
        id_ref: callIdOf(row),
        name: row.name ?? '',
        content: row.content,
        skipped: row.skipped,
        ...(row.artifact === null ? {} : { artifact: row.artifact }),
        ...(row.origin === null ? {} : { origin: row.origin }),
      }
  }
}

/** A complete step as it is stored: the inverse of `toStep`. */
export const fromStep = (messageId: MessageId, step: Step): NewStep => ({
  messageId,
  position: step.index,
  type: step.type,
  content: step.type === 'tool_call' ? step.arguments : step.content,
  skipped: step.type === 'tool_result' && step.skipped,
  closed: true,
  ...(step.type === 'tool_call' || step.type === 'tool_result'
    ? { idRef: step.id_ref, name: step.name, origin: step.origin ?? null }
    : {}),
  ...(step.type === 'thinking' ? { durationMs: step.duration_ms ?? null } : {}),
  ...(step.type === 'tool_result' ? { artifact: step.artifact ?? null } : {}),
})
