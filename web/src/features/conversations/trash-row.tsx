// One conversation in the trash: restore it, or delete it for good.
import { RotateCcw, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { Conversation } from '../../../../server/protocol/conversation.ts'
import { conversationTitle } from '../../lib/conversation-title.ts'
import { IconButton } from '../../ui/button.tsx'
import { ConfirmDialog } from '../../ui/dialog.tsx'
import { useChangeWithUndo } from './use-change-with-undo.ts'

export function TrashRow({ conversation }: { conversation: Conversation }) {
  const { t } = useTranslation()
  const change = useChangeWithUndo()
  const [deleting, setDeleting] = useState(false)
  const title = conversationTitle(conversation.title, t)
  return (
    <li className="flex h-9 items-center gap-1 rounded-lg pl-2.5 text-sm text-soft hover:bg-hover/60 pointer-coarse:h-11">
      <span dir="auto" title={title} className="min-w-0 flex-1 truncate text-start">
        {title}
      </span>
      <IconButton
        icon={RotateCcw}
        label={t('conversations.restore', { title })}
        size="small"
        onClick={() => change([conversation.id], 'restore')}
      />
      <IconButton
        icon={Trash2}
        label={t('conversations.deleteForGood', { title })}
        size="small"
        onClick={() => setDeleting(true)}
      />
      <ConfirmDialog
        open={deleting}
        onOpenChange={setDeleting}
        title={t('conversations.deleteForGoodTitle', { count: 1 })}
        text={t('conversations.deleteForGoodText')}
        confirm={t('conversations.deleteNow')}
        onConfirm={() => change([conversation.id], 'delete_permanently')}
      />
    </li>
  )
}
