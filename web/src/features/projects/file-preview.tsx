// A file as it is meant to be read: Markdown drawn, CSV as a table. PDF is in binary-file.tsx.
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

/** The kinds of text that can be drawn. */
export type PreviewKind = 'markdown' | 'csv'

/** How a text file is previewed; null when its text says it all. */
export const previewOf = (path: string): PreviewKind | null =>
  /\.(?:md|markdown)$/i.test(path) ? 'markdown' : /\.(?:csv|tsv)$/i.test(path) ? 'csv' : null

/** In place of the editor while the person looks at the preview. */
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
            <Markdown text={text} />
          </div>
        ) : (
          <CsvTable alone name={path} text={text}>
            <pre className="font-mono text-[13px] whitespace-pre-wrap">{text}</pre>
          </CsvTable>
        )}
      </PartBoundary>
    </ScrollRegion>
  )
}
