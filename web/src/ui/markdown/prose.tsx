// Prose of a model: plain text until the Markdown room has been loaded, then formatted.
import { lazy, memo, Suspense } from 'react'

const loadMarkdown = () => import('./markdown.tsx').then((module) => ({ default: module.Markdown }))
const LazyMarkdown = lazy(loadMarkdown)

export const Prose = memo(function Prose({ text }: { text: string }) {
  return (
    <Suspense fallback={<div className="prose whitespace-pre-wrap">{text}</div>}>
      <LazyMarkdown text={text} />
    </Suspense>
  )
})
