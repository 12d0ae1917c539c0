// The state of a run as an attempt changes it: what has to be stored, and what the next attempt finds.
import { expect, test } from 'vitest'
import type { CallId } from '../../../server/protocol/ids.ts'
import { createRunState } from '../../../server/runs/state.ts'

const prompt = { note: 'New facts.', outside: false }

test('a change of the state is stored with the next write, once', () => {
  const state = createRunState(null)
  expect(state.nextChange()).toEqual({})
  state.addFoundTools(['create_issue'])
  state.addFoundTools(['list_pages'])
  expect(state.nextChange()).toEqual({
    state: { foundTools: ['create_issue', 'list_pages'] },
  })
  expect(state.nextChange()).toEqual({})
})

test('what an earlier attempt added to the prompt stays as it is', () => {
  const state = createRunState({ prompt })
  expect(state.setPrompt(() => ({ note: 'Other facts.', outside: true }))).toEqual(prompt)
  expect(state.nextChange()).toEqual({})
})

test('the end stores the title and the marks of the context window, and no finish', () => {
  const state = createRunState({ finish: 'stop' })
  state.setWindow({ shortenedTo: 'call-1' as CallId })
  expect(state.nextChange()).toEqual({})
  const receipt = { files: 1, commands: 0, sent: 0, unresolved: 0 }
  state.end('A title', receipt)
  expect(state.nextChange()).toEqual({
    state: { title: 'A title', window: { shortenedTo: 'call-1' }, receipt },
  })
})

test('the limit that ended a run is stored with its finish, for the attempt that stores the end', () => {
  const state = createRunState(null)
  const limit = { content: 'It is used up.', reason: 'run_tokens_used_up', params: { limit: 9 } }
  state.setFinish('budget', limit)
  const stored = state.nextChange().state
  const later = createRunState(JSON.parse(JSON.stringify(stored)))
  expect(later.current).toEqual({ finish: 'budget', limit })
  const receipt = { files: 0, commands: 0, sent: 0, unresolved: 0 }
  later.end(null, receipt)
  expect(later.nextChange()).toEqual({ state: { receipt } })
})
