// Files of a tool result: images are shown, others can be downloaded.
import { classNames } from '../../../ui/class-names.ts'
import { ZoomableImage } from '../../../ui/overlays/zoomable-image.tsx'

type ArtifactFile = {
  name: string
  mime: string
  size: number
  data?: string | undefined
  file_id?: string | undefined
}

const SHOWN_IMAGE_TYPES = new Set([
  'image/png',
  'image/jpeg',
  'image/webp',
  'image/gif',
  'image/svg+xml',
])

/** Images are never run: an SVG inside `img` has neither scripts nor network. */
export function ArtifactFiles({
  files: all,
  isIndented = true,
  isSmall = false,
}: {
  files: readonly ArtifactFile[]
  /** Whether images are shown small: those that a tool has read, unlike those that it has created. */
  isSmall?: boolean
  /** Whether they begin where the title of a tool card does. */
  isIndented?: boolean
}) {
  // Files of the answer itself are shown below it.
  const files = all.filter(({ file_id }) => file_id === undefined)
  if (files.length === 0) return null
  return (
    <div className={classNames('flex flex-wrap items-end gap-3 pt-1 pb-2', isIndented && 'ps-9')}>
      {files.map(({ name, mime, data }) => {
        if (data === undefined)
          return (
            <span key={name} className="font-mono text-xs">
              {name}
            </span>
          )
        const address = data.startsWith('data:') ? data : `data:${mime};base64,${data}`
        return SHOWN_IMAGE_TYPES.has(mime) ? (
          <ZoomableImage
            key={name}
            source={address}
            name={name}
            fileName={name}
            className={classNames(
              'max-w-full rounded-lg border border-line bg-white object-contain',
              isSmall ? 'max-h-32' : 'max-h-96',
              // One without a size of its own would have none at all.
              mime === 'image/svg+xml' && 'w-xl',
            )}
          />
        ) : (
          <a
            key={name}
            href={address}
            download={name}
            className="font-mono text-xs text-accent underline"
          >
            {name}
          </a>
        )
      })}
    </div>
  )
}
