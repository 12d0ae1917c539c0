// Documents of a project and their passages.
import {
  and,
  asc,
  desc,
  eq,
  getTableColumns,
  gt,
  inArray,
  isNotNull,
  isNull,
  ne,
  type SQL,
  sql,
} from 'drizzle-orm'
import { projectDeleted } from '../../../errors.ts'
import { newId } from '../../../lib/ids.ts'
import type { DescribedFailure } from '../../../protocol/failures/stored.ts'
import type { ProjectId, UserId } from '../../../protocol/ids.ts'
import { decodeCursor, MomentCursor, toPage } from '../../cursor.ts'
import type { Database } from '../../database.ts'
import { afterMoment, countAll } from '../../fragments.ts'
import { createMembership } from './membership.ts'
import { createPassageSearch } from './passage-search.ts'

/** A row of `documents`. */
export type DocumentRow = Database['tables']['documents']['$inferSelect']
type PassageRow = Database['tables']['passages']['$inferSelect']
/** The file of a project that a document is read from. `version` is null if it has not been read here. */
export interface FileOfDocument {
  path: string
  version: string | null
}
/** A passage before it is stored. */
export type NewPassage = Pick<PassageRow, 'heading' | 'page' | 'text' | 'tokens'>
/** Stores documents and their passages, and searches them. */
export type DocumentRepository = ReturnType<typeof createDocumentRepository>

/** Passages per transaction: SQLite needs some milliseconds to index them, and other writers wait meanwhile. */
const PASSAGE_BATCH_SIZE = 10

const failureColumns = (found: DescribedFailure | null) => {
  if (found === null) return { error: null, failure: null }
  const { message, ...failure } = found
  return { error: message, failure }
}

/** A document of the project, and no other project's. */
const isDocument = (documents: Database['tables']['documents'], projectId: ProjectId, id: string) =>
  and(eq(documents.id, id), eq(documents.projectId, projectId))

/** The documents that were made from files: of the user, or of the project. */
function createDocumentsOfFiles(database: Database) {
  return {
    ...sameDocuments(database),
    ...documentsOfFiles(database),
  }
}

/** Documents with a content that is known. */
function sameDocuments(database: Database) {
  const { read, tables } = database
  const { documents } = tables
  return {
    /** A document of the project made from the same file, unless it could not be read. */
    async findSame(projectId: ProjectId, sha256: string): Promise<DocumentRow | undefined> {
      const [row] = await read
        .select()
        .from(documents)
        .where(
          and(
            eq(documents.projectId, projectId),
            eq(documents.sha256, sha256),
            ne(documents.status, 'failed'),
          ),
        )
        .limit(1)
      return row
    },

    /** Whether any of the user's projects has a document with this content. */
    async hasContent(userId: UserId, sha256: string): Promise<boolean> {
      const [row] = await read
        .select({ id: documents.id })
        .from(documents)
        .where(and(eq(documents.userId, userId), eq(documents.sha256, sha256)))
        .limit(1)
      return row !== undefined
    },
  }
}

/** Documents that follow a file of the project. */
function documentsOfFiles(database: Database) {
  const { read, tables } = database
  const { documents, projects } = tables
  const { hasRole } = createMembership(database)
  return {
    /** The documents with a choice of encodings that were made from a file of a user and that the user may change. */
    ofFile: async (userId: UserId, sha256: string): Promise<DocumentRow[]> =>
      read
        .select(getTableColumns(documents))
        .from(documents)
        .innerJoin(projects, eq(projects.id, documents.projectId))
        .where(
          and(
            eq(documents.userId, userId),
            eq(documents.sha256, sha256),
            isNotNull(documents.encoding),
            hasRole(userId, 'edit'),
          ),
        ),

    /** The documents that are read from files of the project. */
    ofFiles: async (projectId: ProjectId): Promise<DocumentRow[]> =>
      read
        .select()
        .from(documents)
        .where(and(eq(documents.projectId, projectId), isNotNull(documents.path))),

    /** Projects with documents that are read from their files, in the order of their ids, after `after`. */
    async projectsWithFiles(after: ProjectId | null, limit: number): Promise<ProjectId[]> {
      const rows = await database.readOffThread
        .select({ projectId: documents.projectId })
        .from(documents)
        .where(
          and(
            isNotNull(documents.path),
            after === null ? undefined : gt(documents.projectId, after),
          ),
        )
        .groupBy(documents.projectId)
        .orderBy(asc(documents.projectId))
        .limit(limit)
      return rows.map(({ projectId }) => projectId)
    },

    /** Notes where the file of a document is now, or which version of it needs no reading. */
    noteFile: (id: string, name: string, file: FileOfDocument) =>
      database.write(async (tx): Promise<void> => {
        await tx
          .update(documents)
          .set({ name, ...file })
          .where(eq(documents.id, id))
      }),

    /**
     * Makes a document pending again, for its new content. False when it was deleted, or another version of its file was noted,
     * since `document` was read.
     */
    restart: (
      { id, version }: Pick<DocumentRow, 'id' | 'version'>,
      content: Pick<DocumentRow, 'size' | 'sha256' | 'version' | 'encoding'>,
    ) =>
      database.write(async (tx): Promise<boolean> => {
        const found = await tx
          .update(documents)
          .set({ status: 'pending', ...failureColumns(null), ...content })
          .where(
            and(
              eq(documents.id, id),
              version === null ? isNull(documents.version) : eq(documents.version, version),
            ),
          )
          .returning({ id: documents.id })
        return found.length > 0
      }),
  }
}

