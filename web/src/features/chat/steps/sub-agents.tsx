// The sub-agents in the card of their tool call: what each is doing or has done.

import { Check, CircleDashed, X } from 'lucide-react'
import { useState } from 'react'
import type { SubAgentView } from '../../../../../server/protocol/runs/tool-progress.ts'
import { useTranslation } from '../../../lib/i18n/use-translation.tsx'
import { keyed } from '../../../lib/list-keys.ts'
import { toolTitle } from '../../../lib/tool-title.ts'
import { classNames } from '../../../ui/class-names.ts'
import { Spinner } from '../../../ui/states/feedback.tsx'
import { Fold } from '../../../ui/table/fold.tsx'
import type { SubAgentResult } from '../runs/tool-progress.ts'
import { TextStep } from './text-step.tsx'
import { summarize } from './tool-content.ts'

/** Shorter texts are not folded. */
const FOLDED_CHARACTERS = 160
const LINES_FOLDED = 8

const NO_RESULT: SubAgentResult = { response: '', error: '' }

type State = SubAgentView['state'] | SubAgentView['calls'][number]['state']

function Mark({ state }: { state: State }) {
  if (state === 'working' || state === 'running') return <Spinner size={14} />
  if (state === 'done') return <Check size={14} aria-hidden className="shrink-0 text-ok" />
  if (state === 'failed') return <X size={14} aria-hidden className="shrink-0 text-bad" />
  return <CircleDashed size={14} aria-hidden className="shrink-0 text-muted" />
}

/** Live while the call runs, and from the stored result afterwards. Renders nothing without sub-agents. */
export function SubAgents({
  agents,
  results,
}: {
  agents: readonly SubAgentView[]
  /** By the name of the agent; empty while the agents run. */
  results: ReadonlyMap<string, SubAgentResult>
}) {
  const { t } = useTranslation()
  if (agents.length === 0) return null
  return (
    <ul aria-label={t('steps.agents')} className="flex flex-col gap-2 pt-1 pb-2 ps-9">
      {agents.map((agent) => {
        const { response, error } = results.get(agent.name) ?? NO_RESULT
        const current = agent.calls.findLast(({ state }) => state === 'running')
        return (
          <li
            key={agent.name}
            className="rounded-xl border border-line bg-surface px-3 py-2 text-sm"
          >
            <p className="flex items-center gap-2">
              <Mark state={agent.state} />
              <span className="min-w-0 flex-1 truncate font-medium">{agent.name}</span>
              <span
                className={classNames(
                  'text-xs',
                  agent.state === 'failed' ? 'text-bad' : 'text-muted',
                )}
              >
                {t(`steps.agent.${agent.state}`)}
                {agent.state === 'working' && current !== undefined && (
                  <> · {toolTitle(current.name, t)}</>
                )}
              </span>
            </p>
            <Calls calls={agent.calls} />
            {response === '' ? <LastText text={agent.text} /> : <Response text={response} />}
            {error !== '' && (
              <p className="mt-1.5 text-note text-bad [overflow-wrap:anywhere]">{error}</p>
            )}
          </li>
        )
      })}
    </ul>
  )
}

function Calls({ calls }: { calls: SubAgentView['calls'] }) {
  const { t } = useTranslation()
  if (calls.length === 0) return null
  return (
    <ul className="mt-1.5 flex flex-wrap gap-1.5">
      {keyed(calls, ({ name }) => name).map(({ key, item: call }) => (
        <li
          key={key}
          className="inline-flex max-w-full items-center gap-1.5 rounded-full bg-sunken px-2 py-0.5 text-xs text-soft"
        >
          <Mark state={call.state} />
          <span className="shrink-0">{toolTitle(call.name, t)}</span>
          <span className="min-w-0 truncate font-mono text-muted">{summarize(call.arguments)}</span>
        </li>
      ))}
    </ul>
  )
}

/** The response as Markdown; a long one is folded. */
function Response({ text }: { text: string }) {
  const lines = text.trimEnd().split('\n')
  return (
    <div className="mt-1.5 flex flex-col gap-1">
      <Fold
        total={lines.length}
        folded={LINES_FOLDED}
        unit="lines"
        draw={(count) => <TextStep text={lines.slice(0, count).join('\n')} />}
      />
    </div>
  )
}

/** The sub-agent's last text; a long one can be unfolded. */
function LastText({ text }: { text: string }) {
  const { t } = useTranslation()
  const [open, setOpen] = useState(false)
  if (text === '') return null
  return (
    <>
      <p
        className={classNames(
          'mt-1.5 text-note whitespace-pre-wrap text-soft [overflow-wrap:anywhere]',
          !open && 'line-clamp-3',
        )}
      >
        {text}
      </p>
      {text.length > FOLDED_CHARACTERS && (
        <button
          type="button"
          aria-expanded={open}
          className="mt-1 text-note text-accent underline underline-offset-3"
          onClick={() => setOpen(!open)}
        >
          {t(open ? 'common.less' : 'common.more')}
        </button>
      )}
    </>
  )
}
