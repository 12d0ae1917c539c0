// Errors from the server in the page's language: every reason and every error code has a text in every language.
import i18next from 'i18next'
import { beforeAll, describe, expect, test } from 'vitest'
import { ERROR_CODES } from '../../server/protocol/error.ts'
import { STORED_FAILURES } from '../../server/protocol/failures/stored.ts'
import { FAILURES } from '../../server/protocol/failures.ts'
import { endFirstScreen } from '../../web/src/lib/browser/first-screen.tsx'
import { fullTime } from '../../web/src/lib/format.ts'
import { loadRefusals, refusalText, setOperator } from '../../web/src/lib/http/refusal-text.ts'
import { eventually } from '../support/eventually.ts'
import { areaTexts, flat, pageTexts } from '../support/page/texts.ts'

test('every reason that the server can give has a Chinese text', () => {
  const texts = new Map(flat(areaTexts('zh', 'refusals')))
  const lacking = [
    ...Object.keys(FAILURES),
    ...Object.keys(STORED_FAILURES),
    ...Object.keys(ERROR_CODES),
  ].filter((reason) => !/\p{Script=Han}/u.test(texts.get(`reasons.${reason}`) ?? ''))
  expect(lacking).toEqual([])
})

describe('a refusal on the Chinese page', () => {
  const full = {
    reason: 'memory_too_long',
    params: { limit: 10, length: 12 },
    message: 'At most 10',
  }
  beforeAll(async () => {
    await i18next.init({
      lng: 'zh',
      resources: { zh: { translation: pageTexts('zh') } },
    })
    expect(refusalText(full)).toBe('At most 10') // these texts are loaded after the first screen
    loadRefusals('zh')
    endFirstScreen()
    await eventually(() => expect(refusalText(full)).not.toBe('At most 10'))
  })

  test('is shown in Chinese with its parameters', () => {
    expect(refusalText(full)).toBe('记忆最多 10 个字符，这段文字有 12 个，请缩短。')
  })

  test('quotes the server if only the kind of failure is known', () => {
    expect(refusalText({ reason: 'conflict', message: 'Stop it first.' })).toBe(
      '与当前状态冲突：Stop it first.',
    )
  })

  test("is shown in the server's English when its reason is unknown or a parameter is missing", () => {
    expect(refusalText({ reason: 'from_tomorrow', message: 'New.' })).toBe('New.')
    expect(refusalText({ reason: 'constructor', message: 'New.' })).toBe('New.')
    expect(refusalText({ ...full, params: {} })).toBe('At most 10')
  })

  test('writes times in the zone of its reader, numbers with separators, sizes and lists as its language does', () => {
    const renews_at = '2026-04-01T00:00:00.000Z'
    expect(
      refusalText({
        reason: 'tokens_per_day_used_up',
        params: { limit: 100_000, renews_at },
        message: '',
      }),
    ).toBe(`你今天的 100,000 个 token 已用完，将于 ${fullTime(renews_at, 'zh')} 恢复。`)
    expect(
      refusalText({
        reason: 'model_not_permitted',
        params: { model: 'm', available: ['a', 'b', 'c'] },
        message: '',
      }),
    ).toBe('你所在的组不能使用模型“m”。可以使用：a、b和c。')
    expect(
      refusalText({
        reason: 'approval_mode_not_permitted',
        params: { mode: 'auto', available: ['ask'] },
        message: '',
      }),
    ).toContain('“从不询问”。可以使用：先问我。')
  })

  test('tells a member whom to ask, not what only an administrator can set', async () => {
    const refusal = {
      reason: 'model_unauthorized',
      params: { model: 'm', status: 401 },
      message: '',
    }
    expect(refusalText(refusal)).toContain('请在设置中检查密钥')
    setOperator(false)
    expect(refusalText(refusal)).toBe(
      '由于这台服务器上的设置，“m”暂时无法回答。请换一个模型，或告知管理员。',
    )
    setOperator(true)
  })

  test('quotes the provider after the text, and names the model that is tried next', () => {
    const params = { model: 'M', status: 400, detail: 'no such field' }
    expect(refusalText({ reason: 'model_refused', params, message: 'M refused.' })).toBe(
      '“M”的提供商拒绝了请求（400）。提供商的说明：no such field',
    )
    const next = { model: 'M', seconds: 3, next_model: 'N' }
    expect(refusalText({ reason: 'model_timeout_silence', params: next, message: '' })).toBe(
      '“M”已有 3 秒没有任何响应。改用“N”。',
    )
  })

  test('is shown in Chinese for documents, deliveries and MCP servers too', () => {
    expect(
      refusalText({ reason: 'delivery_refused', params: { status: 403 }, message: 'answered 403' }),
    ).toBe('接收方返回了 403')
    expect(refusalText({ reason: 'mcp_ended', params: null, message: 'its process exited' })).toBe(
      '它已退出',
    )
  })
})

test("on the English page, the server's text has times in the zone of its reader and numbers with separators", async () => {
  await i18next.changeLanguage('en')
  const renews_at = '2026-04-01T00:00:00.000Z'
  expect(
    refusalText({
      reason: 'tokens_per_day_used_up',
      params: { limit: 100_000, renews_at },
      message:
        'You have used up today’s limit of 100000 tokens. It resets at 2026-04-01 00:00 UTC.',
    }),
  ).toBe(
    `You have used up today’s limit of 100,000 tokens. It resets at ${fullTime(renews_at, 'en')}.`,
  )
})
