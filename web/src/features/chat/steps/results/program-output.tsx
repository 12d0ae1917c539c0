// Views of a program's output: a command in its terminal, and Python with its value, tables and files.
import { SquareTerminal } from 'lucide-react'
import { useMemo } from 'react'
import { useTranslation } from '../../../../lib/i18n/use-translation.tsx'
import { classNames } from '../../../../ui/class-names.ts'
import { CodeBlock } from '../../../../ui/markdown/code-block.tsx'
import { CsvTable, DataTable } from '../../../../ui/table/data-table.tsx'
import { tableFromList } from '../../../../ui/table/table-data.ts'
import { TerminalOutput } from '../terminal-output.tsx'
import { csvFilesIn, readAnything } from './result-kinds.ts'
import { PlainText } from './small-views.tsx'

/** The output so far, or the complete one. */
export type ProgramOutput = {
  stdout: string
  stderr: string
  /** Absent while the program runs, and for Python. */
  exitCode?: number | null
  timedOut?: boolean
  /** The value of a Python program's last expression. */
  value?: unknown
}

const COMMAND_CHARACTERS = 4_000

/** `output` is null while there is no result; `running`: whether the program has not ended. */
export function CommandOutput({
  command,
  output,
  running,
}: {
  command: string
  output: ProgramOutput | null
  running: boolean
}) {
  const { t } = useTranslation()
  return (
    <div className="flex flex-col gap-2">
      <div className="flex items-start gap-2 rounded-lg border border-line bg-sunken px-3 py-2">
        <SquareTerminal size={14} aria-hidden className="mt-0.5 shrink-0 text-muted" />
        <code
          dir="ltr"
          className="max-h-40 min-w-0 flex-1 overflow-auto bg-sunken font-mono text-code whitespace-pre-wrap [overflow-wrap:anywhere]"
        >
          {command.slice(0, COMMAND_CHARACTERS)}
        </code>
        {output !== null && !running && <Ending output={output} />}
      </div>
      {output !== null && <Streams output={output} />}
      {output !== null && !running && output.stdout === '' && output.stderr === '' && (
        <p className="text-note text-muted">{t('results.noOutput')}</p>
      )}
    </div>
  )
}

/** Shows how the command ended. */
function Ending({ output: { exitCode, timedOut } }: { output: ProgramOutput }) {
  const { t } = useTranslation()
  const hasExited = timedOut !== true && typeof exitCode === 'number'
  if (timedOut !== true && !hasExited) return null
  const failed = !hasExited || exitCode !== 0
  return (
    <span
      className={classNames(
        'shrink-0 rounded-full px-2 text-xs leading-5',
        failed ? 'bg-bad-soft text-bad' : 'bg-ok-soft text-ok',
      )}
    >
      {hasExited ? t('steps.exitCode', { code: exitCode }) : t('results.timedOut')}
    </span>
  )
}

function Streams({ output }: { output: ProgramOutput }) {
  const { t } = useTranslation()
  return (
    <>
      {output.stdout !== '' && <TerminalOutput label={t('steps.output')} text={output.stdout} />}
      {output.stderr !== '' && (
        <TerminalOutput label={t('steps.errorOutput')} text={output.stderr} tone="bad" />
      )}
    </>
  )
}

/** The text in a data URL; empty if it cannot be decoded. */
function textOf(address: string): string {
  try {
    const base64 = address.slice(address.indexOf(',') + 1)
    return new TextDecoder().decode(Uint8Array.from(atob(base64), (one) => one.charCodeAt(0)))
  } catch {
    return ''
  }
}

/** A Python program and, once there is some, its output. */
export function PythonOutput({
  code,
  output,
  artifact,
}: {
  code: string
  output: ProgramOutput | null
  artifact: unknown
}) {
  return (
    <>
      <CodeBlock code={code} language="python" />
      <PythonResult output={output} artifact={artifact} />
    </>
  )
}

/** `artifact` is unchecked: the artifact of a tool result, which contains tables and files. */
export function PythonResult({
  output,
  artifact,
}: {
  output: ProgramOutput | null
  artifact: unknown
}) {
  const files = useMemo(
    () => csvFilesIn(artifact).map(({ name, data }) => ({ name, text: textOf(data) })),
    [artifact],
  )
  return (
    <>
      {output !== null && <Streams output={output} />}
      {output !== null && <Value value={output.value} />}
      {files.map(({ name, text }) => (
        <CsvTable key={name} name={name} text={text} />
      ))}
    </>
  )
}

function Value({ value }: { value: unknown }) {
  const { t } = useTranslation()
  if (value === null || value === undefined || value === '') return null
  const table = tableFromList(value)
  if (table !== null) return <DataTable name={t('steps.value')} table={table} />
  const known = typeof value === 'string' ? readAnything(value) : null
  if (known?.kind === 'table') return <DataTable name={t('steps.value')} table={known.table} />
  const text = typeof value === 'string' ? value : JSON.stringify(value, null, 2)
  return <PlainText label={t('steps.value')} text={text} />
}
