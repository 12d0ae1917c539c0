// The conversation that a first message is sent to: created with it, and removed if the server does not accept the message.
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

/**
 * For the home page. `temporary`: the conversation is not listed and is removed when the page
 * leaves it.
 */
export function useNewConversation(
  projectId: ProjectId | null,
  options: ChatOptions,
  temporary: boolean,
) {
  const client = useQueryClient()
  const opened = useRef<Opened | null>(null)
  const chosen = useRef(settingsOf(projectId, options, temporary))
  chosen.current = settingsOf(projectId, options, temporary)
  const place = useMemo(() => {
    /** The message was refused, or its sender has left: removes the empty conversation. */
    const giveUp = (): void => {
      const left = opened.current
      opened.current = null
      if (left === null) return
      void deleteIfEmpty(left.conversation.id)
        // Unreachable, as it was for the message: the empty conversation stays in the list and can be deleted there.
        .catch(() => undefined)
        .finally(() => refreshConversations(client, [left.conversation.id]))
    }
    return {
      giveUp,
      /** The conversation of the last attempt, unless the options have changed since; otherwise another one. */
      async open(): Promise<Conversation> {
        const settings = JSON.stringify(chosen.current)
        if (opened.current !== null && opened.current.settings !== settings) giveUp()
        opened.current ??= { settings, conversation: await createConversation(chosen.current) }
        const { conversation } = opened.current
        client.setQueryData(conversationKeys.one(conversation.id), conversation)
        return conversation
      },
      settings: () => chosen.current,
      /** The message has arrived, or will be sent later: the conversation stays. @returns its id; null when there is none yet. */
      taken: (): string | null => {
        const { conversation } = opened.current ?? {}
        opened.current = null
        return conversation?.id ?? null
      },
    }
  }, [client])
  useEffect(() => place.giveUp, [place])
  return place
}
