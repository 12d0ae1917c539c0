// Decides whether a tool call needs approval, from its risk level, the approval mode, taint, and remembered grants.
import type { ApprovalMode } from '../protocol/conversations/conversation.ts'
import type { RiskLevel } from '../protocol/runs/run-event.ts'

/** What is known about a call before it runs. */
export interface CallRisk {
  /** The tool's own name, never an alias. */
  name: string
  riskLevel: RiskLevel
  /** As in the tool's definition. */
  grantKey?: string | undefined
  mode: ApprovalMode
  /** Whether the conversation contains untrusted text from outside. */
  tainted: boolean
  /** Names or grant keys of tools that a person has approved for the rest of the run or conversation. */
  remembered: ReadonlySet<string>
}

type Rule = 'run' | 'ask' | 'ask_unless_remembered'

const RULES: Record<ApprovalMode, Record<'clean' | 'tainted', Record<RiskLevel, Rule>>> = {
  ask: {
    clean: { low: 'run', medium: 'ask_unless_remembered', high: 'ask_unless_remembered' },
    tainted: { low: 'run', medium: 'ask', high: 'ask' },
  },
  auto_medium: {
    clean: { low: 'run', medium: 'run', high: 'ask_unless_remembered' },
    tainted: { low: 'run', medium: 'ask', high: 'ask' },
  },
  auto: {
    clean: { low: 'run', medium: 'run', high: 'run' },
    tainted: { low: 'run', medium: 'run', high: 'run' },
  },
}

/** Low risk, but they write what later conversations read: outside text must not get there without approval. */
const ASK_WHEN_TAINTED: ReadonlySet<string> = new Set(['save_memory'])

/** Whether a person must approve this call before it runs. */
export function needsApproval(call: CallRisk): boolean {
  const row = RULES[call.mode][call.tainted ? 'tainted' : 'clean']
  const level =
    call.tainted && call.riskLevel === 'low' && ASK_WHEN_TAINTED.has(call.name)
      ? 'medium'
      : call.riskLevel
  const rule = row[level]
  return (
    rule === 'ask' ||
    (rule === 'ask_unless_remembered' && !call.remembered.has(call.grantKey ?? call.name))
  )
}
