// One conversation's page: the chat, put together with what other features add to it.
import type { ReactNode } from 'react'
import { ChatHeader } from '../features/chat/chat-header.tsx'
import { ChatView } from '../features/chat/chat-view.tsx'

export function ChatPage({ id, menu }: { id: string; menu: ReactNode }) {
  return (
    <ChatView
      id={id}
      header={(conversation) => <ChatHeader conversation={conversation} leading={menu} />}
    />
  )
}
