// The meaning of passages as vectors; what they mean is the knowledge room's affair.
import { and, asc, eq, gt } from 'drizzle-orm'
import type { ProjectId } from '../../protocol/ids.ts'
import type { Database } from '../database.ts'

export type VectorRow = Database['tables']['passageVectors']['$inferSelect']

export type VectorRepository = ReturnType<typeof createVectorRepository>

export function createVectorRepository(database: Database) {
  const { passageVectors } = database.tables
  return {
    /** Fails as a whole when one of the passages is gone. */
    put: (rows: readonly VectorRow[]) =>
      database.write(async (tx): Promise<void> => {
        for (const { passageId, ...values } of rows)
          await tx
            .insert(passageVectors)
            .values({ passageId, ...values })
            .onConflictDoUpdate({ target: passageVectors.passageId, set: values })
      }),

    /** Those of one model in a project, in the order of the passages, after the given one. */
    async page(
      projectId: ProjectId,
      model: string,
      after: number,
      limit: number,
    ): Promise<Pick<VectorRow, 'passageId' | 'vector'>[]> {
      return await database.read
        .select({ passageId: passageVectors.passageId, vector: passageVectors.vector })
        .from(passageVectors)
        .where(
          and(
            eq(passageVectors.projectId, projectId),
            eq(passageVectors.model, model),
            gt(passageVectors.passageId, after),
          ),
        )
        .orderBy(asc(passageVectors.passageId))
        .limit(limit)
    },
  }
}
