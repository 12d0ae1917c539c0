// Attachments of a message: images as tiles, recordings with a player, other files as chips. Chosen files are chips that can be removed.

import { AudioLines, FileText, LoaderCircle, X } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { Link } from 'wouter'
import type { StoredAttachment } from '../../../../../server/protocol/conversations/message.ts'
import { isRecording } from '../../../../../server/protocol/conversations/recording.ts'
import { encodingName } from '../../../lib/encodings.ts'
import { percent } from '../../../lib/format.ts'
import { useTranslation } from '../../../lib/i18n/use-translation.tsx'
import { keyed } from '../../../lib/list-keys.ts'
import { paths } from '../../../lib/paths.ts'
import { classNames } from '../../../ui/class-names.ts'
import { lazyView } from '../../../ui/states/late.tsx'
import { PartBoundary } from '../../../ui/states/part-boundary.tsx'
import type { AttachedFile, ChosenFile } from './attachments.ts'
import { Recording } from './recording.tsx'
import { ImageTile, LargeImage, SmallImage, thumbnailOf } from './stored-image.tsx'

const FileDialog = lazyView(() => import('./file-dialog.tsx').then((module) => module.FileDialog))

/** The attachments of a stored message; `atEnd`: of a question, otherwise what an answer has made. */
export function AttachmentChips({
  attachments,
  atEnd = true,
}: {
  attachments: readonly StoredAttachment[]
  atEnd?: boolean
}) {
  return (
    <ChipList atEnd={atEnd}>
      {keyed(attachments, ({ name, url }) => `${name} ${url}`).map(({ key, item: file }) => {
        if (isRecording(file.mime)) return <Recording key={key} file={file} />
        const thumbnail = thumbnailOf(file)
        return thumbnail === null ? (
          <Chip
            key={key}
            name={file.name}
            picture={null}
            pages={file.pages}
            document={file.document}
            opens={file.file_id}
          />
        ) : !atEnd && file.file_id !== undefined ? (
          <LargeImage key={key} file={file} />
        ) : (
          <ImageTile key={key} file={file} thumbnail={thumbnail} />
        )
      })}
    </ChipList>
  )
}

/** The files of a message that is being written, or, without `onRemove`, sent. */
export function ChosenFileChips({
  files,
  atEnd = false,
  onRemove,
  onRead,
}: {
  files: readonly ChosenFile[]
  atEnd?: boolean
  onRemove?: (key: number) => void
  /** Receives a file whose text was read in another encoding. */
  onRead?: (key: number, file: AttachedFile) => void
}) {
  return (
    <ChipList atEnd={atEnd}>
      {files.map(({ key, name, uploaded, sentPercent }) => (
        <Chip
          key={key}
          name={name}
          uploading={uploaded === null}
          sentPercent={uploaded === null ? sentPercent : undefined}
          picture={
            uploaded === null
              ? null
              : thumbnailOf({ ...uploaded, file_id: uploaded.id, url: `/api/files/${uploaded.id}` })
          }
          pages={uploaded?.pages}
          encoding={uploaded?.encoding}
          opens={uploaded?.id}
          isSound={uploaded !== null && isRecording(uploaded.mime)}
          {...(onRead === undefined ? {} : { onRead: (file) => onRead(key, file) })}
          {...(onRemove === undefined ? {} : { onRemove: () => onRemove(key) })}
        />
      ))}
    </ChipList>
  )
}

function ChipList({
  atEnd = false,
  children,
}: {
  atEnd?: boolean
  children: readonly ReactNode[]
}) {
  const { t } = useTranslation()
  if (children.length === 0) return null
  return (
    <ul
      className={classNames('flex flex-wrap items-end gap-2', atEnd && 'justify-end')}
      aria-label={t('composer.attachments')}
    >
      {children}
    </ul>
  )
}

function Chip({
  name,
  picture,
  pages,
  encoding = 'utf-8',
  document,
  opens,
  isSound = false,
  uploading = false,
  sentPercent,
  onRemove,
  onRead,
}: {
  name: string
  picture: string | null
  pages: number | undefined
  /** The encoding in which a text was read. */
  encoding?: string | undefined
  /** The state of the file in the project's knowledge base. */
  document?: StoredAttachment['document']
  /** The file that the chip shows in a dialog. */
  opens?: string | undefined
  isSound?: boolean
  uploading?: boolean
  /** How much of it has been sent. All of it: the server still reads it. */
  sentPercent?: number | undefined
  onRemove?: () => void
  onRead?: (file: AttachedFile) => void
}) {
  const { t, i18n } = useTranslation()
  const [open, setOpen] = useState(false)
  return (
    <li
      aria-busy={uploading}
      className={classNames(
        'relative flex h-10 max-w-60 pointer-coarse:h-auto pointer-coarse:min-h-11 items-center gap-2 rounded-[10px] border border-line bg-paper pe-2 ps-1.5 text-note',
        opens !== undefined && 'hover:border-line-strong',
      )}
    >
      {uploading ? (
        <span className="grid size-7 place-items-center rounded-md bg-sunken text-muted">
          <LoaderCircle size={14} className="animate-spin" aria-label={t('composer.uploading')} />
        </span>
      ) : picture !== null ? (
        <SmallImage url={picture} />
      ) : (
        <span className="grid size-7 place-items-center rounded-md bg-sunken text-muted">
          {isSound ? <AudioLines size={14} aria-hidden /> : <FileText size={14} aria-hidden />}
        </span>
      )}
      <span className="flex min-w-0 flex-col leading-tight">
        {opens === undefined ? (
          <span className="truncate">{name}</span>
        ) : (
          <button
            type="button"
            aria-label={t('composer.showImage', { name })}
            // The whole chip is its target.
            className="truncate text-start after:absolute after:inset-0 after:rounded-[10px]"
            onClick={() => setOpen(true)}
          >
            {name}
          </button>
        )}
        {encoding !== 'utf-8' && (
          <span className="truncate text-[0.71875rem] text-muted">
            {t('composer.readAs', { encoding: encodingName(encoding) })}
          </span>
        )}
        {document !== undefined && (
          <Link
            href={paths.projectDocument(document.project_id, {
              id: document.id,
              passage: 0,
              marks: [],
            })}
            className="relative z-1 truncate text-[0.71875rem] text-muted hover:text-ink hover:underline"
          >
            {t('composer.inKnowledge')}
          </Link>
        )}
      </span>
      {sentPercent !== undefined && sentPercent < 100 && (
        <span className="shrink-0 text-muted tabular-nums">
          {percent(sentPercent / 100, i18n.language)}
        </span>
      )}
      {pages !== undefined && (
        <span className="shrink-0 text-muted">{t('composer.pages', { count: pages })}</span>
      )}
      {onRemove !== undefined && (
        <button
          type="button"
          aria-label={t('composer.removeAttachment', { name })}
          className="relative z-1 grid size-5 place-items-center rounded text-muted hover:bg-hover hover:text-ink"
          onClick={onRemove}
        >
          <X size={13} aria-hidden />
        </button>
      )}
      {open && opens !== undefined && (
        <PartBoundary fallback={null} isOver subject={opens} onClose={() => setOpen(false)}>
          <FileDialog
            id={opens}
            page={null}
            marks={[]}
            {...(onRead === undefined ? {} : { onRead })}
            onClose={() => setOpen(false)}
          />
        </PartBoundary>
      )}
    </li>
  )
}
