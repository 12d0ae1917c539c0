// The unfolded part of a tool card. Decides which view a tool's result gets.
import { Braces } from 'lucide-react'
import { lazy, type ReactNode, Suspense, useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { ToolCallStep, ToolResultStep } from '../../../../../server/protocol/step.ts'
import { fieldsOf, parseJson, textIn } from '../../../lib/read-json.ts'
import type { Progress } from '../runs/tool-progress.ts'
import { readFileText, readResults } from './result-items.ts'
import { type Outcome, pretty, type ToolState } from './tool-content.ts'

const CodeBlock = lazy(() =>
  import('../../../ui/markdown/code-block.tsx').then((module) => ({ default: module.CodeBlock })),
)
const DiffView = lazy(() =>
  import('../../../ui/diff-view.tsx').then((module) => ({ default: module.DiffView })),
)
const TerminalOutput = lazy(() =>
  import('./terminal-output.tsx').then((module) => ({ default: module.TerminalOutput })),
)
const ResultList = lazy(() =>
  import('./result-list.tsx').then((module) => ({ default: module.ResultList })),
)

/** Longer results are cut in the card; the model gets all of it. */
const MAX_SHOWN_CHARACTERS = 20_000

const cut = (text: string): string =>
  text.length > MAX_SHOWN_CHARACTERS ? `${text.slice(0, MAX_SHOWN_CHARACTERS)}\n…` : text

const codeOf = (call: ToolCallStep): { code: string; language: string } | null => {
  const fields = fieldsOf(parseJson(call.arguments))
  const python = call.name === 'execute_python' ? textIn(fields.code) : undefined
  if (python !== undefined) return { code: python, language: 'python' }
  const command = call.name === 'exec' ? textIn(fields.command) : undefined
  return command === undefined ? null : { code: command, language: 'bash' }
}

const shown = (value: unknown): string =>
  value === undefined || value === null
    ? ''
    : typeof value === 'string'
      ? value
      : (JSON.stringify(value) ?? '')

/** Program output, where the result has any: stdout, stderr and the last value. */
const outputOf = (outcome: Outcome | null) => {
  const fields = fieldsOf(outcome?.data)
  if (typeof fields.stdout !== 'string') return null
  return {
    stdout: fields.stdout.trimEnd(),
    stderr: shown(fields.stderr).trimEnd(),
    value: shown(fields.result),
  }
}

function Section({ label, text, tone }: { label: string; text: string; tone?: 'bad' }) {
  return (
    <div>
      <p className="mb-1 text-xs font-medium text-muted">{label}</p>
      <pre
        dir="ltr"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard
        tabIndex={0}
        className={`code-lines max-h-80 overflow-auto rounded-lg border border-line bg-sunken px-3 py-2 text-[12.5px] whitespace-pre-wrap [overflow-wrap:anywhere] ${tone === 'bad' ? 'text-bad' : ''}`}
      >
        {text}
      </pre>
    </div>
  )
}

/** A readable view, with the raw data one click away. */
function Readable({
  call,
  data,
  children,
}: {
  call: ToolCallStep
  data: string
  children: ReactNode
}) {
  const { t } = useTranslation()
  const [raw, setRaw] = useState(false)
  return (
    <>
      {raw ? (
        <>
          <Section label={t('steps.arguments')} text={pretty(call.arguments)} />
          <Section label={t('steps.result')} text={cut(data)} />
        </>
      ) : (
        children
      )}
      <button
        type="button"
        aria-pressed={raw}
        className="inline-flex items-center gap-1.5 self-start rounded-md py-0.5 text-xs text-muted hover:text-ink pointer-coarse:min-h-11"
        onClick={() => setRaw(!raw)}
      >
        <Braces size={13} aria-hidden />
        {t(raw ? 'steps.readable' : 'steps.raw')}
      </button>
    </>
  )
}

export function ToolBody({
  call,
  result,
  outcome,
  progress,
  state,
}: {
  call: ToolCallStep
  result: ToolResultStep | null
  outcome: Outcome | null
  progress: Progress | undefined
  state: ToolState
}) {
  const { t } = useTranslation()
  const code = codeOf(call)
  const artifact = result?.artifact
  const output = outputOf(outcome)
  const error =
    outcome?.error === undefined || outcome.error === null ? null : pretty(outcome.error)
  const answer = outcome === null ? (result?.content ?? '') : pretty(outcome.data)
  const found = error === null ? readResults(call.name, outcome?.data) : null
  const file = error === null ? readFileText(call.name, outcome?.data) : null
  const readable = found !== null || file !== null
  return (
    <Suspense fallback={null}>
      <div className="flex flex-col gap-3">
        {code !== null && <CodeBlock code={code.code} language={code.language} />}
        {code === null && artifact?.diff === undefined && !readable && (
          <Section label={t('steps.arguments')} text={pretty(call.arguments)} />
        )}
        {artifact?.diff !== undefined && <DiffView diff={artifact.diff} />}
        {state === 'running' && progress !== undefined && progress.output !== '' && (
          <TerminalOutput label={t('steps.output')} text={progress.output} />
        )}
        {error !== null && <Section label={t('steps.error')} text={cut(error)} tone="bad" />}
        {output !== null && output.stdout !== '' && (
          <TerminalOutput label={t('steps.output')} text={output.stdout} />
        )}
        {output !== null && output.stderr !== '' && (
          <TerminalOutput label={t('steps.errorOutput')} text={output.stderr} tone="bad" />
        )}
        {output !== null && output.value !== '' && (
          <Section label={t('steps.value')} text={cut(output.value)} />
        )}
        {found !== null && (
          <Readable call={call} data={answer}>
            <ResultList label={t('steps.result')} items={found} />
          </Readable>
        )}
        {file !== null && (
          <Readable call={call} data={answer}>
            <CodeBlock code={cut(file.text)} language={languageOf(file.path)} />
          </Readable>
        )}
        {result !== null &&
          error === null &&
          output === null &&
          !readable &&
          artifact?.diff === undefined &&
          artifact?.agents === undefined &&
          answer !== '' && <Section label={t('steps.result')} text={cut(answer)} />}
      </div>
    </Suspense>
  )
}

const languageOf = (path: string): string => /\.([a-z0-9]+)$/i.exec(path)?.[1]?.toLowerCase() ?? ''
