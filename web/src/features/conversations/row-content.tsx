// The content of a conversation's row: a link, a selectable row, or a row of the trash.
import type { Conversation } from '../../../../server/protocol/conversations/conversation.ts'
import { ConversationRow } from './conversation-row.tsx'
import { SelectableRow } from './selectable-row.tsx'
import { TrashRow } from './trash-row.tsx'

/** Chooses the content by view and selection mode. */
export function RowContent({
  conversation,
  isTabStop,
  isActive,
  selected,
  onToggle,
  onOpened,
  onMove,
}: {
  conversation: Conversation
  /** Whether Tab reaches this row. */
  isTabStop: boolean
  /** Whether the conversation is open. */
  isActive: boolean
  /** The selected conversations; null outside selection mode. */
  selected: ReadonlySet<string> | null
  onToggle: (id: string, isRange: boolean) => void
  onOpened: () => void
  /** Moves a pinned conversation by some positions; null if there is no other. */
  onMove: ((id: string, places: number) => void) | null
}) {
  if (selected !== null)
    return (
      <SelectableRow
        conversation={conversation}
        selected={selected.has(conversation.id)}
        isTabStop={isTabStop}
        onToggle={(isRange) => onToggle(conversation.id, isRange)}
      />
    )
  if (conversation.deleted_at !== null)
    return <TrashRow conversation={conversation} isTabStop={isTabStop} />
  return (
    <ConversationRow
      conversation={conversation}
      active={isActive}
      isTabStop={isTabStop}
      onOpened={onOpened}
      {...(conversation.pinned && onMove !== null ? { onMove } : {})}
    />
  )
}
