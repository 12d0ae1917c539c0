// Which conversation, and which project, the messages on the page belong to.
import { createContext } from 'react'

export type ConversationPlace = { conversationId: string; projectId: string | null }

export const ConversationContext = createContext<ConversationPlace>({
  conversationId: '',
  projectId: null,
})
