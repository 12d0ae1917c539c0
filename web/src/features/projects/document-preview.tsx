// The preview of an Office or PDF file: its content without its layout. Everything is shown as plain text.
import { Tabs } from 'radix-ui'
import type { ReactNode } from 'react'
import type {
  DocumentPreview as Preview,
  PreviewBlock,
} from '../../../../server/protocol/projects/preview.ts'
import { gapAfter } from '../../lib/format.ts'
import { refusalText } from '../../lib/http/refusal-text.ts'
import { shownDirection } from '../../lib/i18n/direction.ts'
import { useTranslation } from '../../lib/i18n/use-translation.tsx'
import { atPlaces } from '../../lib/list-keys.ts'
import { classNames } from '../../ui/class-names.ts'
import { ScrollRegion } from '../../ui/scroll-region.tsx'
import { errorText } from '../../ui/states/error-text.ts'
import { Failed, Loading } from '../../ui/states/feedback.tsx'
import { DataTable } from '../../ui/table/data-table.tsx'
import { tableFromRows } from '../../ui/table/table-data.ts'
import { useDocumentPreview } from './api/files.ts'

/** Loads and shows the preview; a file that cannot be read says why. */
export function DocumentPreview({ projectId, path }: { projectId: string; path: string }) {
  const { t } = useTranslation()
  const file = useDocumentPreview(projectId, path)
  if (file.isPending) return <Loading />
  const retry = (): void => void file.refetch()
  if (file.isLoadingError) return <Failed message={errorText(file.error)} onRetry={retry} />
  const { preview, error, reason, params } = file.data
  if (preview === null)
    return (
      <Failed
        message={t('composer.problem.unreadable', {
          name: path.split('/').at(-1) ?? path,
          reason: refusalText({ reason, params, message: error ?? '' }),
        })}
        onRetry={retry}
      />
    )
  return <Shown preview={preview} />
}

function Shown({ preview }: { preview: Preview }) {
  switch (preview.kind) {
    case 'text':
      return (
        <Page isCut={preview.truncated}>
          <article className="mx-auto flex w-full max-w-3xl flex-col gap-3 text-message leading-relaxed">
            {atPlaces(preview.blocks).map(({ place, item }) => (
              <Block key={place} block={item} />
            ))}
          </article>
        </Page>
      )
    case 'sheets':
      return <Sheets sheets={preview.sheets} isCut={preview.truncated} />
    case 'slides':
      return (
        <Page isCut={preview.truncated}>
          {preview.slides.map(({ number, text, notes }) => (
            <Slide key={number} number={number} text={text} notes={notes} />
          ))}
        </Page>
      )
    case 'pages':
      return <Pages pages={preview.pages} isCut={preview.truncated} />
  }
}

/** The view scrolls. `isCut`: the document goes on. */
function Page({ isCut, children }: { isCut: boolean; children: ReactNode }) {
  const { t } = useTranslation()
  return (
    <ScrollRegion className="flex h-full flex-col gap-4 overflow-auto px-5 py-4 -outline-offset-2">
      {children}
      {isCut && <p className="text-center text-note text-muted">{t('files.previewCut')}</p>}
    </ScrollRegion>
  )
}

/** Below the heading of the page. */
const HEADINGS = ['h2', 'h3', 'h4', 'h5', 'h6'] as const
const HEADING_CLASSES = ['text-2xl', 'text-xl', 'text-lg'] as const

