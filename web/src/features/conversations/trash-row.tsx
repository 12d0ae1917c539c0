// A conversation in the trash: restore it, or delete it permanently.
import { RotateCcw, Trash2 } from 'lucide-react'
import type { Conversation } from '../../../../server/protocol/conversations/conversation.ts'
import { conversationTitle } from '../../lib/conversation-title.ts'
import { useTranslation } from '../../lib/i18n/use-translation.tsx'
import { IconButton } from '../../ui/controls/button.tsx'
import { showDialog } from './shown-dialog.ts'
import { useChangeWithUndo } from './use-change-with-undo.ts'

/** Replaces `ConversationRow` in the trash. */
export function TrashRow({
  conversation,
  isTabStop,
}: {
  conversation: Conversation
  /** Whether Tab reaches this row; arrow keys reach the others. */
  isTabStop: boolean
}) {
  const { t } = useTranslation()
  const change = useChangeWithUndo()
  const title = conversationTitle(conversation.title, t)
  return (
    <div className="flex h-9 items-center gap-1 rounded-lg ps-2.5 text-sm text-soft hover:bg-hover/60 pointer-coarse:h-11">
      <span dir="auto" title={title} className="min-w-0 flex-1 truncate text-start">
        {title}
      </span>
      <IconButton
        icon={RotateCcw}
        label={t('conversations.restore', { title })}
        size="small"
        tabIndex={isTabStop ? 0 : -1}
        onClick={() => change([conversation.id], 'restore')}
      />
      <IconButton
        icon={Trash2}
        label={t('conversations.deleteForGood', { title })}
        size="small"
        tabIndex={isTabStop ? 0 : -1}
        onClick={() => showDialog('delete_for_good', conversation.id)}
      />
    </div>
  )
}
