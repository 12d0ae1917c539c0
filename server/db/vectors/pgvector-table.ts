// The table that pgvector compares; `pgvector.ts` creates it where possible.
import { bigint, customType, pgTable, text } from 'drizzle-orm/pg-core'
import type { ProjectId } from '../../protocol/ids.ts'

const vector = customType<{ data: Int8Array; driverData: string }>({
  dataType: () => 'vector',
  toDriver: (values) => `[${values.join(',')}]`,
})

/** A copy of `passage_vectors` for pgvector. It can be rebuilt at any time and is not part of backups. */
export const passageEmbeddings = pgTable('passage_embeddings', {
  passageId: bigint('passage_id', { mode: 'number' }).primaryKey(),
  projectId: text('project_id').$type<ProjectId>().notNull(),
  model: text('model').notNull(),
  embedding: vector('embedding').notNull(),
})
