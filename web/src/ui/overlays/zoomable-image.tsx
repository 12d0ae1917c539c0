// An image in a text; pressing it shows it large, where it can be zoomed and saved.
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Lightbox } from './lightbox.tsx'

/** `fileName` is the name under which the image is saved. */
export function ZoomableImage({
  source,
  name,
  fileName,
  className,
}: {
  /** An address that the page may draw: a `data:` or `blob:` URL. */
  source: string
  /** What it shows, for the dialog's title and for readers who don't see it. */
  name: string
  /** The name under which it is saved. */
  fileName: string
  className?: string
}) {
  const { t } = useTranslation()
  const [open, setOpen] = useState(false)
  const shownName = name === '' ? t('prose.image.name') : name
  return (
    <>
      <button
        type="button"
        aria-label={t('composer.showImage', { name: shownName })}
        className="block max-w-full cursor-zoom-in rounded-[10px]"
        onClick={() => setOpen(true)}
      >
        <img src={source} alt={shownName} className={className} />
      </button>
      <Lightbox
        open={open}
        onOpenChange={setOpen}
        source={source}
        name={shownName}
        fileName={fileName}
      />
    </>
  )
}
