// Handles the data of an account that ends: hands it over to another account, or keeps it without any way to sign in.
import { and, eq, inArray, isNotNull } from 'drizzle-orm'
import type { ProjectId, UserId } from '../../../protocol/ids.ts'
import type { Database } from '../../database.ts'
import { givesRole } from '../projects/membership.ts'

/** The longest name of a project. */
const MAX_NAME = 255

/** Uses the tables `projects`, `projectMembers`, `documents`, `checkpoints`, `conversations`, `files`, `runs` and `shares`. */
export function createAccountDataRepository({ write, tables }: Database) {
  const { projects, projectMembers, documents, checkpoints, conversations, files, runs, shares } =
    tables

  return {
    /** Gives a project to another user under a name that is free there. Does nothing if the user already has it. */
    handOverProject: (
      projectId: ProjectId,
      { from, to, label }: { from: UserId; to: UserId; label: string },
    ): Promise<void> =>
      write(async (tx) => {
        const [project] = await tx
          .select({ name: projects.name, creatorRole: projects.creatorRole })
          .from(projects)
          .where(and(eq(projects.id, projectId), eq(projects.userId, from)))
        if (project === undefined) return
        const taken = await tx
          .select({ name: projects.name })
          .from(projects)
          .where(eq(projects.userId, to))
        const name = freeName(project.name, label, new Set(taken.map((row) => row.name)))
        // The new user's own role, if that is higher, or the former one's is gone.
        const [member] = await tx
          .delete(projectMembers)
          .where(and(eq(projectMembers.projectId, projectId), eq(projectMembers.userId, to)))
          .returning({ role: projectMembers.role })
        const { creatorRole } = project
        const isHigher =
          member !== undefined && (creatorRole === null || givesRole(member.role, creatorRole))
        await tx
          .update(projects)
          .set({ userId: to, name, ...(isHigher ? { creatorRole: member.role } : {}) })
          .where(eq(projects.id, projectId))
        await tx.update(documents).set({ userId: to }).where(eq(documents.projectId, projectId))
        await tx.update(checkpoints).set({ userId: to }).where(eq(checkpoints.projectId, projectId))
      }),

    /**
     * Gives conversations, files and shared copies to another user in one transaction. The former owner's approval grants
     * end.
     */
    handOver: (from: UserId, to: UserId): Promise<void> =>
      write(async (tx) => {
        await tx.lock(`runs of ${to}`)
        // Importing the same source again adds nothing for either user, so only one copy keeps its origin.
        const known = tx
          .select({ origin: conversations.origin })
          .from(conversations)
          .where(and(eq(conversations.userId, to), isNotNull(conversations.origin)))
        await tx
          .update(conversations)
          .set({ origin: null })
          .where(and(eq(conversations.userId, from), inArray(conversations.origin, known)))
        await tx
          .update(conversations)
          .set({ userId: to, pinned: false, pinPosition: null, approvalGrants: [] })
          .where(eq(conversations.userId, from))
        await tx.update(runs).set({ userId: to }).where(eq(runs.userId, from))
        await tx.update(files).set({ userId: to }).where(eq(files.userId, from))
        await tx.update(shares).set({ userId: to }).where(eq(shares.userId, from))
      }),

    /**
     * Removes every credential of the account and the person's details. Conversations, projects, files, memory and usage
     * stay.
     */
    removeAccess: (id: UserId): Promise<void> =>
      write(async (tx) => {
        const { sessions, apiKeys, accountLinks, identities, totps, recoveryCodes, passkeys } =
          tables
        const { confirmedAddresses } = tables
        const { channels, webhooks, pushSubscriptions, mcpGrants, mcpSignIns, users } = tables
        for (const table of [
          sessions,
          apiKeys,
          accountLinks,
          identities,
          totps,
          recoveryCodes,
          passkeys,
          channels,
          webhooks,
          pushSubscriptions,
          mcpGrants,
          mcpSignIns,
          confirmedAddresses,
        ])
          await tx.delete(table).where(eq(table.userId, id))
        await tx
          .update(users)
          .set({ email: null, emailKey: null, avatar: null, role: 'user' })
          .where(eq(users.id, id))
      }),
  }
}

function freeName(name: string, label: string, taken: ReadonlySet<string>): string {
  if (!taken.has(name)) return name
  for (let count = 1; ; count += 1) {
    const suffix = count === 1 ? ` (${label})` : ` (${label} ${count})`
    const candidate = `${name.slice(0, MAX_NAME - suffix.length)}${suffix}`
    if (!taken.has(candidate)) return candidate
  }
}
