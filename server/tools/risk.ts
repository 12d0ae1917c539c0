// Decides whether a tool call needs approval, from its risk level, the approval mode and taint.
import type { ApprovalMode } from '../protocol/conversations/conversation.ts'
import type { RiskLevel } from '../protocol/runs/run-event.ts'

/** What is known about a call before it runs. */
export interface CallRisk {
  /** The tool's own name, never an alias. */
  name: string
  category: string
  riskLevel: RiskLevel
  mode: ApprovalMode
  /** Whether the conversation contains untrusted text from outside. */
  tainted: boolean
}

type Rule = 'run' | 'ask'

const RULES: Record<ApprovalMode, Record<'clean' | 'tainted', Record<RiskLevel, Rule>>> = {
  ask: {
    clean: { low: 'run', medium: 'ask', high: 'ask' },
    tainted: { low: 'run', medium: 'ask', high: 'ask' },
  },
  auto_medium: {
    clean: { low: 'run', medium: 'run', high: 'ask' },
    tainted: { low: 'run', medium: 'ask', high: 'ask' },
  },
  auto: {
    clean: { low: 'run', medium: 'run', high: 'run' },
    tainted: { low: 'run', medium: 'run', high: 'run' },
  },
}

/** Low risk, but they write what later conversations read: outside text must not get there without approval. */
const ASK_WHEN_TAINTED: ReadonlySet<string> = new Set(['save_memory'])

/** They act later, when nobody sees what text from outside has asked for: in a tainted conversation a person decides in every mode. */
const ALWAYS_ASK_WHEN_TAINTED: ReadonlySet<string> = new Set(['schedule'])

/** Whether this call must not run unless a person approves it or has granted it. */
export function needsApproval(call: CallRisk): boolean {
  if (call.tainted && call.riskLevel !== 'low' && ALWAYS_ASK_WHEN_TAINTED.has(call.category))
    return true
  const row = RULES[call.mode][call.tainted ? 'tainted' : 'clean']
  const level =
    call.tainted && call.riskLevel === 'low' && ASK_WHEN_TAINTED.has(call.name)
      ? 'medium'
      : call.riskLevel
  return row[level] === 'ask'
}
