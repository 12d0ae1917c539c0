// The tables of the skills of users, and of the consent of users to what others have written for models.
import type { ProjectId } from '../../../protocol/ids.ts'
import type { ConsentSubject } from '../../../protocol/projects/skills.ts'
import type { Columns } from '../../columns/postgres.ts'
import type { defineAccountTables } from '../accounts/accounts.ts'
import { ownedBy } from '../owner.ts'

/** A file of an accepted version: with its text, unless it is binary or too long to be compared. */
export interface AcceptedFile {
  path: string
  sha256: string
  text: string | null
}

/** Consent belongs to a user and a hash, not to a project: a copy of a project needs none again. */
export function defineSkillTables(
  c: Columns,
  { users }: Pick<ReturnType<typeof defineAccountTables>, 'users'>,
) {
  const consents = c.table(
    'consents',
    {
      userId: ownedBy(c, users),
      /** `file`: a file of a skill that the user has written; its hash covers the path. */
      what: c.choice<ConsentSubject | 'file'>('what').notNull(),
      sha256: c.text('sha256').notNull(),
      decision: c.choice<'accept' | 'refuse'>('decision').notNull(),
      /** Where it was decided last, to compare the next version with. Without a reference: consent outlives the project. */
      projectId: c.key<ProjectId>('project_id').notNull(),
      /** The folder of the skill, or the file. */
      path: c.text('path').notNull(),
      /** The accepted contents; null for a refused one and for `file`. */
      files: c.json<AcceptedFile[]>('files'),
      decidedAt: c.time('decided_at').notNull(),
    },
    (t) => [
      c.primaryKey({ columns: [t.userId, t.what, t.sha256] }),
      c.index('consents_path').on(t.userId, t.projectId, t.path, t.decidedAt),
    ],
  )

  const userSkills = c.table(
    'user_skills',
    {
      userId: ownedBy(c, users),
      name: c.text('name').notNull(),
      /** Of the skill, as in `skillHash`. */
      sha256: c.text('sha256').notNull(),
      /** Bytes of all files. */
      size: c.bigInteger('size').notNull(),
      updatedAt: c.time('updated_at').notNull(),
    },
    (t) => [c.primaryKey({ columns: [t.userId, t.name] })],
  )

  const userSkillFiles = c.table(
    'user_skill_files',
    {
      userId: ownedBy(c, users),
      name: c.text('name').notNull(),
      path: c.text('path').notNull(),
      sha256: c.text('sha256').notNull(),
      content: c.bytes('content').notNull(),
    },
    (t) => [c.primaryKey({ columns: [t.userId, t.name, t.path] })],
  )

  return { consents, userSkills, userSkillFiles }
}