/** What becomes of a document: its passages, its failure, its removal. */
function createDocumentIndexing(database: Database) {
  const parts = indexingParts(database)
  return {
    ...indexed(database, parts),
    ...unindexed(database, parts),
  }
}

/** Documents with a content, and the removal of its passages. */
function indexingParts(database: Database) {
  const { read, tables } = database
  const { documents, passages } = tables
  /** Another instance may have stored a newer content of the document meanwhile. */
  const withContent = ({ id, sha256 }: Pick<DocumentRow, 'id' | 'sha256'>) =>
    and(
      eq(documents.id, id),
      sha256 === null ? isNull(documents.sha256) : eq(documents.sha256, sha256),
    )
  /** Resolves with false, and leaves the rest, when the document is not `like` this any more. */
  async function removePassages(documentId: string, like: SQL | undefined): Promise<boolean> {
    for (;;) {
      const some = await read
        .select({ id: passages.id })
        .from(passages)
        .where(eq(passages.documentId, documentId))
        .limit(PASSAGE_BATCH_SIZE)
      if (some.length === 0) return true
      const removed = await database.write(async (tx) => {
        // After the passages were found, so that they are none of a newer content.
        const [found] = await tx.select({ id: documents.id }).from(documents).where(like)
        if (found === undefined) return false
        const ids = some.map(({ id }) => id)
        await tx.delete(passages).where(inArray(passages.id, ids))
        return true
      })
      if (!removed) return false
    }
  }

  return { withContent, removePassages }
}

type IndexingParts = ReturnType<typeof indexingParts>

/** Documents whose passages are stored. */
function indexed(database: Database, { withContent, removePassages }: IndexingParts) {
  const { tables } = database
  const { documents, passages } = tables
  return {
    /**
     * Replaces the passages of a document, and marks it ready when all are stored. `failure` says to people what of it could
     * not be read, `encoding` how a text was read that can be read in another one, too. False when the document or its project
     * was deleted meanwhile, and no passages remain then; or when it has another content now, which is yet to be read.
     */
    async index(
      document: Pick<DocumentRow, 'id' | 'projectId' | 'sha256'>,
      found: readonly NewPassage[],
      {
        failure = null,
        encoding = null,
      }: { failure?: DescribedFailure | null; encoding?: string | null } = {},
    ): Promise<boolean> {
      if (!(await removePassages(document.id, withContent(document)))) return false
      for (let from = 0; from < found.length; from += PASSAGE_BATCH_SIZE) {
        const some = found.slice(from, from + PASSAGE_BATCH_SIZE)
        const exists = await database.write(async (tx) => {
          // Shows the progress while the rest is stored; until the transaction ends, the document cannot be deleted.
          const updated = await tx
            .update(documents)
            .set({ passages: from + some.length })
            .where(withContent(document))
            .returning({ id: documents.id })
          if (updated.length === 0) return false
          await tx.insert(passages).values(
            some.map((passage, index) => ({
              ...passage,
              documentId: document.id,
              projectId: document.projectId,
              position: from + index,
            })),
          )
          return true
        })
        if (!exists) return false
      }
      return database.write(async (tx) => {
        const ready = await tx
          .update(documents)
          .set({ status: 'ready', ...failureColumns(failure), passages: found.length, encoding })
          .where(withContent(document))
          .returning({ id: documents.id })
        return ready.length > 0
      })
    },
  }
}

/** Documents that could not be read, or go. */
function unindexed(database: Database, { withContent, removePassages }: IndexingParts) {
  const { read, tables } = database
  const { documents } = tables
  return {
    /** Marks a document as unreadable, with a failure to show to people, unless it has another content now. */
    fail: (document: Pick<DocumentRow, 'id' | 'sha256'>, failure: DescribedFailure) =>
      database.write(async (tx): Promise<void> => {
        await tx
          .update(documents)
          .set({ status: 'failed', ...failureColumns(failure) })
          .where(withContent(document))
      }),

    /** False when the project has no such document. */
    async remove(projectId: ProjectId, id: string): Promise<boolean> {
      const [found] = await read
        .select({ id: documents.id })
        .from(documents)
        .where(isDocument(documents, projectId, id))
      if (found === undefined) return false
      await removePassages(id, isDocument(documents, projectId, id))
      await database.write(async (tx) => {
        await tx.delete(documents).where(isDocument(documents, projectId, id))
      })
      return true
    },
  }
}

