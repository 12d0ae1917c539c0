// The state and actions of the setup: current step, entered values, testing the provider, storing models.
import { useState } from 'react'
import { useLocation, useSearch } from 'wouter'
import { useAdminModels, useChangeModel, useProbe, useStoreModel } from '../../lib/api/catalog.ts'
import { paths } from '../../lib/paths.ts'
import {
  modelsOf,
  readForm,
  type SetupForm,
  type SetupStep,
  STEPS,
  secretsOf,
  writeForm,
} from './setup-form.ts'

/** The entered values and what can be done with them. */
export function useSetup() {
  const [, navigate] = useLocation()
  const search = useSearch()
  const [form, setForm] = useState(readForm)
  const probe = useProbe()
  const store = useStoreModel()
  const exchange = useChangeModel(true)
  const existing = new Set(
    useAdminModels(true).data?.flatMap(({ id, source }) => (source === 'store' ? [id] : [])),
  )
  const report = probe.data?.reachable === true ? probe.data : null
  const named = STEPS.find((one) => one === new URLSearchParams(search).get('step')) ?? 'provider'
  // A reload loses the test result and the key, so the entered values have to be tested again.
  const isLost = (named === 'models' && report === null) || (named === 'try' && !form.added.length)
  const step = isLost ? 'provider' : named
  const go = (to: SetupStep): void => navigate(`${paths.setup}?step=${to}`)
  const change = (part: Partial<SetupForm>): void => {
    const next = { ...form, ...part }
    setForm(next)
    writeForm(next)
    store.reset()
    exchange.reset()
    if (
      part.apiUrl !== undefined ||
      part.api !== undefined ||
      part.apiKey !== undefined ||
      part.headers !== undefined
    )
      probe.reset()
  }
  const test = (model: string): void =>
    probe.mutate(
      {
        api_url: form.apiUrl.trim(),
        ...(form.api === '' ? {} : { api: form.api }),
        ...secretsOf(form),
        ...(model === '' ? {} : { upstream_model: model }),
      },
      {
        onSuccess(found) {
          if (!found.reachable) return
          const first = found.suggested.upstream_model ?? found.models[0] ?? ''
          if (model === '') change({ model: first })
          go('models')
        },
      },
    )
  /** Stores the models. With `replace`, models that exist get the new settings, otherwise they are refused. */
  const save = async (replace = false): Promise<void> => {
    if (report === null) return
    const added: string[] = []
    try {
      for (const settings of modelsOf(form, report)) {
        const { id, ...patch } = settings
        if (replace && existing.has(id)) await exchange.mutateAsync({ id, patch })
        else await store.mutateAsync(settings)
        added.push(id)
      }
    } catch {
      return // shown with the form
    }
    change({ added, apiKey: '', headers: '', also: [] })
    go('try')
  }
  /** The models to add whose id is taken by a stored model. */
  const taken =
    report === null
      ? []
      : modelsOf(form, report).flatMap(({ id }) => (existing.has(id) ? [id] : []))
  return { form, change, exchange, go, probe, report, save, step, store, taken, test }
}
