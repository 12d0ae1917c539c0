// The conversation that a first message is sent into: created with it, and gone again when the message was not taken.
import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useMemo, useRef } from 'react'
import type { Conversation } from '../../../../server/protocol/conversation.ts'
import type { ProjectId } from '../../../../server/protocol/ids.ts'
import { conversationKeys, createConversation, deleteIfEmpty } from '../../lib/api/conversations.ts'
import type { ChatOptions } from './chat-options.ts'
import { conversationPatch } from './conversation-patch.ts'

type Opened = { conversation: Conversation; settings: string }

const settingsOf = (projectId: ProjectId | null, options: ChatOptions) => {
  const { model, thinking_enabled: thinking, approval } = conversationPatch(options)
  return {
    ...(model == null ? {} : { model }),
    ...(thinking === undefined ? {} : { thinking_enabled: thinking }),
    ...(approval == null ? {} : { approval }),
    ...(projectId === null ? {} : { project_id: projectId }),
  }
}

export function useNewConversation(projectId: ProjectId | null, options: ChatOptions) {
  const client = useQueryClient()
  const opened = useRef<Opened | null>(null)
  const chosen = useRef(settingsOf(projectId, options))
  chosen.current = settingsOf(projectId, options)
  const place = useMemo(() => {
    /** The message was refused, or its sender has left: nothing empty stays behind. */
    const giveUp = (): void => {
      const left = opened.current
      opened.current = null
      if (left === null) return
      void deleteIfEmpty(left.conversation.id)
        // Unreachable, as it was for the message: it is seen as empty in the list and can be deleted there.
        .catch(() => undefined)
        .finally(() => client.invalidateQueries({ queryKey: conversationKeys.lists }))
    }
    return {
      giveUp,
      /** The conversation of the last attempt while nothing was chosen anew since; otherwise another one. */
      async open(): Promise<Conversation> {
        const settings = JSON.stringify(chosen.current)
        if (opened.current !== null && opened.current.settings !== settings) giveUp()
        opened.current ??= { settings, conversation: await createConversation(chosen.current) }
        const { conversation } = opened.current
        client.setQueryData(conversationKeys.one(conversation.id), conversation)
        return conversation
      },
      /** The message is in it. */
      taken: (): void => {
        opened.current = null
      },
    }
  }, [client])
  useEffect(() => place.giveUp, [place])
  return place
}
