// Groups an answer's steps for display: texts, and groups of thinking and tool calls between them.
import type {
  Step,
  ToolCallStep,
  ToolResultStep,
} from '../../../../../server/protocol/runs/step.ts'

/** One row of a group. `result` is null while the call is not finished; `durationMs` is null if unknown. */
export type Activity =
  | { kind: 'thinking'; key: string; text: string; open: boolean; durationMs: number | null }
  | { kind: 'tool'; key: string; call: ToolCallStep; result: ToolResultStep | null }

/** One block of the display. `key` stays the same while the answer grows. */
export type Segment =
  | { kind: 'prose'; key: string; text: string }
  | { kind: 'activity'; key: string; items: Activity[] }

/** Keeps the order of the steps. `growing`: the index of the step that still grows, so that it is open. */
export function toSegments(steps: readonly Step[], growing: number | null): Segment[] {
  const results = new Map<string, ToolResultStep>()
  for (const step of steps) if (step?.type === 'tool_result') results.set(step.id_ref, step)
  const segments: Segment[] = []
  const addActivity = (item: Activity): void => {
    const last = segments.at(-1)
    if (last?.kind === 'activity') last.items.push(item)
    else segments.push({ kind: 'activity', key: item.key, items: [item] })
  }
  for (const step of steps) {
    if (step === undefined) continue // a gap while a snapshot is still loading
    switch (step.type) {
      case 'text':
        if (step.content.trim() !== '')
          segments.push({ kind: 'prose', key: step.id, text: step.content })
        break
      case 'thinking':
        if (step.content.trim() !== '')
          addActivity({
            kind: 'thinking',
            key: step.id,
            text: step.content,
            open: step.index === growing,
            durationMs: step.duration_ms ?? null,
          })
        break
      case 'tool_call':
        addActivity({
          kind: 'tool',
          key: step.id,
          call: step,
          result: results.get(step.id_ref) ?? null,
        })
        break
      case 'tool_result':
        break // rendered with its call
      default:
        step satisfies never
    }
  }
  return segments
}