function Block({ block }: { block: PreviewBlock }) {
  switch (block.kind) {
    case 'heading': {
      const Heading = HEADINGS[block.level - 1] ?? 'h6'
      return (
        <Heading
          dir="auto"
          className={classNames(
            'pt-2 font-semibold',
            HEADING_CLASSES[block.level - 1] ?? 'text-base',
          )}
        >
          {block.text}
        </Heading>
      )
    }
    case 'paragraph':
      return <p dir="auto">{block.text}</p>
    case 'item':
      return (
        <p dir="auto" className="flex gap-2" style={{ paddingInlineStart: `${block.level}rem` }}>
          <span aria-hidden className="text-muted">
            •
          </span>
          {block.text}
        </p>
      )
    case 'table':
      return (
        <ScrollRegion className="overflow-x-auto rounded-lg border border-line -outline-offset-2">
          <table className="w-full border-collapse text-note">
            <tbody>
              {atPlaces(block.rows).map(({ place: row, item: cells }) => (
                <tr key={row} className="border-b border-line last:border-b-0">
                  {atPlaces(cells).map(({ place: column, item: cell }) => (
                    <td key={column} dir="auto" className="px-3 py-1.5 align-top">
                      {cell}
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </ScrollRegion>
      )
  }
}

type SheetsOf = Extract<Preview, { kind: 'sheets' }>['sheets']

/** A tab for each sheet, below the table as in spreadsheets. */
function Sheets({ sheets, isCut }: { sheets: SheetsOf; isCut: boolean }) {
  const { t } = useTranslation()
  return (
    <Tabs.Root dir={shownDirection()} defaultValue="0" className="flex h-full flex-col">
      {atPlaces(sheets).map(({ place, item: { name, rows, total_rows: total } }) => (
        <Tabs.Content
          key={place}
          value={String(place)}
          tabIndex={-1}
          className="min-h-0 flex-1 outline-none"
        >
          <Page isCut={isCut && rows.length < total}>
            {rows.length === 0 ? (
              <p className="text-note text-muted">{t('files.emptySheet')}</p>
            ) : (
              <DataTable alone name={name} table={tableFromRows(rows, total - 1)} />
            )}
          </Page>
        </Tabs.Content>
      ))}
      <Tabs.List
        aria-label={t('files.sheets')}
        className="flex shrink-0 gap-1 overflow-x-auto border-t border-line px-2 py-1"
      >
        {atPlaces(sheets).map(({ place, item: { name } }) => (
          <Tabs.Trigger
            key={place}
            value={String(place)}
            className="h-8 shrink-0 rounded-md px-2.5 text-note text-soft -outline-offset-2 hover:text-ink pointer-coarse:h-11 data-[state=active]:bg-hover data-[state=active]:font-medium data-[state=active]:text-ink"
          >
            {name}
          </Tabs.Trigger>
        ))}
      </Tabs.List>
    </Tabs.Root>
  )
}

function Slide({ number, text, notes }: { number: number; text: string; notes: string }) {
  const { t } = useTranslation()
  const [title = '', ...lines] = text.split('\n')
  return (
    <section
      aria-label={t('files.slide', { number })}
      className="mx-auto flex w-full max-w-2xl flex-col gap-2 rounded-xl border border-line bg-surface px-5 py-4"
    >
      <p className="text-xs text-muted">{t('files.slide', { number })}</p>
      {title !== '' && (
        <p dir="auto" className="text-lg font-semibold">
          {title}
        </p>
      )}
      {lines.length > 0 && (
        <p dir="auto" className="whitespace-pre-line">
          {lines.join('\n')}
        </p>
      )}
      {notes !== '' && (
        <p dir="auto" className="border-t border-line pt-2 text-note whitespace-pre-line text-soft">
          <span className="font-medium">{t('files.notes')}</span>
          {gapAfter(t('files.notes'))}
          {notes}
        </p>
      )}
    </section>
  )
}

type PagesOf = Extract<Preview, { kind: 'pages' }>['pages']

/** The text of a PDF by page, for browsers that cannot show PDF files. */
function Pages({ pages, isCut }: { pages: PagesOf; isCut: boolean }) {
  const { t } = useTranslation()
  return (
    <Page isCut={isCut}>
      {pages.map(({ number, text }) => (
        <section key={number} className="mx-auto flex w-full max-w-3xl flex-col gap-1">
          <p className="text-xs text-muted">{t('files.page', { number })}</p>
          <p dir="auto" className="whitespace-pre-line">
            {text}
          </p>
        </section>
      ))}
    </Page>
  )
}
