// A Mermaid diagram as an image that can switch to its source. Shows the source while drawing and if that fails.

import { ChartNetwork, Code, Download } from 'lucide-react'
import { useEffect, useMemo, useState } from 'react'
import { saveFile } from '../../lib/browser/save-file.ts'
import { useTranslation } from '../../lib/i18n/use-translation.tsx'
import { useTheme } from '../../lib/preferences/theme.ts'
import { ActionButton } from '../controls/action-button.tsx'
import { ZoomableImage } from '../overlays/zoomable-image.tsx'
import { ScrollRegion } from '../scroll-region.tsx'
import { CodeLines } from './code-lines.tsx'
import { CopyButton } from './copy-button.tsx'
import type { DiagramImage } from './diagram-messages.ts'
import { type Drawn, drawDiagram, drawnBefore } from './draw-diagram.ts'

/** A diagram that would have to be scaled below the first to fit gets the second and scrolls sideways: its text stays readable. */
const MIN_FITTING_SCALE = 0.45
const SCROLLING_SCALE = 0.6
const MAX_HEIGHT_PX = 512

function useDrawn(source: string, dark: boolean): Drawn | null {
  const [drawn, setDrawn] = useState<Drawn | null>(() => drawnBefore(source, dark) ?? null)
  useEffect(() => {
    let isUnmounted = false
    void drawDiagram(source, dark).then((result) => {
      if (!isUnmounted) setDrawn(result)
    })
    return () => {
      isUnmounted = true
    }
  }, [source, dark])
  return drawn
}

/** An object URL of the image, revoked on unmount. */
function useImageUrl(svg: string | null): string | null {
  const [url, setUrl] = useState<string | null>(null)
  useEffect(() => {
    if (svg === null) return
    const created = URL.createObjectURL(new Blob([svg], { type: 'image/svg+xml' }))
    setUrl(created)
    return () => URL.revokeObjectURL(created)
  }, [svg])
  return svg === null ? null : url
}

/** Keeps the image within its own size and the maximal height, and from shrinking to where its text is unreadable. */
function widthsOf({ width, height }: DiagramImage): { minWidth: string; maxWidth: number } {
  const fit = Math.min(1, MAX_HEIGHT_PX / height)
  const scrolling = width * Math.min(SCROLLING_SCALE, fit)
  const smallest = width * Math.min(MIN_FITTING_SCALE, fit)
  // 0 where the container (100 %) is at least `smallest` wide, else `scrolling`: a step instead of a slope.
  return {
    minWidth: `clamp(0px, (${smallest}px - 100%) * 9999, ${scrolling}px)`,
    maxWidth: width * fit,
  }
}

/** Keeps it known to the styles on which sides a scroller goes on. Returns the function that stops that. */
function watchEdges(scroller: HTMLElement | null): (() => void) | undefined {
  if (scroller === null) return undefined
  const mark = (): void => {
    const { scrollLeft, scrollWidth, clientWidth } = scroller
    scroller.toggleAttribute('data-before', scrollLeft > 1)
    scroller.toggleAttribute('data-after', scrollLeft < scrollWidth - clientWidth - 1)
  }
  const observer = new ResizeObserver(mark)
  observer.observe(scroller)
  for (const child of scroller.children) observer.observe(child)
  scroller.addEventListener('scroll', mark, { passive: true })
  return () => {
    observer.disconnect()
    scroller.removeEventListener('scroll', mark)
  }
}

/** The first line of Mermaid's error, which names the place. The rest repeats the source. */
const reasonIn = (error: string): string =>
  error.split('\n')[0]?.slice(0, 200).replace(/:$/, '') ?? ''

/** A diagram drawn in a sandboxed frame, which returns only an image. Drawn again when the theme changes. */
export function Diagram({ source }: { source: string }) {
  const { t } = useTranslation()
  const dark = useTheme((theme) => theme.dark)
  const drawn = useDrawn(source, dark)
  const image = drawn !== null && 'svg' in drawn ? drawn : null
  const url = useImageUrl(image?.svg ?? null)
  const [showsSource, setShowsSource] = useState(false)
  const failure = useMemo(
    () => (drawn !== null && 'error' in drawn ? reasonIn(drawn.error) : null),
    [drawn],
  )
  return (
    <figure dir="ltr" className="overflow-hidden rounded-xl border border-line bg-surface">
      <figcaption className="flex min-h-9 items-center gap-0.5 pe-1.5 ps-3.5 text-xs text-muted">
        <span className="flex-1 font-mono">mermaid</span>
        {image !== null && (
          <>
            <ActionButton
              icon={showsSource ? ChartNetwork : Code}
              label={t(showsSource ? 'prose.diagram.show' : 'prose.diagram.source')}
              onClick={() => setShowsSource(!showsSource)}
            />
            <ActionButton
              icon={Download}
              label={t('prose.diagram.download')}
              onClick={() =>
                saveFile(new Blob([image.svg], { type: 'image/svg+xml' }), 'diagram.svg')
              }
            />
          </>
        )}
        <CopyButton text={source} />
      </figcaption>
      {failure !== null && (
        <p role="note" className="px-3.5 pb-2 text-note text-warn">
          {failure === ''
            ? t('prose.diagram.failed')
            : t('prose.diagram.failedBecause', { reason: failure })}
        </p>
      )}
      {image !== null && url !== null && !showsSource ? (
        <div ref={watchEdges} className="sideways-edges overflow-x-auto px-3.5 pb-3.5">
          <div className="mx-auto" style={widthsOf(image)}>
            <ZoomableImage
              source={url}
              name={t('prose.diagram.name')}
              fileName="diagram.svg"
              className="block w-full"
            />
          </div>
        </div>
      ) : (
        <ScrollRegion
          as="pre"
          className="overflow-x-auto bg-surface px-3.5 pb-3.5 -outline-offset-2"
        >
          <CodeLines code={source} language="mermaid" />
        </ScrollRegion>
      )}
    </figure>
  )
}
