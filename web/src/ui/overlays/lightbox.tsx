// A dialog with an image that fits the window at first and can be zoomed, scrolled and saved.

import { Download, Minus, Plus, Scan } from 'lucide-react'
import { useState } from 'react'
import { useTranslation } from '../../lib/i18n/use-translation.tsx'
import { ScrollRegion } from '../scroll-region.tsx'
import { Dialog } from './dialog.tsx'

const ZOOM_STEP = 1.5
const MIN_ZOOM = 1
const MAX_ZOOM = 8

/** Shows the image `source` in a dialog with the title `name`. `fileName` is the name for saving it. */
export function Lightbox({
  open,
  onOpenChange,
  source,
  name,
  fileName,
}: {
  open: boolean
  onOpenChange: (open: boolean) => void
  /** Null while the image is loading. */
  source: string | null
  name: string
  fileName: string
}) {
  const { t } = useTranslation()
  const [zoom, setZoom] = useState(MIN_ZOOM)
  const change = (next: number): void => setZoom(Math.min(MAX_ZOOM, Math.max(MIN_ZOOM, next)))
  const toolClass =
    'grid size-9 place-items-center rounded-lg text-soft hover:bg-hover hover:text-ink disabled:opacity-40'
  return (
    <Dialog
      open={open}
      onOpenChange={(next) => {
        setZoom(MIN_ZOOM)
        onOpenChange(next)
      }}
      title={name}
      width="full"
      footer={
        <div className="flex w-full items-center justify-center gap-1">
          <button
            type="button"
            className={toolClass}
            aria-label={t('prose.image.smaller')}
            disabled={zoom === MIN_ZOOM}
            onClick={() => change(zoom / ZOOM_STEP)}
          >
            <Minus size={17} aria-hidden />
          </button>
          <button
            type="button"
            className={toolClass}
            aria-label={t('prose.image.fit')}
            disabled={zoom === MIN_ZOOM}
            onClick={() => change(MIN_ZOOM)}
          >
            <Scan size={17} aria-hidden />
          </button>
          <button
            type="button"
            className={toolClass}
            aria-label={t('prose.image.larger')}
            disabled={zoom === MAX_ZOOM}
            onClick={() => change(zoom * ZOOM_STEP)}
          >
            <Plus size={17} aria-hidden />
          </button>
          {source !== null && (
            <a
              href={source}
              download={fileName}
              className={toolClass}
              aria-label={t('prose.image.download')}
            >
              <Download size={17} aria-hidden />
            </a>
          )}
        </div>
      }
    >
      <ScrollRegion className="h-[74dvh] overflow-auto rounded-lg bg-surface">
        <div
          className="grid place-items-center p-2"
          style={{ width: `${zoom * 100}%`, height: `${zoom * 100}%` }}
        >
          {source !== null && <img src={source} alt={name} className="size-full object-contain" />}
        </div>
      </ScrollRegion>
    </Dialog>
  )
}
