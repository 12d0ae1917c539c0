// The quotes of an answer for its text and its list, and the dialog with the open passage.
import { type ReactNode, useMemo, useState } from 'react'
import type { ShownCitation } from '../../../../../server/protocol/conversations/citation.ts'
import type { Quotes } from '../../../ui/markdown/citation-context.ts'
import { lazyPart } from '../../../ui/states/late.tsx'
import { PartBoundary } from '../../../ui/states/part-boundary.tsx'

const QuoteDialog = lazyPart(() =>
  import('./quote-dialog.tsx').then((module) => module.QuoteDialog),
)

/** `quotes` is for the text; null without quotes. The caller renders `dialog`. */
export function useAnswerQuotes(
  citations: readonly ShownCitation[] | undefined,
  { conversationId, messageId }: { conversationId: string; messageId: string },
): { quotes: Quotes | null; open: (id: string) => void; dialog: ReactNode } {
  const [opened, setOpened] = useState<string | null>(null)
  const quotes = useMemo<Quotes | null>(() => {
    if (citations === undefined || citations.length === 0) return null
    const titles = new Map(citations.map(({ id, title }) => [String(id), title]))
    return { titleOf: (id) => titles.get(id), open: setOpened }
  }, [citations])
  const dialog =
    opened === null ? null : (
      <PartBoundary fallback={null} isOver onClose={() => setOpened(null)}>
        <QuoteDialog
          conversationId={conversationId}
          messageId={messageId}
          id={opened}
          onClose={() => setOpened(null)}
        />
      </PartBoundary>
    )
  return { quotes, open: setOpened, dialog }
}
