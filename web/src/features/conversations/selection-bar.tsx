// What can be done with the selected conversations, below the list.
import { Archive, ArchiveRestore, CheckCheck, Download, RotateCcw, Trash2, X } from 'lucide-react'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useLocation } from 'wouter'
import type { BulkAction } from '../../../../server/protocol/conversations/conversation.ts'
import type { ListView } from '../../lib/api/conversation-lists.ts'
import { useStartExport } from '../../lib/api/transfers.ts'
import { paths } from '../../lib/paths.ts'
import { IconButton } from '../../ui/controls/button.tsx'
import { ConfirmDialog } from '../../ui/overlays/dialog.tsx'
import { notify } from '../../ui/overlays/toasts.ts'
import { useChangeWithUndo } from './use-change-with-undo.ts'

/**
 * `view` decides which actions there are; `all` are the listed conversations, for “select all”.
 * `activeId` is the open one.
 */
export function SelectionBar({
  view,
  selected,
  all,
  activeId,
  onSelect,
  onClose,
}: {
  view: ListView
  selected: ReadonlySet<string>
  /** The ids of the conversations that the list shows. */
  all: readonly string[]
  activeId: string | null
  onSelect: (ids: readonly string[]) => void
  onClose: () => void
}) {
  const { t } = useTranslation()
  const [, navigate] = useLocation()
  const change = useChangeWithUndo()
  const startExport = useStartExport()
  const [deleting, setDeleting] = useState(false)
  const isNone = selected.size === 0
  const isAll = all.length > 0 && all.every((id) => selected.has(id))
  const apply = (action: BulkAction): void => {
    change([...selected], action, () => {
      if (action === 'delete' && activeId !== null && selected.has(activeId)) navigate(paths.home)
    })
    onClose()
  }
  return (
    <div
      role="toolbar"
      aria-label={t('conversations.selection')}
      className="flex items-center gap-0.5 border-t border-line px-2.5 py-1.5"
    >
      <span aria-live="polite" className="min-w-0 flex-1 truncate text-[13px] text-muted">
        {t('conversations.selected', { count: selected.size })}
      </span>
      <IconButton
        icon={CheckCheck}
        label={t('conversations.selectAll')}
        size="small"
        tipSide="top"
        pressed={isAll}
        onClick={() => onSelect(isAll ? [] : all)}
      />
      {view === 'trash' ? (
        <IconButton
          icon={RotateCcw}
          label={t('conversations.restoreSelected')}
          size="small"
          tipSide="top"
          disabled={isNone}
          onClick={() => apply('restore')}
        />
      ) : (
        <IconButton
          icon={view === 'archived' ? ArchiveRestore : Archive}
          label={t(view === 'archived' ? 'conversation.unarchive' : 'conversation.archive')}
          size="small"
          tipSide="top"
          disabled={isNone}
          onClick={() => apply(view === 'archived' ? 'unarchive' : 'archive')}
        />
      )}
      {view !== 'trash' && (
        <IconButton
          icon={Download}
          label={t('conversations.exportSelected')}
          size="small"
          tipSide="top"
          disabled={isNone || startExport.isPending}
          onClick={() =>
            startExport.mutate([...selected], {
              onSuccess() {
                notify(t('conversations.exportStarted'))
                onClose()
              },
            })
          }
        />
      )}
      <IconButton
        icon={Trash2}
        label={t(view === 'trash' ? 'conversations.deleteNow' : 'common.delete')}
        size="small"
        tipSide="top"
        disabled={isNone}
        onClick={() => (view === 'trash' ? setDeleting(true) : apply('delete'))}
      />
      <IconButton
        icon={X}
        label={t('common.cancel')}
        size="small"
        tipSide="top"
        onClick={onClose}
      />
      <ConfirmDialog
        open={deleting}
        onOpenChange={setDeleting}
        title={t('conversations.deleteForGoodTitle', { count: selected.size })}
        text={t('conversations.deleteForGoodText')}
        confirm={t('conversations.deleteNow')}
        onConfirm={() => apply('delete_permanently')}
      />
    </div>
  )
}
