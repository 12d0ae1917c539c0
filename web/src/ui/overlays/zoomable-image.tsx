// An image that opens in a lightbox when pressed.
import { useState } from 'react'
import { useTranslation } from '../../lib/i18n/use-translation.tsx'
import { Lightbox } from './lightbox.tsx'

/** An image in a text, as a button that opens the lightbox. */
export function ZoomableImage({
  source,
  name,
  fileName,
  className,
}: {
  /** A `data:` or `blob:` URL, which the content security policy allows. */
  source: string
  /** What the image shows: the dialog's title and the text alternative. */
  name: string
  /** The file name for saving it. */
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
