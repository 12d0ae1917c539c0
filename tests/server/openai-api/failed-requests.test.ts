// What is remembered of requests that failed, so that programs that repeat them do not flood a broken provider.
import { expect, test } from 'vitest'
import { createFailedRequests } from '../../../server/openai-api/failed-requests.ts'

const request = {
  userId: 'user',
  path: '/v1/responses',
  length: '100',
  same: { model: 'nanoclaw', newest: 'Hello' },
}
const failure = {
  code: 'model_unavailable',
  content: 'The provider has a problem.',
  retryable: true,
}

/** The memory of a request that the provider has failed four times, and its clock in seconds. */
function failedFourTimes() {
  let seconds = 1
  const failed = createFailedRequests(() => seconds * 1_000)
  failed.add(request, failure, 4)
  return {
    failed,
    /** Sends the request again. */
    againAfter(pause: number) {
      seconds += pause
      return failed.find(request)
    },
  }
}

test('a program that doubles its pauses is recognized at each of its attempts', () => {
  const { againAfter } = failedFourTimes()
  for (const pause of [2, 4, 8, 16, 32, 64])
    expect([pause, againAfter(pause)]).toMatchObject([pause, { isRecent: true, attempts: 4 }])
})

test('a program that began with a short pause is still known by it after long ones', () => {
  const { againAfter } = failedFourTimes()
  for (const pause of [1, 4, 16]) expect(againAfter(pause)?.shortestPauseMs).toBe(1_000)
})

test('a person who tries again after half a minute reaches the provider', () => {
  const { againAfter } = failedFourTimes()
  expect(againAfter(1)?.isRecent).toBe(true)
  expect(againAfter(30)?.isRecent).toBe(false)
})

test('a person who goes on trying reaches the provider after three minutes at the latest', () => {
  const { failed, againAfter } = failedFourTimes()
  for (let count = 0; count < 17; count += 1) expect(againAfter(10)?.isRecent).toBe(true)
  expect(againAfter(10)?.isRecent).toBe(false)
  failed.add(request, failure, 1)
  expect(againAfter(10)).toMatchObject({ isRecent: true, attempts: 5 })
})

test('a request that nobody repeats for a minute and a half is forgotten', () => {
  const { againAfter } = failedFourTimes()
  expect(againAfter(91)).toBeUndefined()
})
