// The open file: edit, save, rename, download, delete. Never overwrites changes by others without asking.
import { ArrowLeft, Save } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import { useReadDocumentAs } from '../../lib/api/documents.ts'
import { useMayChange } from '../../lib/api/projects.ts'
import { focusText } from '../../lib/browser/focus-text.ts'
import { hasEncodingChoice } from '../../lib/encodings.ts'
import { ApiError } from '../../lib/http/api-client.ts'
import { useTranslation } from '../../lib/i18n/use-translation.tsx'
import { Button, IconButton } from '../../ui/controls/button.tsx'
import { EncodingChoice } from '../../ui/controls/encoding-choice.tsx'
import { Segmented } from '../../ui/controls/segmented.tsx'
import { ChangedElsewhere } from '../../ui/states/changed-elsewhere.tsx'
import { errorText } from '../../ui/states/error-text.ts'
import { Failed, Loading } from '../../ui/states/feedback.tsx'
import { lazyPart } from '../../ui/states/late.tsx'
import { PartBoundary } from '../../ui/states/part-boundary.tsx'
import { type FileContent, useDocumentOf, useFileContent, useIsGone } from './api/files.ts'
import { BinaryFile, shownAs } from './binary-file.tsx'
import { FileActions } from './file-actions.tsx'
import { readFileDraft } from './file-drafts.ts'
import { FilePreview, previewOf } from './file-preview.tsx'
import { Searchable } from './searchable.tsx'
import { useFileEditing } from './use-file-editing.ts'

const CodeEditor = lazyPart(() =>
  import('../../ui/code/code-editor.tsx').then((module) => module.CodeEditor),
)

type Props = {
  projectId: string
  path: string
  line: number | undefined
  /** Whether the user has just created the file, to write into it. */
  isNew: boolean
  onDirty: (dirty: boolean) => void
  /** Receives the new path, or null after a deletion. */
  onMoved: (path: string | null) => void
  onClose: () => void
}

/** Chooses the view by the name of the file: the editor for text, else `BinaryFile`. */
export function FileView(props: Props) {
  const shown = shownAs(props.path)
  return shown === null ? <TextFile {...props} /> : <BinaryFile {...props} shown={shown} />
}

function TextFile(props: Props) {
  const { t } = useTranslation()
  const [encoding, setEncoding] = useState<string | null>(null)
  const document = useDocumentOf(props.projectId, props.path)
  const readAs = useReadDocumentAs(props.projectId)
  const mayChange = useMayChange(props.projectId)
  const file = useFileContent(props.projectId, props.path, encoding)
  const isGone = useIsGone(props.projectId, file.error)
  if (file.isPending) return <Loading />
  const status = file.error instanceof ApiError ? file.error.status : 0
  // The server returns text only up to a certain size; every file can be downloaded.
  if (file.isLoadingError && ((status === 400 && encoding === null) || status === 413))
    return <BinaryFile {...props} tooLarge={status === 413} />
  const isUnsaved = readFileDraft(props.projectId, props.path) !== undefined
  if (file.isLoadingError || (file.isError && isGone && !isUnsaved))
    return (
      <section aria-label={props.path} className="flex min-w-0 flex-1 flex-col">
        <header className="flex min-h-11 shrink-0 items-center gap-1 border-b border-line px-2 py-1">
          <IconButton
            icon={ArrowLeft}
            label={t('files.tree')}
            size="small"
            onClick={props.onClose}
          />
          <p className="min-w-0 flex-1 truncate font-mono text-note" title={props.path}>
            {props.path}
          </p>
        </header>
        <Failed
          message={errorText(file.error)}
          onRetry={() => (encoding === null ? void file.refetch() : setEncoding(null))}
        />
      </section>
    )
  return (
    <Editing
      key={encoding}
      {...props}
      file={file.data}
      document={document}
      onEncoding={(next) => {
        setEncoding(next)
        // A search reads the file in the same encoding.
        if (document !== undefined && mayChange) readAs.mutate({ id: document.id, encoding: next })
      }}
      readAgain={() => file.refetch().then(({ data }) => data)}
    />
  )
}

