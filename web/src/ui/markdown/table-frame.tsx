// A table in Markdown that scrolls if it is wide, with buttons to copy it for a spreadsheet and to save it.

import { Download } from 'lucide-react'
import { type ReactNode, useRef } from 'react'
import { copyRich } from '../../lib/browser/copy-text.ts'
import { saveFile } from '../../lib/browser/save-file.ts'
import { useTranslation } from '../../lib/i18n/use-translation.tsx'
import { ActionButton } from '../controls/action-button.tsx'
import { ScrollRegion } from '../scroll-region.tsx'
import { CopyButton } from './copy-button.tsx'
import { plainHtml, tableText } from './plain-html.ts'

/** A table as it is shown. */
export function TableFrame({
  children,
  dir,
  growing = false,
}: {
  /** The content of the `table` element. */
  children: ReactNode
  /** The writing direction of the text. */
  dir: string | undefined
  /** Whether rows may still be added. */
  growing?: boolean
}) {
  const { t } = useTranslation()
  const table = useRef<HTMLTableElement>(null)
  return (
    <div className="table-box">
      <div className="table-sheet">
        <ScrollRegion className="table-frame" dir={dir}>
          <table ref={table} data-growing={growing ? '' : undefined}>
            {children}
          </table>
        </ScrollRegion>
        <div className="table-tools">
          <CopyButton
            label={t('prose.table.copy')}
            copy={async () =>
              table.current !== null &&
              copyRich({
                text: tableText(table.current, '\t'),
                html: `<table>${plainHtml(table.current)}</table>`,
              })
            }
          />
          <ActionButton
            icon={Download}
            label={t('results.download')}
            onClick={() => {
              if (table.current === null) return
              // The byte order mark makes spreadsheets recognize UTF-8.
              const csv = `\ufeff${tableText(table.current, ',')}`
              saveFile(new Blob([csv], { type: 'text/csv' }), 'table.csv')
            }}
          />
        </div>
      </div>
    </div>
  )
}