/** The passages of documents. */
function createPassageRepository(database: Database) {
  const { read, tables } = database
  const { documents, passages } = tables
  const foundColumns = {
    id: passages.id,
    documentId: passages.documentId,
    position: passages.position,
    heading: passages.heading,
    page: passages.page,
    text: passages.text,
    document: documents.name,
  }

  return {
    search: createPassageSearch(database),

    /** The passages with these ids, if they belong to the project, in any order. */
    passages: async (projectId: ProjectId, ids: readonly number[]) =>
      ids.length === 0
        ? []
        : read
            .select(foundColumns)
            .from(passages)
            .innerJoin(documents, eq(documents.id, passages.documentId))
            .where(and(eq(passages.projectId, projectId), inArray(passages.id, [...ids]))),

    /** The passages of a document from `position` on, in order. */
    passagesOf: async (projectId: ProjectId, documentId: string, position: number, limit: number) =>
      read
        .select(foundColumns)
        .from(passages)
        .innerJoin(documents, eq(documents.id, passages.documentId))
        .where(
          and(
            eq(passages.projectId, projectId),
            eq(passages.documentId, documentId),
            sql`${passages.position} >= ${position}`,
          ),
        )
        .orderBy(asc(passages.position))
        .limit(limit),
  }
}

/** Callers check first that the project belongs to the user. */
export function createDocumentRepository(database: Database) {
  const { read, tables } = database
  const { documents } = tables

  return {
    ...createDocumentsOfFiles(database),
    ...createDocumentIndexing(database),
    ...createPassageRepository(database),

    /** Adds a pending document. @throws AppError `project_deleted`. */
    create: (
      document: Pick<DocumentRow, 'projectId' | 'userId' | 'name' | 'mime' | 'size'> &
        Partial<Pick<DocumentRow, 'encoding'>>,
      file?: FileOfDocument | null,
    ) => create(database, document, file),

    /** The number of documents of a project, in any state. */
    async count(projectId: ProjectId): Promise<number> {
      const [row] = await read
        .select({ count: countAll })
        .from(documents)
        .where(eq(documents.projectId, projectId))
      return row?.count ?? 0
    },

    /** Sets the size in bytes and the SHA-256 of a file, which are known only at the end of the upload. */
    resize: (id: string, size: number, sha256: string | null = null) =>
      database.write(async (tx): Promise<void> => {
        await tx.update(documents).set({ size, sha256 }).where(eq(documents.id, id))
      }),

    async find(projectId: ProjectId, id: string): Promise<DocumentRow | undefined> {
      const [row] = await read
        .select()
        .from(documents)
        .where(isDocument(documents, projectId, id))
      return row
    },

    /**
     * Makes a document pending again, to be read in another encoding. Undefined if it is pending already, or has no choice of
     * encodings.
     */
    chooseEncoding: (
      projectId: ProjectId,
      id: string,
      encoding: string,
    ): Promise<DocumentRow | undefined> =>
      database.write(async (tx) => {
        const [row] = await tx
          .update(documents)
          .set({ status: 'pending', encoding, ...failureColumns(null) })
          .where(
            and(
              isDocument(documents, projectId, id),
              ne(documents.status, 'pending'),
              isNotNull(documents.encoding),
            ),
          )
          .returning()
        return row
      }),

    /** Newest first. `withoutFile`: only those that were not read from a file of the project. */
    list: (
      projectId: ProjectId,
      given: { limit: number; cursor?: string | undefined; withoutFile?: boolean },
    ) => list(database, projectId, given),

    /** Every pending document, oldest first. */
    pending: async (): Promise<DocumentRow[]> =>
      read
        .select()
        .from(documents)
        .where(eq(documents.status, 'pending'))
        .orderBy(asc(documents.createdAt), asc(documents.id)),
  }
}

function create(
  database: Database,
  document: Pick<DocumentRow, 'projectId' | 'userId' | 'name' | 'mime' | 'size'> &
    Partial<Pick<DocumentRow, 'encoding'>>,
  file: FileOfDocument | null = null,
) {
  const { projects, documents } = database.tables
  return database.write(async (tx): Promise<DocumentRow> => {
    const row: DocumentRow = {
      encoding: null,
      ...document,
      id: newId<string>(),
      status: 'pending',
      error: null,
      failure: null,
      passages: 0,
      createdAt: new Date(),
      sha256: null,
      path: file?.path ?? null,
      version: file?.version ?? null,
    }
    const [project] = await tx
      .select({ id: projects.id })
      .from(projects)
      .where(eq(projects.id, row.projectId))
    if (project === undefined) throw projectDeleted()
    await tx.insert(documents).values(row)
    return row
  })
}

async function list(
  database: Database,
  projectId: ProjectId,
  {
    limit,
    cursor,
    withoutFile = false,
  }: { limit: number; cursor?: string | undefined; withoutFile?: boolean },
) {
  const { read } = database
  const { documents } = database.tables
  const after = cursor === undefined ? undefined : decodeCursor(MomentCursor, cursor)
  const rows = await read
    .select()
    .from(documents)
    .where(
      and(
        eq(documents.projectId, projectId),
        withoutFile ? isNull(documents.path) : undefined,
        after && afterMoment(documents.createdAt, documents.id, new Date(after[0]), after[1]),
      ),
    )
    .orderBy(desc(documents.createdAt), desc(documents.id))
    .limit(limit + 1)
  return toPage(rows, limit, (row) => [row.createdAt.getTime(), row.id])
}
