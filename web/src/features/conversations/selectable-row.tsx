// A conversation in the list in selection mode.

import type { Conversation } from '../../../../server/protocol/conversations/conversation.ts'
import { conversationTitle } from '../../lib/conversation-title.ts'
import { useTranslation } from '../../lib/i18n/use-translation.tsx'

/** `onToggle` selects or deselects the conversation; with Shift, everything from the previously toggled one to this one. */
export function SelectableRow({
  conversation,
  selected,
  isTabStop,
  onToggle,
}: {
  conversation: Conversation
  selected: boolean
  /** Whether Tab reaches this row; arrow keys reach the others. */
  isTabStop: boolean
  onToggle: (isRange: boolean) => void
}) {
  const { t } = useTranslation()
  const title = conversationTitle(conversation.title, t)
  return (
    <label className="flex h-9 cursor-pointer select-none items-center gap-2.5 rounded-lg px-2.5 text-sm text-soft hover:bg-hover/60 has-checked:bg-hover has-checked:text-ink pointer-coarse:h-11">
      <input
        type="checkbox"
        checked={selected}
        tabIndex={isTabStop ? 0 : -1}
        className="size-4 shrink-0 accent-accent"
        // The change of a checkbox comes from a click event, also for the keyboard.
        onChange={({ nativeEvent }) =>
          onToggle('shiftKey' in nativeEvent && nativeEvent.shiftKey === true)
        }
      />
      <span dir="auto" title={title} className="min-w-0 flex-1 truncate text-start">
        {title}
      </span>
    </label>
  )
}
