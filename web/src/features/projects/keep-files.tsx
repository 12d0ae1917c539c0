// The files of one conversation become a project.
import { FolderPlus } from 'lucide-react'
import { useState } from 'react'
import { useKeepProject } from '../../lib/api/projects.ts'
import { isUntitled } from '../../lib/conversation-title.ts'
import { useTranslation } from '../../lib/i18n/use-translation.tsx'
import { Button } from '../../ui/controls/button.tsx'
import { PromptDialog } from '../../ui/overlays/prompt-dialog.tsx'

/** Says whose files these are, with the button that keeps them. `name`, the title of the conversation, is proposed. */
export function KeepFiles({ projectId, name }: { projectId: string; name: string }) {
  const { t } = useTranslation()
  const keep = useKeepProject()
  const [isOpen, setIsOpen] = useState(false)
  const close = (): void => setIsOpen(false)
  return (
    <div className="flex shrink-0 flex-wrap items-center gap-2 border-b border-line px-3 py-2">
      <p className="min-w-40 flex-1 text-note text-soft">{t('projects.ownFilesText')}</p>
      <Button tone="quiet" onClick={() => setIsOpen(true)}>
        <FolderPlus size={16} aria-hidden />
        {t('projects.keep')}
      </Button>
      {isOpen && (
        <PromptDialog
          title={t('projects.keepTitle')}
          label={t('projects.name')}
          initial={isUntitled(name) ? '' : name}
          saving={keep.isPending}
          onClose={close}
          onSubmit={(chosen) => keep.mutate({ id: projectId, name: chosen }, { onSuccess: close })}
        />
      )}
    </div>
  )
}
