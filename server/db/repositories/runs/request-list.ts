// What a user is asked to decide, newest first: approvals of tool calls and questions of MCP servers in one list.
import {
  and,
  desc,
  eq,
  getTableColumns,
  inArray,
  isNotNull,
  isNull,
  ne,
  not,
  or,
  sql,
} from 'drizzle-orm'
import type { Page } from '../../../protocol/envelope.ts'
import type { ProjectId, UserId } from '../../../protocol/ids.ts'
import { decodeCursor, MomentCursor, toPage } from '../../cursor.ts'
import type { Database } from '../../database.ts'
import { afterMoment } from '../../fragments.ts'
import { createApproverRepository } from '../projects/approvers.ts'
import { type ApprovalRow, hashOfRequest } from './approvals.ts'
import type { RunInputRow } from './run-inputs.ts'
import type { RunRow } from './runs.ts'

/** A request with what identifies its place. */
export type ListedRequest = {
  conversationId: RunRow['conversationId']
  /** Null for people who see the request but not its conversation. */
  conversationTitle: string | null
  projectId: RunRow['projectId']
  options: RunRow['options']
  /** When the run ended; null if it has not, and for requests of apps, which do not end with it. */
  endedAt: RunRow['endedAt']
  /** The name of who decided; null if nobody did, or if their account is deleted. */
  decidedByName: string | null
  /** Whose run it is, for those who decide for others; null for the person themselves. */
  person: { id: UserId; name: string } | null
} & (
  | { type: 'approval'; request: ListedApproval; content: ApprovalContent | null }
  | { type: 'input'; request: RunInputRow }
)

/** What a person decides about, of any length; null in lists where it is too long for them. */
export type ApprovalContent = Pick<ApprovalRow, 'arguments' | 'preview' | 'decidedArguments'>
type ListedApproval = Omit<ApprovalRow, keyof ApprovalContent> & { callHash: string }

/** Which requests to list. */
export interface RequestSelection {
  state: 'pending' | 'decided'
  projectId?: ProjectId | undefined
}

/**
 * The most characters of arguments and preview of one approval in a list: a page of many longer ones would block the process
 * while it is read.
 */
const LISTED_CHARACTERS = 4_000

type RequestTable = Database['tables']['approvals'] | Database['tables']['runInputs']

/**
 * Uses the tables `approvals`, `runInputs`, `runs`, `conversations` and `users`. Approvers of a project find its approval
 * requests, too, but no questions and not the titles of the conversations.
 */
