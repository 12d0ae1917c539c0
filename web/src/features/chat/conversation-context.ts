// The context with the conversation and the project of the displayed messages.
import { createContext } from 'react'

/** The ids for deeply nested parts of a message, such as sources and files. */
export type ConversationPlace = { conversationId: string; projectId: string | null }

/** Provided by the open conversation. */
export const ConversationContext = createContext<ConversationPlace>({
  conversationId: '',
  projectId: null,
})
