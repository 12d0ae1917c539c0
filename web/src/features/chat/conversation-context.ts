// The conversation and the project of the messages on the page.
import { createContext } from 'react'

/**
 * Where a message stands, for parts of it that are too deep to get it passed, such as sources and
 * files.
 */
export type ConversationPlace = { conversationId: string; projectId: string | null }

export const ConversationContext = createContext<ConversationPlace>({
  conversationId: '',
  projectId: null,
})
