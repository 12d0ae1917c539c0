// The sources of an answer for its text and its list, and the dialog with the open passage.
import { type ReactNode, useContext, useMemo, useState } from 'react'
import type { Step } from '../../../../../server/protocol/runs/step.ts'
import { type Source, sourceAt } from '../../../../../server/protocol/sources/source.ts'
import type { Citation, Citations } from '../../../ui/markdown/citation-context.ts'
import { lazyPart, prefetch } from '../../../ui/states/late.tsx'
import { lateValue } from '../../../ui/states/late-value.ts'
import { PartBoundary } from '../../../ui/states/part-boundary.tsx'
import { ConversationContext } from '../conversation-context.ts'
import { useSourceText } from './source-text.ts'

const PassageDialog = lazyPart(() =>
  import('../../../ui/overlays/passage-dialog.tsx').then((module) => module.PassageDialog),
)

const loadReader = () =>
  import('../../../../../server/protocol/sources/answer-sources.ts').then(
    (module) => module.sourcesOf,
  )
prefetch(loadReader)
/** Reads the sources from tool results. Until it has loaded, citations are plain text. */
const useSourceReader = lateValue(loadReader)

const NO_SOURCES: readonly Source[] = []

/** `onOpen` is null outside a project, because only documents of the project can be opened. The caller renders `dialog`. */
export function useAnswerSources(steps: readonly Step[]): {
  sources: readonly Source[]
  /** The sources for the text; null without sources. */
  citations: Citations | null
  onOpen: ((source: Source) => void) | null
  /** The dialog with the open passage. */
  dialog: ReactNode
} {
  const { projectId } = useContext(ConversationContext)
  const [passage, setPassage] = useState<Source | null>(null)
  const describe = useSourceText()
  // Steps change with every piece of text, but sources only with a tool result.
  const results = steps.flatMap((step) => (step?.type === 'tool_result' ? [step.id] : [])).join()
  const reader = useSourceReader(results !== '')
  // biome-ignore lint/correctness/useExhaustiveDependencies: the ids of the results identify the relevant steps
  const sources = useMemo(() => reader?.(steps) ?? NO_SOURCES, [results, reader])
  const openable = projectId !== null
  const citations = useMemo<Citations | null>(() => {
    const citationOf = (source: Source | undefined): Citation | undefined => {
      if (source === undefined) return undefined
      const { title, place } = describe(source)
      const { number } = source
      return source.kind === 'web'
        ? { number, title, place, text: source.text ?? '', url: source.url }
        : { number, title, place, ...(openable ? { open: () => setPassage(source) } : {}) }
    }
    if (sources.length === 0) return null
    return {
      count: sources.length,
      byNumber: (number) => citationOf(sources[number - 1]),
      byUrl: (url) => citationOf(sourceAt(sources, url)),
    }
  }, [sources, describe, openable])
  const dialog =
    passage?.kind === 'passage' && projectId !== null ? (
      <PartBoundary fallback={null} isOver onClose={() => setPassage(null)}>
        <PassageDialog
          projectId={projectId}
          documentId={passage.documentId}
          position={passage.position}
          onClose={() => setPassage(null)}
        />
      </PartBoundary>
    ) : null
  return { sources, citations, onOpen: openable ? setPassage : null, dialog }
}
