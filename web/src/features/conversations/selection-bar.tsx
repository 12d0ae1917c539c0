// The actions on the selected conversations, below the list.
import { Archive, ArchiveRestore, CheckCheck, Download, RotateCcw, Trash2, X } from 'lucide-react'
import { useState } from 'react'
import { useLocation } from 'wouter'
import type { BulkAction } from '../../../../server/protocol/conversations/conversation.ts'
import type { ListView } from '../../lib/api/conversation-lists.ts'
import { useStartExport } from '../../lib/api/transfers.ts'
import { useTranslation } from '../../lib/i18n/use-translation.tsx'
import { paths } from '../../lib/paths.ts'
import { IconButton } from '../../ui/controls/button.tsx'
import { notify } from '../../ui/overlays/toasts.ts'
import { ConfirmDeletion } from './confirm-deletion.tsx'
import { useChangeWithUndo } from './use-change-with-undo.ts'

/** `view` determines the available actions; `activeId` is the open conversation. */
export function SelectionBar({
  view,
  selected,
  isAll,
  activeId,
  onSelectAll,
  onClose,
}: {
  view: ListView
  selected: ReadonlySet<string>
  /** Whether everything in the list is selected. */
  isAll: boolean
  activeId: string | null
  /** Selects everything in the list (`true`) or nothing. Resolves when done. */
  onSelectAll: (selectsAll: boolean) => Promise<void>
  onClose: () => void
}) {
  const { t } = useTranslation()
  const [, navigate] = useLocation()
  const change = useChangeWithUndo()
  const startExport = useStartExport()
  const [deleting, setDeleting] = useState(false)
  const [collecting, setCollecting] = useState(false)
  const isNone = selected.size === 0
  const selectAll = async (): Promise<void> => {
    if (collecting) return
    setCollecting(true)
    await onSelectAll(!isAll)
    setCollecting(false)
  }
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
      className="flex items-center gap-0.5 border-t border-line px-2.5 py-1.5 pointer-coarse:flex-wrap pointer-coarse:justify-between"
    >
      <span
        aria-live="polite"
        className="min-w-0 flex-1 truncate text-note text-muted pointer-coarse:basis-full"
      >
        {collecting ? t('common.loading') : t('conversations.selected', { count: selected.size })}
      </span>
      <IconButton
        icon={CheckCheck}
        label={t('conversations.selectAll')}
        size="small"
        tipSide="top"
        pressed={isAll}
        onClick={() => void selectAll()}
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
                notify(t('conversations.exportStarted'), 'plain', {
                  label: t('settings.tab.data'),
                  onClick: () => navigate(paths.settingsSection('data', 'export')),
                })
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
      <ConfirmDeletion
        count={selected.size}
        open={deleting}
        onOpenChange={setDeleting}
        onConfirm={() => apply('delete_permanently')}
      />
    </div>
  )
}
