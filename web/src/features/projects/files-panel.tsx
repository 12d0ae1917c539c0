// The files of a project and what is searchable, next to the open file; narrow layouts show one of the two.
import { useEffect, useRef, useState } from 'react'
import { useMayChange } from '../../lib/api/projects.ts'
import { useMedia } from '../../lib/browser/use-media.ts'
import { useTranslation } from '../../lib/i18n/use-translation.tsx'
import { classNames } from '../../ui/class-names.ts'
import { useCloseWithBack } from '../../ui/overlays/close-with-back.ts'
import { ConfirmDialog } from '../../ui/overlays/dialog.tsx'
import { PassageDialog } from '../../ui/overlays/passage-dialog.tsx'
import { FileSearch } from './file-search.tsx'
import { FileTree } from './file-tree.tsx'
import { FileView } from './file-view.tsx'
import { FilesToolbar } from './files-toolbar.tsx'
import { UploadedDocuments } from './uploaded-documents.tsx'
import { Uploading } from './uploading.tsx'
import { useDropFiles } from './use-drop-files.ts'
import { type OpenFile, useOpenFile } from './use-open-file.ts'
import { TREE_STOP } from './use-tree-keys.ts'

/** A passage, given by document id and position, with words to highlight; null opens the beginning. */
export type OpenPassage = { document: string; position: number | null; marks: readonly string[] }

/** A tab of the project, with a toolbar and a search over its files. */
export function FilesPanel({
  projectId,
  wide,
  initial = null,
  initialPassage = null,
}: {
  projectId: string
  wide: boolean
  /** The file to open initially. */
  initial?: OpenFile | null
  /** The passage to open initially. */
  initialPassage?: OpenPassage | null
}) {
  const { t } = useTranslation()
  const file = useOpenFile(projectId, initial)
  const { open, show } = file
  const [searching, setSearching] = useState(false)
  const [passage, setPassage] = useState(initialPassage)
  const drop = useDropFiles(projectId)
  const mayChange = useMayChange(projectId)
  const { side, view } = usePreservedFocus(open)
  const isNarrow = !useMedia('(min-width: 48rem)')
  // Where the file replaces the tree, back leads to the tree; from a file that was opened elsewhere, to that place.
  useCloseWithBack(open !== null && open !== initial && (isNarrow || !wide), () => show(null))
  return (
    <div className="flex min-h-0 min-w-0 flex-1">
      <div
        ref={side}
        className={classNames(
          'min-h-0 flex-col overflow-y-auto py-2',
          drop.over && mayChange ? 'bg-accent-soft' : '',
          wide
            ? 'flex w-72 shrink-0 border-e border-line max-md:w-full max-md:border-e-0'
            : 'w-full',
          open === null ? 'flex' : wide ? 'max-md:hidden' : 'hidden',
        )}
        {...(mayChange ? drop.handlers : {})}
      >
        <FilesToolbar
          projectId={projectId}
          searching={searching}
          onSearching={setSearching}
          onFiles={drop.choose}
          onCreated={(path) => show({ path, isNew: true })}
        />
        {drop.progress !== null && (
          <div className="mx-3 mb-2">
            <Uploading part={drop.progress} onAbort={drop.abort} />
          </div>
        )}
        {searching && <FileSearch projectId={projectId} onOpen={show} />}
        {/* Stays mounted behind the search, with its open folders. */}
        <div className={searching ? 'hidden' : undefined}>
          <FileTree
            projectId={projectId}
            active={open?.path ?? null}
            onOpen={(path) => show({ path })}
          />
          <UploadedDocuments
            projectId={projectId}
            onOpen={(document) => setPassage({ document, position: null, marks: [] })}
          />
        </div>
      </div>
      {open === null ? (
        wide && (
          <div className="grid flex-1 place-items-center p-6 text-sm text-muted max-md:hidden">
            {t('files.choose')}
          </div>
        )
      ) : (
        <div ref={view} tabIndex={-1} className="flex min-w-0 flex-1 outline-none">
          <FileView
            key={`${open.path}:${open.line ?? ''}`}
            projectId={projectId}
            path={open.path}
            line={open.line}
            isNew={open.isNew === true}
            onDirty={file.setDirty}
            onMoved={file.moved}
            onClose={() => show(null)}
          />
        </div>
      )}
      {passage !== null && (
        <PassageDialog
          projectId={projectId}
          documentId={passage.document}
          position={passage.position}
          marks={passage.marks}
          onClose={() => setPassage(null)}
        />
      )}
      <ConfirmDialog
        open={file.asked}
        onOpenChange={file.stay}
        title={t('files.unsavedTitle')}
        text={t('files.unsavedText')}
        confirm={t('files.discard')}
        save={file.saveAndGo}
        onConfirm={file.discardAndGo}
      />
      {drop.question !== null && (
        <ConfirmDialog
          open
          onOpenChange={drop.cancel}
          title={t('files.dropTitle', { count: drop.question })}
          text={t('files.dropText')}
          confirm={t('files.add')}
          tone="primary"
          onConfirm={drop.confirm}
        />
      )}
    </div>
  )
}

/**
 * Preserves the keyboard focus when a file opens or closes: in a narrow layout the file replaces the tree, and the focused
 * close button disappears with the file. `side` is the ref for the tree, `view` the one for the file.
 */
function usePreservedFocus(open: OpenFile | null) {
  const side = useRef<HTMLDivElement>(null)
  const view = useRef<HTMLDivElement>(null)
  const opener = useRef<HTMLElement | null>(null)
  const path = open?.path ?? null
  const before = useRef(path)
  useEffect(() => {
    if (path === before.current) return
    before.current = path
    const focused = document.activeElement
    const isInSide = focused instanceof HTMLElement && side.current?.contains(focused) === true
    if (path !== null) {
      if (isInSide) opener.current = focused
      if (isInSide && !focused.checkVisibility()) view.current?.focus()
    } else if (focused === null || focused === document.body) {
      const stop = side.current?.querySelector<HTMLElement>(TREE_STOP)
      const target = opener.current?.checkVisibility() === true ? opener.current : stop
      target?.focus()
    }
  }, [path])
  return { side, view }
}
