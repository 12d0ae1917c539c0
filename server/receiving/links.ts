// The addresses that messages name: of a conversation, of what waits for a decision, and of one decision.
import type { ChatService } from '../chat/chat-service.ts'
import type { Store } from '../db/store.ts'
import { AppError } from '../errors.ts'
import type { UserId } from '../protocol/ids.ts'

/** How long a link in a message decides. */
const DECISION_LINK_SECONDS = 86_400

/** Addresses for people at a messenger. */
export interface MessageLinks {
  /** Where a person sees the conversation; empty if the server does not know its address. */
  conversationUrl(conversationId: string | null): string
  /** Where people see what waits for them; null if the server does not know its address. */
  waitingUrl(): string | null
  /** A link with which the user decides one request; null if they cannot, or the server does not know its address. */
  decisionUrl(userId: UserId, approvalId: string): Promise<string | null>
}

/** @param publicUrl undefined if the server does not know its address. */
export function createMessageLinks({
  publicUrl,
  store,
  chat,
}: {
  publicUrl: string | undefined
  store: Pick<Store, 'users'>
  chat: Pick<ChatService, 'createApprovalLink'>
}): MessageLinks {
  const address = publicUrl?.replace(/\/+$/, '')
  return {
    conversationUrl: (id) =>
      address === undefined ? '' : id === null ? address : `${address}/c/${id}`,
    waitingUrl: () => (address === undefined ? null : `${address}/waiting`),
    async decisionUrl(userId, id) {
      if (address === undefined) return null
      const user = await store.users.find(userId)
      const actor = { userId, username: user?.username ?? null, address: null, details: {} }
      try {
        const link = { userId, id, lifetimeSeconds: DECISION_LINK_SECONDS }
        return `${address}/a/${(await chat.createApprovalLink(link, actor)).token}`
      } catch (error) {
        // Somebody else must decide, or it is decided already.
        if (error instanceof AppError) return null
        throw error
      }
    },
  }
}
