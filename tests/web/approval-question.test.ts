// The titles of approval requests: what would happen, and to what.
import i18next from 'i18next'
import { expect, test } from 'vitest'
import { PendingApproval } from '../../server/protocol/runs/run-event.ts'
import { approvalQuestion, questionSays } from '../../web/src/lib/approval-question.ts'
import { pageTexts } from '../support/page/texts.ts'

const t = i18next.createInstance()
await t.init({
  lng: 'en',
  resources: { en: { translation: pageTexts('en') } },
  interpolation: { escapeValue: false },
})

const requestOf = (name: string, input: object, preview: object = {}): PendingApproval =>
  PendingApproval.parse({
    id_ref: 'call-1',
    approval_id: 'request-1',
    call_hash: 'hash',
    deadline: null,
    name,
    arguments: JSON.stringify(input),
    risk_level: 'medium',
    preview,
  })

const titleOf = (...request: Parameters<typeof requestOf>): string =>
  approvalQuestion(requestOf(...request), t.t)

test('the title of an approval request names the action and its object', () => {
  const file = { path: 'src/queue.ts', content: '' }
  expect(titleOf('file_write', file, { path: 'src/queue.ts', version: '' })).toBe(
    'Create src/queue.ts?',
  )
  expect(titleOf('file_write', file, { path: 'src/queue.ts', version: 'v1' })).toBe(
    'Replace src/queue.ts?',
  )
  const append = { ...file, mode: 'append' }
  expect(titleOf('file_write', append, { diff: '@@ -1 +1,2 @@\n a\n+b\n' })).toBe(
    'Append to src/queue.ts?',
  )
  expect(titleOf('file_write', append, { diff: '@@ -0,0 +1 @@\n+b\n' })).toBe(
    'Create src/queue.ts?',
  )
  expect(titleOf('file_edit', file)).toBe('Change src/queue.ts?')
  expect(titleOf('file_mkdir', { path: 'docs' })).toBe('Create folder docs?')
  expect(titleOf('file_delete', file)).toBe('Delete src/queue.ts?')
  expect(titleOf('exec', { command: 'npm \n test' })).toBe('Run “npm test”?')
  expect(titleOf('fetch_page', { url: 'http://a.test/' })).toBe('Open http://a.test/?')
  expect(titleOf('execute_python', { code: '1' })).toBe('Run this Python program?')
  expect(titleOf('message', { text: 'x' })).toBe('Send this message?')
  expect(titleOf('message', {}, { display_params: { to: 'Ann' } })).toBe(
    'Send this message to Ann?',
  )
})

test('the title of an approval request shows hidden characters, shortens long objects, and names other tools', () => {
  expect(titleOf('file_delete', { path: 'a\u202eb.ts' })).not.toContain('\u202e')
  const long = `${'folder/'.repeat(30)}end.ts`
  expect(titleOf('file_delete', { path: long })).toMatch(/^Delete ….{79}\?$/)
  expect(titleOf('file_delete', { path: long })).toContain('/end.ts?')
  expect(titleOf('exec', { command: `echo ${'x'.repeat(300)}` })).toMatch(/^Run “echo x+…”\?$/)
  expect(titleOf('mcp__mail__send_all', { to: 'all' })).toBe('Allow “mail: send all”?')
  expect(titleOf('file_write', {})).toBe('Allow “Write file”?')
  expect(titleOf('exec', { command: '{{tool}} $t(common.close)' })).toContain('$t(common.close)')
})

test('a detail is left out only if the question names it, not if it happens to be part of a word of the question', () => {
  expect(questionSays(requestOf('file_write', { path: 'a.md' }), 'a.md')).toBe(true)
  const long = `${'deep/'.repeat(60)}end.ts`
  expect(questionSays(requestOf('file_delete', { path: long }), long.slice(0, 160))).toBe(true)
  // "Allow “mail: send all”?", "Run this Python program?"
  expect(questionSays(requestOf('mcp__mail__send_all', { to: 'all' }), 'all')).toBe(false)
  expect(questionSays(requestOf('execute_python', { code: 'r' }), 'r')).toBe(false)
})
