// Sub-agents inside their parent's card: what each is doing, and what it did.
import { Check, CircleDashed, X } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { toolTitle } from '../../../lib/tool-title.ts'
import { Spinner } from '../../../ui/feedback.tsx'
import type { SubAgent } from '../tool-progress.ts'

const known = ['waiting', 'working', 'done', 'failed'] as const

function Mark({ state }: { state: string }) {
  if (state === 'working' || state === 'running') return <Spinner size={14} />
  if (state === 'done') return <Check size={14} aria-hidden className="text-ok" />
  if (state === 'failed') return <X size={14} aria-hidden className="text-bad" />
  return <CircleDashed size={14} aria-hidden className="text-muted" />
}

export function SubAgents({ agents }: { agents: readonly SubAgent[] }) {
  const { t } = useTranslation()
  return (
    <ul className="flex flex-col gap-2">
      {agents.map((agent) => {
        const state = known.find((name) => name === agent.state) ?? 'waiting'
        return (
          <li
            key={agent.name}
            className="rounded-xl border border-line bg-surface px-3 py-2 text-sm"
          >
            <p className="flex items-center gap-2">
              <Mark state={agent.state} />
              <span className="min-w-0 flex-1 truncate font-medium">{agent.name}</span>
              <span className="text-xs text-muted">{t(`steps.agent.${state}`)}</span>
            </p>
            {agent.calls.length > 0 && (
              <ul className="mt-1.5 flex flex-wrap gap-1.5">
                {agent.calls.map((call, index) => (
                  <li
                    // biome-ignore lint/suspicious/noArrayIndexKey: calls have no identity but their place
                    key={index}
                    className="inline-flex items-center gap-1 rounded-full bg-sunken px-2 py-0.5 text-xs text-soft"
                  >
                    <Mark state={call.state} />
                    {toolTitle(call.name, t)}
                  </li>
                ))}
              </ul>
            )}
            {agent.text !== '' && (
              <p className="mt-1.5 line-clamp-3 text-[13px] whitespace-pre-wrap text-soft">
                {agent.text}
              </p>
            )}
          </li>
        )
      })}
    </ul>
  )
}
