// Finished steps of an answer as one line, which unfolds.
import { ListChecks } from 'lucide-react'
import type { ReactNode } from 'react'
import type { ToolResultStep } from '../../../../../server/protocol/runs/step.ts'
import { duration } from '../../../lib/format.ts'
import { useTranslation } from '../../../lib/i18n/use-translation.tsx'
import { ActivityRow } from './activity-row.tsx'
import type { Activity } from './segments.ts'
import { readOutcome } from './tool-content.ts'

/** Fewer steps stay rows of their own. */
const MIN_FOLDED = 3

type Reading = { isFailed: boolean; seconds: number }
/** An answer renders again with each of its batches, and reading a long result takes time. Results never change. */
const readings = new WeakMap<ToolResultStep, Reading>()

function read(result: ToolResultStep): Reading {
  const known = readings.get(result)
  if (known !== undefined) return known
  const outcome = readOutcome(result.content)
  const reading = { isFailed: outcome?.success === false, seconds: outcome?.executionTime ?? 0 }
  readings.set(result, reading)
  return reading
}

/** Whether nothing about the step is left to see or to do: it neither runs, waits nor failed, and has no files, app or sub-agents. */
function isSettled(item: Activity): boolean {
  if (item.kind === 'thinking') return !item.open
  const { result } = item
  if (result === null || result.skipped === true) return false
  const { artifact } = result
  const hasParts =
    (artifact?.files?.length ?? 0) + (artifact?.agents?.length ?? 0) > 0 ||
    artifact?.app !== undefined
  return (artifact?.exit_code ?? 0) === 0 && !hasParts && !read(result).isFailed
}

/** Groups the steps in order: those that fold into one line are one group, every other step is a group of its own. */
export function foldable(items: readonly Activity[]): { key: string; items: Activity[] }[] {
  const groups: { key: string; isSettled: boolean; items: Activity[] }[] = []
  for (const item of items) {
    const last = groups.at(-1)
    const settled = isSettled(item)
    if (settled && last?.isSettled === true) last.items.push(item)
    else groups.push({ key: item.key, isSettled: settled, items: [item] })
  }
  return groups.flatMap(({ key, items: grouped }) =>
    grouped.length < MIN_FOLDED
      ? grouped.map((item) => ({ key: item.key, items: [item] }))
      : [{ key, items: grouped }],
  )
}

/** Seconds; what is unknown counts as nothing. */
const secondsOf = (item: Activity): number =>
  item.kind === 'thinking'
    ? (item.durationMs ?? 0) / 1_000
    : item.result === null
      ? 0
      : read(item.result).seconds

/** `children` are the rows of the steps. `hasUnfolded`: the user has unfolded one of them, which stays in view. */
export function FoldedSteps({
  items,
  hasUnfolded,
  children,
}: {
  items: readonly Activity[]
  hasUnfolded: boolean
  children: ReactNode
}) {
  const { t, i18n } = useTranslation()
  const seconds = items.reduce((sum, item) => sum + secondsOf(item), 0)
  const count = items.length
  return (
    <ActivityRow
      icon={ListChecks}
      initiallyOpen={hasUnfolded}
      unfold={hasUnfolded}
      title={
        seconds < 1
          ? t('steps.folded', { count })
          : t('steps.foldedFor', { count, time: duration(seconds, i18n.language) })
      }
    >
      {children}
    </ActivityRow>
  )
}
