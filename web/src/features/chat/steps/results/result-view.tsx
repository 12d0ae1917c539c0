// Renders each kind of tool result. Loads with the first tool card that is unfolded.
import { useTranslation } from '../../../../lib/i18n/use-translation.tsx'
import { CsvTable, DataTable } from '../../../../ui/table/data-table.tsx'
import { FileLines, FileMatches, FolderTree } from './file-views.tsx'
import type { ResultKind } from './result-kinds.ts'
import { AgentAnswers, Calculation, Facts, PlainText, WeatherCard } from './small-views.tsx'
import { HitCards, PageCards, PassageCards } from './web-cards.tsx'

/** The only mapping from kinds to components. */
export function ResultView({ result }: { result: ResultKind }) {
  const { t } = useTranslation()
  const label = t('steps.result')
  switch (result.kind) {
    case 'hits':
      return <HitCards label={label} hits={result.hits} />
    case 'pages':
      return <PageCards label={label} pages={result.pages} />
    case 'passages':
      return <PassageCards label={label} passages={result.passages} />
    case 'matches':
      return (
        <>
          <FileMatches label={label} matches={result.matches} />
          {result.truncated && <p className="text-note text-muted">{t('results.moreMatches')}</p>}
        </>
      )
    case 'tree':
      return <FolderTree label={label} entries={result.entries} />
    case 'file':
      return <FileLines {...result} />
    case 'csv': {
      const { name, text, totalLines } = result
      const last = text.replace(/\n$/, '').split('\n').length
      return (
        <>
          <CsvTable name={name} text={text}>
            <FileLines path={name} text={text} firstLine={1} totalLines={totalLines} />
          </CsvTable>
          {last < totalLines && (
            <p className="text-note text-muted">
              {t('results.linesRead', { last, total: totalLines })}
            </p>
          )}
        </>
      )
    }
    case 'table':
      return <DataTable name="" table={result.table} />
    case 'calculation':
      return <Calculation expression={result.expression} result={result.result} />
    case 'weather':
      return <WeatherCard weather={result.weather} />
    case 'agents':
      return <AgentAnswers answers={result.answers} />
    case 'facts':
      return <Facts facts={result.facts} />
    case 'text':
      return <PlainText label={label} text={result.text} />
    default:
      return result satisfies never
  }
}
