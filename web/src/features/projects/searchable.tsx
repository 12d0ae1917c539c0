// Whether a file of a project is searchable: the switch, how far it has been read, and why it could not be.
import { useState } from 'react'
import { useDeleteDocument, useMakeSearchable } from '../../lib/api/documents.ts'
import { useMayChange } from '../../lib/api/projects.ts'
import { useTranslation } from '../../lib/i18n/use-translation.tsx'
import { Switch } from '../../ui/controls/switch.tsx'
import { PassageDialog } from '../../ui/overlays/passage-dialog.tsx'
import { useDocumentOf } from './api/files.ts'
import { DocumentEncoding, DocumentState } from './document-state.tsx'

/** A bar of the open file. `isText`: the bar above has the choice of the file's encoding, which is also that of the search. */
export function Searchable({
  projectId,
  path,
  isText = false,
}: {
  projectId: string
  path: string
  isText?: boolean
}) {
  const { t } = useTranslation()
  const document = useDocumentOf(projectId, path)
  const add = useMakeSearchable(projectId)
  const remove = useDeleteDocument(projectId)
  const mayChange = useMayChange(projectId)
  const [isOpen, setIsOpen] = useState(false)
  return (
    <div className="flex min-h-11 shrink-0 flex-wrap items-center gap-x-3 border-b border-line px-3 py-1">
      <Switch
        label={t('files.searchable')}
        checked={document !== undefined}
        disabled={!mayChange || add.isPending || remove.isPending}
        onChange={(isOn) => {
          if (isOn) add.mutate(path)
          else if (document !== undefined) remove.mutate(document.id)
        }}
      />
      {document === undefined ? (
        <span className="text-note text-muted">
          {t(mayChange ? 'files.searchableHint' : 'project.readOnly')}
        </span>
      ) : (
        <button
          type="button"
          className="min-w-0 rounded-md text-note hover:underline disabled:no-underline"
          disabled={document.status !== 'ready'}
          onClick={() => setIsOpen(true)}
        >
          <DocumentState document={document} />
        </button>
      )}
      {document !== undefined && !isText && mayChange && (
        <DocumentEncoding projectId={projectId} document={document} />
      )}
      {isOpen && document !== undefined && (
        <PassageDialog
          projectId={projectId}
          documentId={document.id}
          position={null}
          marks={[]}
          onClose={() => setIsOpen(false)}
        />
      )}
    </div>
  )
}
