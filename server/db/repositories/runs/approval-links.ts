// Links with which approval requests are decided: one row per token, of which only the hash is stored.
import { and, eq, gt, lt } from 'drizzle-orm'
import type { Database, Writer } from '../../database.ts'

/** A row of `approval_links`. */
export type ApprovalLinkRow = Database['tables']['approvalLinks']['$inferSelect']

/** Uses the table `approvalLinks`. */
export function createApprovalLinkRepository(database: Database) {
  const { approvalLinks } = database.tables
  const { hash, approvalId, expiresAt } = approvalLinks
  return {
    /**
     * Stores a link unless the request has `atMost` open ones; false then. Removes links of the request that expired before
     * `forgetBefore`.
     */
    async insert(
      tx: Writer,
      link: ApprovalLinkRow,
      { atMost, forgetBefore }: { atMost: number; forgetBefore: Date },
    ): Promise<boolean> {
      await tx.lock(`approval links ${link.approvalId}`)
      const ofRequest = eq(approvalId, link.approvalId)
      await tx.delete(approvalLinks).where(and(ofRequest, lt(expiresAt, forgetBefore)))
      const open = await tx
        .select({ hash })
        .from(approvalLinks)
        .where(and(ofRequest, gt(expiresAt, link.createdAt)))
      if (open.length >= atMost) return false
      await tx.insert(approvalLinks).values(link)
      return true
    },

    /** The link of a token by its hash, also after its end. */
    async find(tokenHash: string): Promise<ApprovalLinkRow | undefined> {
      const [link] = await database.read
        .select()
        .from(approvalLinks)
        .where(eq(hash, tokenHash))
        .limit(1)
      return link
    },
  }
}
