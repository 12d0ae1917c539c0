// One conversation of the list: a link, a row to select, or a row of the trash.
import type { Conversation } from '../../../../server/protocol/conversations/conversation.ts'
import { ConversationRow } from './conversation-row.tsx'
import { SelectableRow } from './selectable-row.tsx'
import { TrashRow } from './trash-row.tsx'

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
  /** Tab leads to this row. */
  isTabStop: boolean
  /** It is open. */
  isActive: boolean
  /** The selected conversations; null while none are being selected. */
  selected: ReadonlySet<string> | null
  onToggle: (id: string, isRange: boolean) => void
  onOpened: () => void
  /** Moves a pinned conversation by so many places; null when there is no other. */
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
