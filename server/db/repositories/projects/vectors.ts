// Embeddings of passages: stored as bytes, compared where that is fastest.
import { and, asc, eq, getTableColumns, gt, isNull, sql } from 'drizzle-orm'
import type { ProjectId } from '../../../protocol/ids.ts'
import type { Database, Writer } from '../../database.ts'
import { signedBytes } from '../../vectors/cosine.ts'
import { passageEmbeddings } from '../../vectors/pgvector-table.ts'
import { scanVectors } from '../../vectors/scan.ts'
import type { DocumentRow } from './documents.ts'

/** A row of `passage_vectors`. */
export type VectorRow = Database['tables']['passageVectors']['$inferSelect']

/** A passage with its cosine similarity to a query: 1 for the same direction, 0 for unrelated texts. */
export type NearPassage = { passageId: number; similarity: number }

const COPY_BATCH_SIZE = 200

/** Stores the embeddings of passages. */
export type VectorRepository = ReturnType<typeof createVectorRepository>

/** Uses the tables `passageVectors`, `passages` and `documents`. */
export function createVectorRepository(database: Database) {
  const { passageVectors, passages, documents } = database.tables

  return {
    /** Stores all vectors, or none when one of the passages no longer exists. */
    store: (rows: readonly VectorRow[]) =>
      database.write(async (tx): Promise<void> => {
        for (const row of rows) {
          const { passageId, ...values } = row
          await tx
            .insert(passageVectors)
            .values({ passageId, ...values })
            .onConflictDoUpdate({ target: passageVectors.passageId, set: values })
          if (database.vectors === 'pgvector') await storeEmbedding(tx, row)
        }
      }),

    /** Copies vectors to pgvector that were stored before it was available or come from a backup. */
    async copyToPgvector(model: string): Promise<void> {
      if (database.vectors !== 'pgvector') return
      for (;;) {
        const missing = await database.read
          .select(getTableColumns(passageVectors))
          .from(passageVectors)
          .leftJoin(passageEmbeddings, eq(passageEmbeddings.passageId, passageVectors.passageId))
          .where(and(eq(passageVectors.model, model), isNull(passageEmbeddings.passageId)))
          .limit(COPY_BATCH_SIZE)
        if (missing.length === 0) return
        await database.write(async (tx) => {
          for (const row of missing) await storeEmbedding(tx, row)
        })
      }
    },

    /** The passages of a project most similar to the query, most similar first. `query` is not the zero vector. */
    async nearest(
      projectId: ProjectId,
      model: string,
      query: Buffer,
      limit: number,
    ): Promise<{ near: NearPassage[]; complete: boolean }> {
      if (database.vectors === 'sqlite')
        return {
          near: await nearestInSqlite(database, projectId, model, query, limit),
          complete: true,
        }
      if (database.vectors === 'pgvector')
        return {
          near: await nearestByPgvector(database, projectId, model, query, limit),
          complete: true,
        }
      const pages = (after: number, count: number) =>
        database.read
          .select({ passageId: passageVectors.passageId, vector: passageVectors.vector })
          .from(passageVectors)
          .where(and(ofModel(database, projectId, model), gt(passageVectors.passageId, after)))
          .orderBy(asc(passageVectors.passageId))
          .limit(count)
      return await scanVectors(pages, query, limit)
    },

    /** Documents with passages that have no vector of this model, oldest first. */
    async documentsWithout(model: string): Promise<Pick<DocumentRow, 'id' | 'projectId'>[]> {
      return await database.readOffThread
        .selectDistinct({
          id: documents.id,
          projectId: documents.projectId,
          createdAt: documents.createdAt,
        })
        .from(documents)
        .innerJoin(passages, eq(passages.documentId, documents.id))
        .leftJoin(
          passageVectors,
          and(eq(passageVectors.passageId, passages.id), eq(passageVectors.model, model)),
        )
        .where(and(eq(documents.status, 'ready'), isNull(passageVectors.passageId)))
        .orderBy(asc(documents.createdAt), asc(documents.id))
    },
  }
}

const ofModel = ({ tables: { passageVectors } }: Database, projectId: ProjectId, model: string) =>
  and(eq(passageVectors.projectId, projectId), eq(passageVectors.model, model))

/** Compares every vector of the project inside SQLite. */
async function nearestInSqlite(
  database: Database,
  projectId: ProjectId,
  model: string,
  query: Buffer,
  limit: number,
): Promise<NearPassage[]> {
  const { passageVectors } = database.tables
  const distance = sql<number>`vec_distance_cosine(vec_int8(${passageVectors.vector}), vec_int8(${query}))`
  const rows = await database.readOffThread
    .select({ passageId: passageVectors.passageId, distance: distance.as('distance') })
    .from(passageVectors)
    .where(
      and(
        ofModel(database, projectId, model),
        sql`length(${passageVectors.vector}) = ${query.length}`,
      ),
    )
    .orderBy(sql`distance`)
    .limit(limit)
  return rows.map((row) => ({ passageId: row.passageId, similarity: 1 - row.distance }))
}

/** Compares every vector of the project with pgvector. */
async function nearestByPgvector(
  database: Database,
  projectId: ProjectId,
  model: string,
  query: Buffer,
  limit: number,
): Promise<NearPassage[]> {
  const { passageId, embedding } = passageEmbeddings
  const distance = sql`${embedding} <=> ${sql.param(signedBytes(query), embedding)}`
  return await database.read
    .select({ passageId, similarity: sql<number>`1 - (${distance})`.mapWith(Number) })
    .from(passageEmbeddings)
    .where(
      and(
        eq(passageEmbeddings.projectId, projectId),
        eq(passageEmbeddings.model, model),
        sql`vector_dims(${embedding}) = ${query.length}`,
      ),
    )
    .orderBy(distance)
    .limit(limit)
}

async function storeEmbedding(tx: Writer, row: VectorRow): Promise<void> {
  const { passageId, vector, ...others } = row
  const values = { ...others, embedding: signedBytes(vector) }
  await tx
    .insert(passageEmbeddings)
    .values({ passageId, ...values })
    .onConflictDoUpdate({ target: passageEmbeddings.passageId, set: values })
}
