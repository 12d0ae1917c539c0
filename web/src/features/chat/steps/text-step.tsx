// A text step of an answer: Markdown, rendered while it streams. The renderer loads with the first conversation.
import { memo } from 'react'
import { lazyPart } from '../../../ui/states/late.tsx'
import { PartBoundary } from '../../../ui/states/part-boundary.tsx'

const LazyMarkdown = lazyPart(() =>
  import('../../../ui/markdown/markdown.tsx').then((module) => module.Markdown),
)

/** Await it before the first text is rendered, so that raw Markdown never shows. */
export const loadMarkdown = LazyMarkdown.preload

/** Shows plain text until the renderer has loaded. */
export const TextStep = memo(function TextStep({
  text,
  growing = false,
}: {
  text: string
  /** Whether the text is still streaming. */
  growing?: boolean
}) {
  const plain = <div className="prose whitespace-pre-wrap">{text}</div>
  return (
    <PartBoundary instead={plain} fallback={plain} subject={text}>
      <LazyMarkdown text={text} growing={growing} />
    </PartBoundary>
  )
})
