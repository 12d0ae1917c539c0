// The unfolded part of a tool card: the readable view of a call and its result, or the raw data.
import { Braces } from 'lucide-react'
import { useMemo, useState } from 'react'
import type { ToolCallStep, ToolResultStep } from '../../../../../server/protocol/runs/step.ts'
import { useTranslation } from '../../../lib/i18n/use-translation.tsx'
import { programFault } from '../../../lib/program-fault.ts'
import { fieldsOf, listIn, numberIn, parseJson, textIn } from '../../../lib/read-json.ts'
import { lazyPart } from '../../../ui/states/late.tsx'
import { PartBoundary } from '../../../ui/states/part-boundary.tsx'
import type { Progress } from '../runs/tool-progress.ts'
import { CommandOutput, type ProgramOutput, PythonOutput } from './results/program-output.tsx'
import { type ResultKind, readResult } from './results/result-kinds.ts'
import { ResultView } from './results/result-view.tsx'
import { PlainText } from './results/small-views.tsx'
import { TerminalOutput } from './terminal-output.tsx'
import { type Outcome, pretty, type ToolState } from './tool-content.ts'

const DiffView = lazyPart(() =>
  import('../../../ui/code/diff-view.tsx').then((module) => module.DiffView),
)

/** Longer raw data is cut in the card. */
const MAX_RAW_CHARACTERS = 100_000

const shown = (value: unknown): string =>
  value === undefined || value === null
    ? ''
    : typeof value === 'string'
      ? value
      : (JSON.stringify(value) ?? '')

/** The output of a program; null if the result is not one of a program. */
function outputOf(outcome: Outcome | null): ProgramOutput | null {
  const fields = fieldsOf(outcome?.data)
  if (typeof fields.stdout !== 'string') return null
  return {
    stdout: fields.stdout.trimEnd(),
    stderr: shown(fields.stderr).trimEnd(),
    exitCode: numberIn(fields.exit_code) ?? null,
    timedOut: fields.timed_out === true,
    value: fields.result,
  }
}

function Raw({ label, text }: { label: string; text: string }) {
  const { t } = useTranslation()
  const hidden = text.length - MAX_RAW_CHARACTERS
  return (
    <>
      <PlainText label={label} text={text.slice(0, MAX_RAW_CHARACTERS)} />
      {hidden > 0 && (
        <p className="text-note text-muted">{t('results.omitted.characters', { count: hidden })}</p>
      )}
    </>
  )
}

type Props = {
  call: ToolCallStep
  result: ToolResultStep | null
  outcome: Outcome | null
  progress: Progress | undefined
  state: ToolState
}

/** Rendered by `ToolStep` when its card is unfolded. The user can switch between the view and the raw data. */
export function ToolBody(props: Props) {
  const { t } = useTranslation()
  const [raw, setRaw] = useState(false)
  const { call, result } = props
  return (
    <PartBoundary fallback={null}>
      <div className="flex flex-col gap-3">
        {raw ? (
          <>
            <Raw label={t('steps.arguments')} text={pretty(call.arguments)} />
            {result !== null && <Raw label={t('steps.result')} text={pretty(result.content)} />}
          </>
        ) : (
          <Readable {...props} />
        )}
        {result !== null && (
          <button
            type="button"
            aria-pressed={raw}
            className="inline-flex items-center gap-1.5 self-start rounded-md py-0.5 text-xs text-muted hover:text-ink"
            onClick={() => setRaw(!raw)}
          >
            <Braces size={13} aria-hidden />
            {t('steps.raw')}
          </button>
        )}
      </div>
    </PartBoundary>
  )
}

function Readable({ call, result, outcome, progress, state }: Props) {
  const { t } = useTranslation()
  const artifact = result?.artifact
  const error = outcome?.error == null ? null : pretty(outcome.error)
  const data = outcome?.data
  const kind = useMemo(
    () =>
      error === null && data !== undefined && data !== null
        ? readResult(call.name, call.arguments, data, artifact)
        : null,
    [call, data, artifact, error],
  )
  const fields = fieldsOf(parseJson(call.arguments))
  const command = call.name === 'exec' ? textIn(fields.command) : undefined
  const code = call.name === 'execute_python' ? textIn(fields.code) : undefined
  const running = state === 'running'
  const live = running && progress !== undefined && progress.output !== '' ? progress.output : null
  const output: ProgramOutput | null =
    live === null ? outputOf(outcome) : { stdout: live, stderr: '' }
  const isProgram = command !== undefined || code !== undefined
  const diff = artifact?.diff
  // The cards below show the responses of sub-agents, so this view shows their instructions.
  const instructions = artifact?.agents === undefined ? null : instructionsIn(fields.tasks)
  return (
    <>
      {!isProgram && diff === undefined && kind === null && (
        <PlainText label={t('steps.arguments')} text={pretty(call.arguments)} />
      )}
      {diff !== undefined && <DiffView diff={diff} />}
      {error !== null && <Failure text={code === undefined ? error : programFault(error, t)} />}
      {command !== undefined && (
        <CommandOutput command={command} output={output} running={running} />
      )}
      {code !== undefined && <PythonOutput code={code} output={output} artifact={artifact} />}
      {!isProgram && live !== null && <TerminalOutput label={t('steps.output')} text={live} />}
      {!isProgram && diff === undefined && kind !== null && (
        <ResultView
          result={instructions !== null && kind.kind === 'agents' ? instructions : kind}
        />
      )}
      {result !== null && outcome === null && (
        <PlainText label={t('steps.result')} text={result.content} />
      )}
      {!isProgram && diff === undefined && kind === null && error === null && data != null && (
        <PlainText label={t('steps.result')} text={pretty(data)} />
      )}
    </>
  )
}

/** The instructions for sub-agents, by name; null if there are none. */
function instructionsIn(tasks: unknown): ResultKind | null {
  const facts = listIn(tasks).flatMap((task) => {
    const { name, instruction } = fieldsOf(task)
    return typeof name === 'string' && typeof instruction === 'string'
      ? [{ name, value: instruction }]
      : []
  })
  return facts.length === 0 ? null : { kind: 'facts', facts }
}

/** The error of a failed call. */
function Failure({ text }: { text: string }) {
  const { t } = useTranslation()
  return <TerminalOutput label={t('steps.error')} text={text} tone="bad" />
}
