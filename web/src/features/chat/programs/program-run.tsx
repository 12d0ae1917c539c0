// A program of an answer that its reader runs: its state, its output and its files, below the code.
import { Square, X } from 'lucide-react'
import { type ReactNode, useContext, useEffect, useRef, useState } from 'react'
import type { PythonOutcome } from '../../../../../server/protocol/programs/python.ts'
import { duration, elapsed } from '../../../lib/format.ts'
import { useTranslation } from '../../../lib/i18n/use-translation.tsx'
import { programFault } from '../../../lib/program-fault.ts'
import { classNames } from '../../../ui/class-names.ts'
import { ActionButton } from '../../../ui/controls/action-button.tsx'
import { Button } from '../../../ui/controls/button.tsx'
import type { ProgramRunProps } from '../../../ui/markdown/code-actions.ts'
import { errorText } from '../../../ui/states/error-text.ts'
import { Spinner } from '../../../ui/states/feedback.tsx'
import { ConversationContext } from '../conversation-context.ts'
import { ArtifactFiles } from '../steps/artifact-files.tsx'
import { PythonResult } from '../steps/results/program-output.tsx'
import { TerminalOutput } from '../steps/terminal-output.tsx'
import { runPython } from './run-python.ts'

type State =
  | { kind: 'running' }
  | { kind: 'stopped' }
  | { kind: 'refused'; reason: string }
  | { kind: 'ended'; outcome: PythonOutcome }

/** Endings whose error text says more than the name of the ending: a traceback, or what is not allowed. */
const EXPLAINED: readonly PythonOutcome['status'][] = ['raised', 'refused', 'crashed']

/** Runs the program once, when it is mounted; stops it when it is removed. */
export function ProgramRun({ code, onClose }: ProgramRunProps) {
  const { t } = useTranslation()
  const current = useContext(ConversationContext)
  /** Where it was started: another project of the conversation must not run it again. */
  const [place] = useState(current)
  const [state, setState] = useState<State>({ kind: 'running' })
  const controller = useRef<AbortController | null>(null)
  useEffect(() => {
    const running = new AbortController()
    controller.current = running
    const show = (next: State): void => {
      if (controller.current === running) setState(next)
    }
    runPython(code, place, running.signal).then(
      (outcome) => show({ kind: 'ended', outcome }),
      (error: unknown) =>
        show(
          running.signal.aborted
            ? { kind: 'stopped' }
            : { kind: 'refused', reason: errorText(error) },
        ),
    )
    return () => {
      controller.current = null
      running.abort()
    }
  }, [code, place])
  return (
    <section
      aria-label={t('prose.code.result')}
      className="flex flex-col gap-3 border-t border-line bg-surface px-3.5 py-2.5 font-sans"
    >
      <div className="flex min-h-7 items-center gap-2 text-note text-soft">
        <StateLine state={state} />
        {state.kind === 'running' ? (
          <Button
            size="small"
            tone="quiet"
            icon={Square}
            onClick={() => controller.current?.abort()}
          >
            {t('composer.stop')}
          </Button>
        ) : (
          <ActionButton icon={X} label={t('common.close')} onClick={onClose} />
        )}
      </div>
      {state.kind === 'ended' && <Outcome outcome={state.outcome} />}
    </section>
  )
}

function StateLine({ state }: { state: State }): ReactNode {
  const { t, i18n } = useTranslation()
  const isGood = state.kind === 'running' || state.kind === 'stopped'
  const isBad = state.kind === 'ended' ? state.outcome.status !== 'completed' : !isGood
  return (
    <>
      {state.kind === 'running' && <Spinner size={14} />}
      <p role="status" className={classNames('min-w-0', isBad && 'text-bad')}>
        {state.kind === 'running' && t('prose.code.running')}
        {state.kind === 'stopped' && t('prose.code.ended.stopped')}
        {state.kind === 'refused' && state.reason}
        {state.kind === 'ended' && t(`prose.code.ended.${state.outcome.status}`)}
      </p>
      <span className="flex-1 text-muted tabular-nums">
        {state.kind === 'running' && <RunningTime />}
        {state.kind === 'ended' && duration(state.outcome.duration_ms / 1_000, i18n.language)}
      </span>
    </>
  )
}

/** The time since it was mounted, once that is long enough to be worth reading. */
function RunningTime() {
  const { i18n } = useTranslation()
  const [seconds, setSeconds] = useState(0)
  useEffect(() => {
    const begun = performance.now()
    const timer = setInterval(() => setSeconds((performance.now() - begun) / 1_000), 1_000)
    return () => clearInterval(timer)
  }, [])
  return seconds < 1 ? null : elapsed(seconds, i18n.language)
}

function Outcome({ outcome }: { outcome: PythonOutcome }) {
  const { t } = useTranslation()
  const { status, stdout, stderr, result, error, files } = outcome
  const explanation = error !== null && EXPLAINED.includes(status) ? programFault(error, t) : null
  const isSilent =
    stdout.trim() === '' && stderr.trim() === '' && result === null && files.length === 0
  return (
    <>
      <PythonResult
        output={{ stdout: stdout.trimEnd(), stderr: stderr.trimEnd(), value: result }}
        artifact={{ files }}
      />
      {explanation !== null && (
        <TerminalOutput label={t('steps.errorOutput')} text={explanation} tone="bad" />
      )}
      <ArtifactFiles files={files} isIndented={false} />
      {outcome.omitted_files > 0 && (
        <p className="text-note text-muted">{t('prose.code.filesOmitted')}</p>
      )}
      {isSilent && explanation === null && (
        <p className="text-note text-muted">{t('results.noOutput')}</p>
      )}
    </>
  )
}
