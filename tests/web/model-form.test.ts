// The form of a stored model: what it shows, and what is sent.
import { expect, test } from 'vitest'
import type { AdminModel } from '../../server/protocol/models/catalog.ts'
import { formOf, patchOf } from '../../web/src/features/settings/model-form.ts'

const model: AdminModel = {
  id: 'm',
  api_url: 'https://models.example.org/v1',
  has_api_key: true,
  header_names: [],
  needs_key: false,
  source: 'store',
  created_at: null,
  vision: false,
  price: { currency: 'EUR', input: 1, output: 2, cached_input: 0.5, cache_write: 3 },
}

test('an unchanged form leaves the settings unchanged', () => {
  expect(patchOf(formOf(model), model)).toEqual({
    name: null,
    api: null,
    tool_mode: null,
    thinking: null,
    vision: false,
    pdf: null,
    context_window: null,
    max_tokens: null,
    price: model.price,
  })
})

test('changed fields are sent with their types, and emptied ones are cleared', () => {
  const form = {
    ...formOf(model),
    name: ' Mine ',
    api: 'messages',
    thinking: 'high',
    vision: '',
    pdf: 'true',
    contextWindow: '200000',
    cachedInput: '',
  }
  expect(patchOf(form, model)).toMatchObject({
    name: 'Mine',
    api: 'messages',
    thinking: 'high',
    vision: null,
    pdf: true,
    context_window: 200_000,
    price: { currency: 'EUR', input: 1, output: 2, cache_write: 3 },
  })
  expect(patchOf(form, model).price).not.toHaveProperty('cached_input')
  expect(patchOf({ ...form, input: '', output: '' }, model).price).toBeNull()
})
