// The preview of a text file: rendered Markdown, or CSV as a table. For PDF files, see binary-file.tsx.
import { ScrollRegion } from '../../ui/scroll-region.tsx'
import { Loading } from '../../ui/states/feedback.tsx'
import { lazyPart } from '../../ui/states/late.tsx'
import { PartBoundary } from '../../ui/states/part-boundary.tsx'

const Markdown = lazyPart(() =>
  import('../../ui/markdown/markdown.tsx').then((module) => module.Markdown),
)
const CsvTable = lazyPart(() =>
  import('../../ui/table/data-table.tsx').then((module) => module.CsvTable),
)

/** The kinds of text with a preview. */
export type PreviewKind = 'markdown' | 'csv'

/** The kind of preview of a file; null if it has none. */
export const previewOf = (path: string): PreviewKind | null =>
  /\.(?:md|markdown)$/i.test(path) ? 'markdown' : /\.(?:csv|tsv)$/i.test(path) ? 'csv' : null

/** Replaces the editor while the user looks at the preview. */
export function FilePreview({
  kind,
  path,
  text,
}: {
  kind: PreviewKind
  path: string
  text: string
}) {
  return (
    <ScrollRegion className="h-full overflow-auto px-5 py-4 -outline-offset-2">
      <PartBoundary fallback={<Loading />}>
        {kind === 'markdown' ? (
          <div className="mx-auto max-w-3xl">
            <Markdown text={text} isFile />
          </div>
        ) : (
          <CsvTable alone name={path} text={text}>
            <pre className="font-mono text-note whitespace-pre-wrap">{text}</pre>
          </CsvTable>
        )}
      </PartBoundary>
    </ScrollRegion>
  )
}
