// The conversation and the project of the messages on the page.
import { createContext } from 'react'

export type ConversationPlace = { conversationId: string; projectId: string | null }

export const ConversationContext = createContext<ConversationPlace>({
  conversationId: '',
  projectId: null,
})
