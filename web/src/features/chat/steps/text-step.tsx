// A text step of an answer: Markdown, rendered while it streams. The renderer loads with the first conversation.
import { memo, useState } from 'react'
import { lazyPart } from '../../../ui/states/late.tsx'
import { PartBoundary } from '../../../ui/states/part-boundary.tsx'

let loaded: typeof import('../../../ui/markdown/markdown.tsx').Markdown | null = null

/** Await it before the first text is rendered, so that raw Markdown never shows. */
export const loadMarkdown = async () => {
  const { Markdown } = await import('../../../ui/markdown/markdown.tsx')
  loaded = Markdown
  return Markdown
}
const LazyMarkdown = lazyPart(loadMarkdown)

/** Shows plain text until the renderer has loaded. */
export const TextStep = memo(function TextStep({
  text,
  growing = false,
}: {
  text: string
  /** Whether the text is still streaming. */
  growing?: boolean
}) {
  // A loaded component renders at once; a lazy one shows its fallback for at least a frame.
  const [Ready] = useState(() => loaded)
  const plain = <div className="prose whitespace-pre-wrap">{text}</div>
  return (
    <PartBoundary instead={plain} subject={text} {...(Ready === null ? { fallback: plain } : {})}>
      {Ready === null ? (
        <LazyMarkdown text={text} growing={growing} />
      ) : (
        <Ready text={text} growing={growing} />
      )}
    </PartBoundary>
  )
})
