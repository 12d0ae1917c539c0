// The skills that users have uploaded, with their files.
import { and, asc, eq, getTableColumns, sql } from 'drizzle-orm'
import { appError } from '../../../errors.ts'
import type { UserId } from '../../../protocol/ids.ts'
import type { Database } from '../../database.ts'
import { countAll } from '../../fragments.ts'

/** A skill of a user without its files. */
export type UserSkillRow = Database['tables']['userSkills']['$inferSelect']

/** A file of a skill of a user. */
export interface UserSkillFile {
  path: string
  sha256: string
  content: Buffer
}

/** Skills of one user, and bytes of all their files. */
const MAX_SKILLS = 200
const MAX_BYTES = 50 * 1024 * 1024

/** Stores the skills of users (tables `userSkills` and `userSkillFiles`). Every method takes the owner's id. */
export function createUserSkillRepository(database: Database) {
  const { read, tables } = database
  const { userSkills, userSkillFiles } = tables
  const one = (userId: UserId, name: string) =>
    and(eq(userSkills.userId, userId), eq(userSkills.name, name))
  const filesOf = (userId: UserId, name: string) =>
    and(eq(userSkillFiles.userId, userId), eq(userSkillFiles.name, name))
  const { userId: _user, name: _name, ...fileColumns } = getTableColumns(userSkillFiles)

  return {
    /** By name. */
    list: (userId: UserId): Promise<UserSkillRow[]> =>
      read
        .select()
        .from(userSkills)
        .where(eq(userSkills.userId, userId))
        .orderBy(asc(userSkills.name)),

    async find(userId: UserId, name: string): Promise<UserSkillRow | undefined> {
      const [row] = await read.select().from(userSkills).where(one(userId, name))
      return row
    },

    /** The files of a skill with their contents, by path. */
    files: (userId: UserId, name: string): Promise<UserSkillFile[]> =>
      read
        .select(fileColumns)
        .from(userSkillFiles)
        .where(filesOf(userId, name))
        .orderBy(asc(userSkillFiles.path)),

    async file(userId: UserId, name: string, path: string): Promise<UserSkillFile | undefined> {
      const [row] = await read
        .select(fileColumns)
        .from(userSkillFiles)
        .where(and(filesOf(userId, name), eq(userSkillFiles.path, path)))
      return row
    },

    /** Stores a skill in place of the one with its name. @throws AppError `skills_exhausted`. */
    put: (skill: UserSkillRow, files: readonly UserSkillFile[]): Promise<void> =>
      database.write(async (tx) => {
        const { userId, name } = skill
        await tx.lock(`skills ${userId}`)
        await tx.delete(userSkills).where(one(userId, name))
        const [others] = await tx
          .select({ count: countAll, size: sql<number>`coalesce(sum(${userSkills.size}), 0)` })
          .from(userSkills)
          .where(eq(userSkills.userId, userId))
        if (
          Number(others?.count ?? 0) >= MAX_SKILLS ||
          Number(others?.size ?? 0) + skill.size > MAX_BYTES
        )
          throw appError('skills_exhausted', { limit: MAX_SKILLS, size: '50 MB' })
        await tx.insert(userSkills).values(skill)
        await tx.delete(userSkillFiles).where(filesOf(userId, name))
        for (const file of files) await tx.insert(userSkillFiles).values({ userId, name, ...file })
      }),

    /** False when the user has no such skill. */
    remove: (userId: UserId, name: string): Promise<boolean> =>
      database.write(async (tx) => {
        await tx.delete(userSkillFiles).where(filesOf(userId, name))
        const gone = await tx
          .delete(userSkills)
          .where(one(userId, name))
          .returning({ name: userSkills.name })
        return gone.length > 0
      }),
  }
}
