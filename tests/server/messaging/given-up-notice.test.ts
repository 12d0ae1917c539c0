// The notice to the sender of a message that could not be delivered.
import { expect, test } from 'vitest'
import { givenUpNotice } from '../../../server/messaging/given-up-notice.ts'

const failure = { channel: 'ops', error: 'the receiver responded with status 500' }

test('the notice of an undelivered message is written in the language of the message', () => {
  expect(givenUpNotice({ ...failure, text: 'The build failed.' })).toBe(
    'The message to channel:ops could not be delivered (the receiver responded with status 500): “The build failed.”',
  )
  const chinese = givenUpNotice({ ...failure, text: '构建失败了。' })
  expect(chinese).toContain('未能送达：“构建失败了。”')
  expect(chinese).not.toContain('responded')
})

test('the notice quotes at most 200 characters of a long message', () => {
  const notice = givenUpNotice({ ...failure, text: 'x'.repeat(5_000) })
  expect(notice).toContain(`“${'x'.repeat(200)}”`)
})
