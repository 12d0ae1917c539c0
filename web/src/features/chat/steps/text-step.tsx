// A text step of an answer: Markdown, drawn while it streams. The Markdown module loads with the first conversation.
import { lazy, memo, Suspense, useState } from 'react'

let loaded: typeof import('../../../ui/markdown/markdown.tsx').Markdown | null = null

/** Await this before the first text is drawn, so that nobody sees raw Markdown. */
export const loadMarkdown = async () => {
  const { Markdown } = await import('../../../ui/markdown/markdown.tsx')
  loaded = Markdown
  return { default: Markdown }
}
const LazyMarkdown = lazy(loadMarkdown)

export const TextStep = memo(function TextStep({
  text,
  growing = false,
}: {
  text: string
  /** The text is still streaming. */
  growing?: boolean
}) {
  // A loaded component draws at once; a lazy one shows its fallback for at least a frame.
  const [Ready] = useState(() => loaded)
  if (Ready !== null) return <Ready text={text} growing={growing} />
  return (
    <Suspense fallback={<div className="prose whitespace-pre-wrap">{text}</div>}>
      <LazyMarkdown text={text} growing={growing} />
    </Suspense>
  )
})
