// The preview of a text file: rendered Markdown, CSV as a table, or a running app. For PDF files, see binary-file.tsx.
import { appKindOf } from '../../../../server/protocol/app-kind.ts'
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

const AppFrame = lazyPart(() => import('./app-frame.tsx').then((module) => module.AppFrame))

/** The kinds of text with a preview. */
export type PreviewKind = 'markdown' | 'csv' | 'app'

/** The kind of preview of a file; null if it has none. */
export function previewOf(path: string): PreviewKind | null {
  if (/\.(?:csv|tsv)$/i.test(path)) return 'csv'
  const kind = appKindOf(path)
  return kind === null ? null : kind === 'document' ? 'markdown' : 'app'
}

/** Replaces the editor while the user looks at the preview. */
export function FilePreview({
  kind,
  projectId,
  path,
  text,
}: {
  kind: PreviewKind
  projectId: string
  path: string
  text: string
}) {
  if (kind === 'app')
    return (
      <PartBoundary fallback={<Loading />}>
        <AppFrame projectId={projectId} path={path} text={text} />
      </PartBoundary>
    )
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