type View = 'preview' | 'edit'

function Editing({
  projectId,
  path,
  line,
  isNew,
  onDirty,
  onMoved,
  onClose,
  file,
  document,
  onEncoding,
  readAgain,
}: Props & {
  file: FileContent
  /** Set if the file is searchable. */
  document: ReturnType<typeof useDocumentOf>
  onEncoding: (encoding: string) => void
  readAgain: () => Promise<FileContent | undefined>
}) {
  const { t } = useTranslation()
  const editing = useFileEditing({ projectId, path }, file, readAgain)
  const { base, text, dirty } = editing
  const mayChange = useMayChange(projectId)
  const preview = previewOf(path)
  const [view, setView] = useState<View>(
    preview === null || isNew || line !== undefined || editing.hadDraft ? 'edit' : 'preview',
  )
  useEffect(() => onDirty(dirty), [dirty, onDirty])
  const section = useRef<HTMLElement>(null)
  /** Continues in the file: in the preview, the button is removed once the text is saved. */
  const saveByButton = (): void => {
    editing.save()
    if (view === 'edit') focusText(section.current)
    else section.current?.querySelector<HTMLElement>('[role="radio"][data-state="on"]')?.focus()
  }
  useEffect(() => {
    if (editing.edition > 0) focusText(section.current)
  }, [editing.edition])
  return (
    <section ref={section} aria-label={path} className="flex min-w-0 flex-1 flex-col">
      <header className="flex min-h-11 shrink-0 items-center gap-1 border-b border-line px-2 py-1">
        <IconButton icon={ArrowLeft} label={t('files.tree')} size="small" onClick={onClose} />
        <p className="min-w-0 flex-1 truncate font-mono text-note" title={path}>
          {path}
          {dirty && <span className="ms-2 font-sans text-xs text-warn">{t('files.unsaved')}</span>}
        </p>
        {hasEncodingChoice(base.encoding, base.content) && (
          <EncodingChoice
            value={base.encoding}
            // Another encoding reads the file again.
            disabled={dirty || document?.status === 'pending'}
            onChange={onEncoding}
          />
        )}
        {preview !== null && (
          <Segmented
            label={t('files.view')}
            value={view}
            options={(['preview', 'edit'] as const).map((value) => ({
              value,
              label: t(value === 'edit' && !mayChange ? 'files.text' : `files.${value}`),
            }))}
            onChange={setView}
          />
        )}
        {(view === 'edit' || dirty) && mayChange && (
          <Button
            size="small"
            tone={dirty ? 'primary' : 'quiet'}
            icon={Save}
            disabled={!dirty || editing.isSaving}
            onClick={saveByButton}
          >
            {t('common.save')}
          </Button>
        )}
        <FileActions
          projectId={projectId}
          path={path}
          unsaved={dirty ? { base, text } : null}
          onMoved={onMoved}
        />
      </header>
      <Searchable projectId={projectId} path={path} isText />
      {editing.changedElsewhere && (
        <ChangedElsewhere
          text={t('files.changedElsewhere')}
          onReload={() => void editing.reload()}
          onOverwrite={editing.overwrite}
        />
      )}
      {preview !== null && view === 'preview' && (
        <div className="min-h-0 flex-1">
          <FilePreview kind={preview} projectId={projectId} path={path} text={text} />
        </div>
      )}
      {/* Stays mounted behind the preview, with its undo history. */}
      <div className={view === 'edit' ? 'min-h-0 flex-1' : 'hidden'}>
        <PartBoundary fallback={<Loading />}>
          <CodeEditor
            key={editing.edition}
            name={path}
            initial={editing.initial}
            revision={editing.revision}
            label={path}
            line={line}
            focuses={isNew}
            isReadOnly={!mayChange}
            onChange={editing.setText}
            onSave={editing.save}
          />
        </PartBoundary>
      </div>
    </section>
  )
}
