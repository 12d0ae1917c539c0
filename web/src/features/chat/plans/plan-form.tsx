// The form in which a person changes the plan of a running answer.
import { useMutation } from '@tanstack/react-query'
import { Plus, X } from 'lucide-react'
import { useState } from 'react'
import type { Plan, PlanItem } from '../../../../../server/protocol/runs/plan.ts'
import { request } from '../../../lib/http/api-client.ts'
import { useTranslation } from '../../../lib/i18n/use-translation.tsx'
import { Button, IconButton } from '../../../ui/controls/button.tsx'
import { inputClass } from '../../../ui/controls/field.tsx'
import { useLiveRuns } from '../runs/live-runs.ts'

/** As the server has it; its schemas are not part of the page. */
const MAX_ITEMS = 30
const MAX_CHARACTERS = 300
const STATES = ['open', 'doing', 'done', 'dropped'] as const satisfies readonly PlanItem['state'][]

const freeId = (items: readonly PlanItem[]): string => {
  let number = items.length + 1
  while (items.some(({ id }) => id === String(number))) number += 1
  return String(number)
}

/** `onClose` is called once the change is stored, and when the person cancels. */
export function PlanForm({
  runId,
  items: initial,
  onClose,
}: {
  runId: string
  items: readonly PlanItem[]
  onClose: () => void
}) {
  const { t } = useTranslation()
  const [items, setItems] = useState<readonly PlanItem[]>(initial)
  const save = useMutation({
    mutationFn: (kept: readonly PlanItem[]) =>
      request<Plan>(`/api/runs/${runId}/plan`, { method: 'PUT', body: { items: kept } }),
    onSuccess: (plan) => {
      useLiveRuns.getState().change(runId, (run) => ({ ...run, plan }))
      onClose()
    },
  })
  const change = (id: string, patch: Partial<PlanItem>): void =>
    setItems(items.map((item) => (item.id === id ? { ...item, ...patch } : item)))
  const kept = items.filter(({ text }) => text.trim() !== '')
  return (
    <form
      className="flex flex-col gap-2 py-1"
      onSubmit={(event) => {
        event.preventDefault()
        save.mutate(kept)
      }}
    >
      {items.map(({ id, text, state }, index) => (
        <div key={id} className="flex flex-wrap items-center gap-2 sm:flex-nowrap">
          <input
            aria-label={t('plan.step', { number: index + 1 })}
            value={text}
            maxLength={MAX_CHARACTERS}
            onChange={(event) => change(id, { text: event.target.value })}
            className={`${inputClass} h-9 pointer-coarse:h-11`}
          />
          <select
            aria-label={t('plan.state', { number: index + 1 })}
            value={state}
            onChange={({ target: { value } }) =>
              change(id, { state: STATES.find((one) => one === value) ?? state })
            }
            className={`${inputClass} h-9 min-w-0 flex-1 pointer-coarse:h-11 sm:w-36 sm:flex-none`}
          >
            {STATES.map((one) => (
              <option key={one} value={one}>
                {t(`plan.${one}`)}
              </option>
            ))}
          </select>
          <IconButton
            icon={X}
            label={t('plan.remove')}
            onClick={() => setItems(items.filter((item) => item.id !== id))}
          />
        </div>
      ))}
      <div className="-ms-2">
        <Button
          size="small"
          tone="quiet"
          icon={Plus}
          type="button"
          disabled={items.length >= MAX_ITEMS}
          onClick={() => setItems([...items, { id: freeId(items), text: '', state: 'open' }])}
        >
          {t('plan.add')}
        </Button>
      </div>
      <p className="text-note text-muted">{t('plan.next')}</p>
      <div className="flex gap-2">
        <Button size="small" tone="primary" type="submit" disabled={save.isPending}>
          {t('common.save')}
        </Button>
        <Button size="small" tone="quiet" type="button" onClick={onClose}>
          {t('common.cancel')}
        </Button>
      </div>
    </form>
  )
}
