// Images on the server, as a thumbnail or full size in a dialog.
import { type CSSProperties, useState } from 'react'
import type { StoredAttachment } from '../../../../../server/protocol/conversations/message.ts'
import { useTranslation } from '../../../lib/i18n/use-translation.tsx'
import { Lightbox } from '../../../ui/overlays/lightbox.tsx'
import { useLoadedBlob } from './loaded-blob.ts'

/** The path of an attachment's thumbnail; null for other files and for attachments without a file. */
export const thumbnailOf = (
  file: Pick<StoredAttachment, 'file_id' | 'mime' | 'url'>,
): string | null =>
  file.mime.startsWith('image/')
    ? file.file_id === undefined
      ? file.url
      : `${file.url}?thumb=1`
    : null

/** A small image next to a file name. */
export function SmallImage({ url }: { url: string }) {
  const source = useLoadedBlob(url)
  return source === null ? (
    <span className="size-7 rounded-md bg-sunken" />
  ) : (
    <img src={source} alt="" className="size-7 rounded-md object-cover" />
  )
}

/** What an image in an answer takes of the page, in rem: a tall one is higher, so that it is wide enough to be looked at. */
const MAX_HEIGHT_REM = 36
const MIN_WIDTH_REM = 24
const MAX_TALL_HEIGHT_REM = 60

/** The room that an image takes before it has loaded, so that nothing moves then; none if its size is unknown. */
function roomOf({ width, height }: StoredAttachment): CSSProperties {
  if (width === undefined || height === undefined || width === 0 || height === 0) return {}
  const ratio = width / height
  const tall = Math.min(MIN_WIDTH_REM, MAX_TALL_HEIGHT_REM * ratio)
  const room = Math.max(MAX_HEIGHT_REM * ratio, tall)
  return { aspectRatio: ratio, width: `min(100%, ${width}px, ${room.toFixed(2)}rem)` }
}

/** An image of an answer, in its own shape and as wide as it is or the page allows. */
export function LargeImage({ file }: { file: StoredAttachment }) {
  const { t } = useTranslation()
  const [open, setOpen] = useState(false)
  const source = useLoadedBlob(file.url)
  const room = roomOf(file)
  return (
    <li className="w-full min-w-0">
      <button
        type="button"
        aria-label={t('composer.showImage', { name: file.name })}
        className="block max-w-full min-w-9 overflow-hidden rounded-[14px] border border-line bg-sunken hover:border-line-strong"
        style={room}
        onClick={() => setOpen(true)}
      >
        {source === null ? (
          room.width === undefined && <span className="block size-36" />
        ) : (
          <img
            src={source}
            alt=""
            className={room.width === undefined ? 'max-h-[36rem] max-w-full' : 'size-full'}
          />
        )}
      </button>
      <span className="mt-1 block truncate px-1 text-[0.75rem] text-muted">{file.name}</span>
      {open && (
        <Lightbox
          open
          onOpenChange={() => setOpen(false)}
          source={source}
          name={file.name}
          fileName={file.name}
        />
      )}
    </li>
  )
}

/** An image of a message; pressing it opens the full image. */
export function ImageTile({ file, thumbnail }: { file: StoredAttachment; thumbnail: string }) {
  const { t } = useTranslation()
  const [open, setOpen] = useState(false)
  const source = useLoadedBlob(thumbnail)
  return (
    <li>
      <button
        type="button"
        aria-label={t('composer.showImage', { name: file.name })}
        className="block size-36 overflow-hidden rounded-[14px] border border-line bg-sunken hover:border-line-strong"
        onClick={() => setOpen(true)}
      >
        {source !== null && <img src={source} alt="" className="size-full object-cover" />}
      </button>
      <span className="mt-1 block max-w-36 truncate px-1 text-[0.75rem] text-muted">
        {file.name}
      </span>
      {open && <WholeImage file={file} onClose={() => setOpen(false)} />}
    </li>
  )
}

function WholeImage({ file, onClose }: { file: StoredAttachment; onClose: () => void }) {
  const source = useLoadedBlob(file.url)
  return (
    <Lightbox open onOpenChange={onClose} source={source} name={file.name} fileName={file.name} />
  )
}
