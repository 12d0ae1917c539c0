// Prose of a model: formatted as soon as the Markdown module has been loaded, which a conversation's page waits for.
import { lazy, memo, Suspense, useState } from 'react'

let loaded: typeof import('./markdown.tsx').Markdown | null = null

/** To be awaited before the first prose is drawn, so that nobody sees it raw. */
export const loadMarkdown = async () => {
  const { Markdown } = await import('./markdown.tsx')
  loaded = Markdown
  return { default: Markdown }
}
const LazyMarkdown = lazy(loadMarkdown)

export const Prose = memo(function Prose({
  text,
  growing = false,
}: {
  text: string
  /** The text is still being written. */
  growing?: boolean
}) {
  // A component that is there is drawn at once; a lazy one shows its stand-in first, if only for a frame.
  const [Ready] = useState(() => loaded)
  if (Ready !== null) return <Ready text={text} growing={growing} />
  return (
    <Suspense fallback={<div className="prose whitespace-pre-wrap">{text}</div>}>
      <LazyMarkdown text={text} growing={growing} />
    </Suspense>
  )
})
