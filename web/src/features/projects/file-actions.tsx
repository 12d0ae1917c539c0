// The menu of the open file: download, rename, delete.
import { Download, Ellipsis, PencilLine, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { useMayChange } from '../../lib/api/projects.ts'
import { useTranslation } from '../../lib/i18n/use-translation.tsx'
import { IconButton } from '../../ui/controls/button.tsx'
import { ConfirmDialog } from '../../ui/overlays/dialog.tsx'
import { Menu, MenuItem, MenuSeparator } from '../../ui/overlays/menu.tsx'
import { PromptDialog } from '../../ui/overlays/prompt-dialog.tsx'
import { reportError } from '../../ui/states/error-text.ts'
import { downloadFile, useDeleteFile, useMoveFile } from './api/files.ts'
import { writeFileDraft } from './file-drafts.ts'

/** Renaming keeps unsaved changes. */
export function FileActions({
  projectId,
  path,
  unsaved,
  onMoved,
}: {
  projectId: string
  path: string
  unsaved: Parameters<typeof writeFileDraft>[2]
  /** Receives the new path, or null after a deletion. */
  onMoved: (path: string | null) => void
}) {
  const { t } = useTranslation()
  const mayChange = useMayChange(projectId)
  const [renaming, setRenaming] = useState(false)
  const [deleting, setDeleting] = useState(false)
  const move = useMoveFile(projectId)
  const remove = useDeleteFile(projectId)
  const rename = (to: string): void =>
    move.mutate(
      { path, to },
      {
        onSuccess: () => {
          if (unsaved !== null) writeFileDraft(projectId, to, unsaved)
          writeFileDraft(projectId, path, null)
          setRenaming(false)
          onMoved(to)
        },
      },
    )
  return (
    <>
      <Menu
        align="end"
        trigger={<IconButton icon={Ellipsis} label={t('files.actions')} size="small" />}
      >
        <MenuItem
          icon={Download}
          onSelect={() => void downloadFile(projectId, path).catch(reportError)}
        >
          {t('files.download')}
        </MenuItem>
        {mayChange && (
          <>
            <MenuItem icon={PencilLine} onSelect={() => setRenaming(true)}>
              {t('conversation.rename')}
            </MenuItem>
            <MenuSeparator />
            <MenuItem icon={Trash2} danger onSelect={() => setDeleting(true)}>
              {t('common.delete')}
            </MenuItem>
          </>
        )}
      </Menu>
      {renaming && (
        <PromptDialog
          title={t('conversation.rename')}
          label={t('files.path')}
          initial={path}
          saving={move.isPending}
          onClose={() => setRenaming(false)}
          onSubmit={rename}
        />
      )}
      <ConfirmDialog
        open={deleting}
        onOpenChange={setDeleting}
        title={t('files.deleteTitle', { path })}
        text={t('files.deleteText')}
        confirm={t('common.delete')}
        onConfirm={() =>
          remove.mutate(path, {
            onSuccess: () => {
              writeFileDraft(projectId, path, null)
              onMoved(null)
            },
          })
        }
      />
    </>
  )
}
