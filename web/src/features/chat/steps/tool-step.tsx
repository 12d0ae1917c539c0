// A tool call as a card: its arguments, result, duration and state.
import type { TFunction } from 'i18next'
import { AppWindow, Check, CircleSlash, ShieldCheck, X } from 'lucide-react'
import { memo, useEffect, useState } from 'react'
import { Link } from 'wouter'
import type { McpAppReference } from '../../../../../server/protocol/mcp-app.ts'
import type { ToolCallStep, ToolResultStep } from '../../../../../server/protocol/runs/step.ts'
import { duration, elapsed } from '../../../lib/format.ts'
import { useTranslation } from '../../../lib/i18n/use-translation.tsx'
import { paths } from '../../../lib/paths.ts'
import { toolTitle } from '../../../lib/tool-title.ts'
import { LineCounts } from '../../../ui/code/line-counts.tsx'
import { Spinner } from '../../../ui/states/feedback.tsx'
import { lazyPart } from '../../../ui/states/late.tsx'
import { PartBoundary } from '../../../ui/states/part-boundary.tsx'
import { countText, type Progress, subAgentResults } from '../runs/tool-progress.ts'
import { ActivityRow } from './activity-row.tsx'
import { ArtifactFiles } from './artifact-files.tsx'
import { SubAgents } from './sub-agents.tsx'
import { type Outcome, readOutcome, summarize, type ToolState } from './tool-content.ts'
import { toolIcon } from './tool-icon.ts'

const McpApp = lazyPart(() =>
  import('../mcp-apps/late-mcp-app.tsx').then((module) => module.McpApp),
)
const ToolBody = lazyPart(() => import('./tool-body.tsx').then((module) => module.ToolBody))

const stateOf = (
  result: ToolResultStep | null,
  outcome: Outcome | null,
  live: boolean,
  rejected: boolean,
): ToolState => {
  if (result === null) {
    if (rejected) return 'skipped'
    return live ? 'running' : 'interrupted'
  }
  if (result.skipped || outcome?.skipped === true) return 'skipped'
  return outcome !== null && !outcome.success ? 'failed' : 'done'
}

/** How far a running call has progressed; null if it does not report that. */
const phaseOf = (
  { count, state }: Progress,
  t: TFunction,
  { language }: { language: string },
): string | null =>
  count !== null
    ? countText(count, t, language)
    : state !== null
      ? t(`steps.progress.${state}`)
      : null

function RunningTime({ since }: { since: number | undefined }) {
  const { i18n } = useTranslation()
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1_000)
    return () => clearInterval(timer)
  }, [])
  return since === undefined || now - since < 1_500 ? null : (
    <span>{elapsed((now - since) / 1_000, i18n.language)}</span>
  )
}

/** On a phone, a call that took less shows what was called instead of how long it took. */
const NOTICEABLE_S = 0.1

/**
 * `rejected`: a person has rejected the call. `startedAt`: when the running call started. A call that waits for a decision has
 * a card instead.
 */
export const ToolStep = memo(function ToolStep({
  call,
  result,
  live,
  rejected,
  progress,
  startedAt,
}: {
  call: ToolCallStep
  result: ToolResultStep | null
  live: boolean
  rejected: boolean
  progress: Progress | undefined
  startedAt: number | undefined
}) {
  const { t, i18n } = useTranslation()
  const outcome = result === null ? null : readOutcome(result.content)
  const state = stateOf(result, outcome, live, rejected)
  const { added, removed } = result?.artifact ?? {}
  const agents =
    result === null ? (live ? (progress?.agents ?? []) : []) : (result.artifact?.agents ?? [])
  const phase = state === 'running' && progress !== undefined ? phaseOf(progress, t, i18n) : null
  const app = useShownApp(result?.artifact?.app ?? progress?.app ?? null)
  const exitCode = result?.artifact?.exit_code
  // The call succeeded, but the command that it ran failed.
  const failedCode =
    typeof exitCode === 'number' && exitCode !== 0 ? t('steps.exitCode', { code: exitCode }) : null
  return (
    <ActivityRow
      icon={toolIcon(call.name)}
      title={toolTitle(call.name, t)}
      summary={summarize(call.arguments)}
      live={state === 'running'}
      unfold={state === 'running' && progress !== undefined && progress.output !== ''}
      tone={state === 'failed' || failedCode !== null ? 'bad' : 'plain'}
      trailing={
        <>
          <LineCounts added={added} removed={removed} />
          {failedCode !== null && (
            <span aria-hidden className="text-bad">
              {failedCode}
            </span>
          )}
          {phase !== null && <span aria-hidden>{phase}</span>}
          {state === 'running' && <RunningTime since={startedAt} />}
          {outcome?.cached === true && (
            // Where there is little room, what was called says more.
            <span className="max-sm:hidden">{t('steps.cached')}</span>
          )}
          {outcome?.executionTime !== undefined && !outcome.cached && (
            <span className={outcome.executionTime < NOTICEABLE_S ? 'max-sm:hidden' : undefined}>
              {duration(outcome.executionTime, i18n.language)}
            </span>
          )}
          <StateMark
            state={state === 'done' && failedCode !== null ? 'failed' : state}
            label={phase ?? failedCode ?? t(`steps.state.${state}`)}
          />
        </>
      }
      below={
        <>
          {call.origin === 'app' && (
            <p className="flex items-center gap-1.5 text-note text-muted">
              <AppWindow size={13} aria-hidden />
              {t('steps.byApp')}
            </p>
          )}
          <SubAgents agents={agents} results={subAgentResults(outcome?.data)} />
          {call.grant_id !== undefined && (
            <Link
              href={paths.settingsTab('permissions')}
              className="flex w-fit items-center gap-1.5 text-note text-muted hover:text-ink hover:underline"
            >
              <ShieldCheck size={13} aria-hidden />
              {t('steps.granted')}
            </Link>
          )}
          <ArtifactFiles
            files={result?.artifact?.files ?? []}
            isSmall={call.name === 'file_read'}
          />
          {app !== null && (
            <PartBoundary fallback={null}>
              <McpApp app={app} call={call} result={result} isOver={state !== 'running'} />
            </PartBoundary>
          )}
        </>
      }
    >
      <PartBoundary fallback={null}>
        <ToolBody call={call} result={result} outcome={outcome} progress={progress} state={state} />
      </PartBoundary>
    </ActivityRow>
  )
})

/** A call that ends without a result for its app no longer names it: the app stays, to say so. */
function useShownApp(app: McpAppReference | null): McpAppReference | null {
  const [first, setFirst] = useState(app)
  if (first === null && app !== null) setFirst(app)
  return app ?? first
}

function StateMark({ state, label }: { state: ToolState; label: string }) {
  return (
    <span className="inline-flex items-center" title={label}>
      <span className="sr-only">{label}</span>
      {state === 'running' && <Spinner size={14} />}
      {state === 'done' && <Check size={14} aria-hidden className="text-ok" />}
      {state === 'failed' && <X size={14} aria-hidden className="text-bad" />}
      {state === 'skipped' && <CircleSlash size={14} aria-hidden />}
      {state === 'interrupted' && (
        <span aria-hidden className="text-warn">
          {label}
        </span>
      )}
    </span>
  )
}