export function createRequestList(database: Database) {
  const approvers = createApproverRepository(database)
  const { read, tables } = database
  const { approvals, runInputs, runs, conversations, users } = tables
  const place = {
    conversationId: runs.conversationId,
    conversationTitle: conversations.title,
    // The files of one conversation are no project to a person.
    projectId: sql<
      RunRow['projectId']
    >`nullif(${runs.projectId}, ${conversations.scratchProjectId})`,
    options: runs.options,
    endedAt: runs.endedAt,
    decidedByName: users.username,
    /** Whose run it is. */
    personName: sql<string>`coalesce((select username from users as people where people.id = ${runs.userId}), '')`,
    personId: runs.userId,
  }

  /** Requests of apps wait also after the run. */
  const waits = (table: RequestTable) =>
    table === approvals ? or(isNull(runs.endedAt), approvals.byApp) : isNull(runs.endedAt)

  const ofUser = (table: RequestTable, userId: UserId) =>
    and(eq(table.userId, userId), isNull(conversations.deletedAt))

  /**
   * The requests of others in projects. Few people have runs there, so the index by user finds them. Their conversations may be
   * elsewhere: a program names the project in its request.
   */
  const ofProjects = (userId: UserId, ids: readonly ProjectId[]) =>
    and(
      ne(approvals.userId, userId),
      inArray(
        approvals.userId,
        read
          .selectDistinct({ id: tables.runs.userId })
          .from(tables.runs)
          .where(inArray(tables.runs.projectId, [...ids])),
      ),
      inArray(runs.projectId, [...ids]),
      isNull(conversations.deletedAt),
    )

  const { arguments: text, preview, decidedArguments, ...short } = getTableColumns(approvals)
  /** SQL for the content, or for nulls where it is longer than `most`. */
  const contentUpTo = (most: number | null) => {
    const length = sql`length(${text}) + coalesce(length(cast(${preview} as text)), 0) + coalesce(length(${decidedArguments}), 0)`
    const isShort = most === null ? sql`true` : sql`${length} <= ${most}`
    return {
      arguments: sql<string | null>`case when ${isShort} then ${text} end`,
      preview: sql`case when ${isShort} then ${preview} end`.mapWith(preview),
      decidedArguments: sql<string | null>`case when ${isShort} then ${decidedArguments} end`,
    }
  }

  const selectApprovals = (most: number | null) =>
    read
      .select({ ...place, request: short, content: contentUpTo(most) })
      .from(approvals)
      .innerJoin(runs, eq(runs.id, approvals.runId))
      .innerJoin(conversations, eq(conversations.id, runs.conversationId))
      .leftJoin(users, eq(users.id, approvals.decidedBy))

  const selectInputs = () =>
    read
      .select({ ...place, request: getTableColumns(runInputs) })
      .from(runInputs)
      .innerJoin(runs, eq(runs.id, runInputs.runId))
      .innerJoin(conversations, eq(conversations.id, runs.conversationId))
      .leftJoin(users, eq(users.id, runInputs.decidedBy))

  type SelectedApproval = Awaited<ReturnType<typeof selectApprovals>>[number]

  async function listedApproval({
    content: { arguments: given, ...others },
    request,
    ...rest
  }: OfPerson<SelectedApproval>): Promise<ListedRequest> {
    const content = given === null ? null : { ...others, arguments: given }
    return {
      ...rest,
      ...(request.byApp ? { endedAt: null } : {}),
      type: 'approval',
      request: { ...request, callHash: request.callHash ?? (await oldHash(request, content)) },
      content,
    }
  }

  /** The hash of a request from before it was stored. Each long one is read alone. */
  async function oldHash(
    { runId, idRef, name }: Pick<ApprovalRow, 'runId' | 'idRef' | 'name'>,
    content: ApprovalContent | null,
  ): Promise<string> {
    if (content !== null)
      return hashOfRequest({ runId, idRef, name, callHash: null, arguments: content.arguments })
    const [row] = await read
      .select()
      .from(approvals)
      .where(and(eq(approvals.runId, runId), eq(approvals.idRef, idRef)))
    return row === undefined ? '' : hashOfRequest(row)
  }

  /** An approval request of another person's run. */
  async function ofOther(
    row: SelectedApproval,
    decided: readonly ProjectId[],
  ): Promise<ListedRequest[]> {
    if (row.projectId === null || !decided.includes(row.projectId)) return []
    const person = { id: row.personId, name: row.personName }
    return [await listedApproval({ ...row, conversationTitle: null, person })]
  }

  return {
    /**
     * Omits requests of conversations in the trash. Nothing of an ended run waits, also when a version without the list has
     * ended it and left its requests pending.
     */
    async list(
      userId: UserId,
      { state, projectId }: RequestSelection,
      { limit, cursor }: { limit: number; cursor?: string | undefined },
    ): Promise<Page<ListedRequest>> {
      const [moment, id] = cursor === undefined ? [] : decodeCursor(MomentCursor, cursor)
      const selected = (table: RequestTable) =>
        and(
          state === 'pending'
            ? and(eq(table.status, 'pending'), waits(table))
            : or(
                ne(table.status, 'pending'),
                table === approvals
                  ? and(isNotNull(runs.endedAt), not(approvals.byApp))
                  : isNotNull(runs.endedAt),
              ),
          projectId === undefined ? undefined : eq(runs.projectId, projectId),
          moment === undefined || id === undefined
            ? undefined
            : afterMoment(table.createdAt, table.id, new Date(moment), id),
        )
      const askedOf = (whose: ReturnType<typeof and>) =>
        selectApprovals(LISTED_CHARACTERS)
          .where(and(whose, selected(approvals)))
          .orderBy(desc(approvals.createdAt), desc(approvals.id))
          .limit(limit + 1)
      const decided = await approvers.projectsOf(userId)
      const [asked, ofOthers, questions] = await Promise.all([
        askedOf(ofUser(approvals, userId)),
        decided.length === 0 ? [] : askedOf(ofProjects(userId, decided)),
        selectInputs()
          .where(and(ofUser(runInputs, userId), selected(runInputs)))
          .orderBy(desc(runInputs.createdAt), desc(runInputs.id))
          .limit(limit + 1),
      ])
      const listed: ListedRequest[] = []
      for (const row of asked) listed.push(await listedApproval({ ...row, person: null }))
      for (const row of ofOthers) listed.push(...(await ofOther(row, decided)))
      const rows = [
        ...listed,
        ...questions.map((row): ListedRequest => ({ ...row, person: null, type: 'input' })),
      ].sort(newestFirst)
      return toPage(rows, limit, ({ request }) => [request.createdAt.getTime(), request.id])
    },

    /** Undefined if the user may decide no such request, or its conversation is in the trash. */
    async find(userId: UserId, id: string): Promise<ListedRequest | undefined> {
      const [[asked], [question]] = await Promise.all([
        selectApprovals(null)
          .where(and(ofUser(approvals, userId), eq(approvals.id, id)))
          .limit(1),
        selectInputs()
          .where(and(ofUser(runInputs, userId), eq(runInputs.id, id)))
          .limit(1),
      ])
      if (asked !== undefined) return await listedApproval({ ...asked, person: null })
      if (question !== undefined) return { ...question, person: null, type: 'input' }
      const decided = await approvers.projectsOf(userId)
      if (decided.length === 0) return undefined
      const [other] = await selectApprovals(null)
        .where(and(ofProjects(userId, decided), eq(approvals.id, id)))
        .limit(1)
      return other === undefined ? undefined : (await ofOther(other, decided))[0]
    },
  }
}

/** A row with whose run it is. */
type OfPerson<Row> = Omit<Row, 'conversationTitle'> &
  Pick<ListedRequest, 'person' | 'conversationTitle'>

/** As the statements order them. */
function newestFirst({ request: one }: ListedRequest, { request: other }: ListedRequest): number {
  const later = other.createdAt.getTime() - one.createdAt.getTime()
  if (later !== 0) return later
  return one.id < other.id ? 1 : -1
}
