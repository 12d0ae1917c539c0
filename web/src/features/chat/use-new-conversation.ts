// The conversation for a first message: created with the message, and removed if the server does not accept it.

import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useMemo, useRef } from 'react'
import type { Conversation } from '../../../../server/protocol/conversations/conversation.ts'
import type { ProjectId } from '../../../../server/protocol/ids.ts'
import {
  conversationKeys,
  createConversation,
  deleteIfEmpty,
  refreshConversations,
} from '../../lib/api/conversations.ts'
import { useNewest } from '../../lib/newest.ts'
import type { ChatOptions } from './chat-options.ts'
import { conversationPatch } from './conversation-patch.ts'

type Opened = { conversation: Conversation; settings: string }

const settingsOf = (projectId: ProjectId | null, options: ChatOptions, temporary: boolean) => {
  const { model, thinking_enabled: thinking, approval } = conversationPatch(options)
  return {
    ...(model == null ? {} : { model }),
    ...(thinking === undefined ? {} : { thinking_enabled: thinking }),
    ...(approval == null ? {} : { approval }),
    ...(projectId === null ? {} : { project_id: projectId }),
    ...(temporary ? { temporary } : {}),
  }
}

/** For the home page. A `temporary` conversation is not listed, and is removed when the page leaves it. */
export function useNewConversation(
  projectId: ProjectId | null,
  options: ChatOptions,
  temporary: boolean,
) {
  const client = useQueryClient()
  const opened = useRef<Opened | null>(null)
  const chosen = useNewest(settingsOf(projectId, options, temporary))
  const newConversation = useMemo(() => {
    /** Removes the empty conversation after the message was refused or the user has left. */
    const discard = (): void => {
      const abandoned = opened.current
      opened.current = null
      if (abandoned === null) return
      void deleteIfEmpty(abandoned.conversation.id)
        // Unreachable, like for the message: the empty conversation stays in the list, where the user can delete it.
        .catch(() => undefined)
        .finally(() => refreshConversations(client, [abandoned.conversation.id]))
    }
    return {
      discard,
      /** Resolves with the conversation of the last attempt; creates one if there is none or the options have changed. */
      async open(): Promise<Conversation> {
        const settings = JSON.stringify(chosen.current)
        if (opened.current !== null && opened.current.settings !== settings) discard()
        opened.current ??= { settings, conversation: await createConversation(chosen.current) }
        const { conversation } = opened.current
        client.setQueryData(conversationKeys.one(conversation.id), conversation)
        return conversation
      },
      settings: () => chosen.current,
      /** Keeps the conversation: its message has arrived or is queued. Returns its id; null if it has not been created. */
      accept: (): string | null => {
        const { conversation } = opened.current ?? {}
        opened.current = null
        return conversation?.id ?? null
      },
    }
  }, [client])
  useEffect(() => newConversation.discard, [newConversation])
  return newConversation
}
