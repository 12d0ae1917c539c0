// Durations and sizes as people of each language write them.
import { expect, test } from 'vitest'
import type { QuotaItem } from '../../server/protocol/accounts/quota.ts'
import {
  compactNumber,
  duration,
  elapsed,
  fileSize,
  fineDuration,
  fullDay,
  fullTime,
  gapAfter,
  measure,
  momentText,
  numbersAlike,
} from '../../web/src/lib/format.ts'
import { quotaAmount } from '../../web/src/ui/quota-amount.ts'

test('durations have the decimal separator and the symbols of the language', () => {
  expect([duration(3.42, 'en'), duration(3.42, 'de'), duration(3.42, 'fr')]).toEqual([
    '3.4 s',
    '3,4 s',
    '3,4 s',
  ])
  expect([duration(3.42, 'ru'), duration(3.42, 'zh'), duration(0.004, 'de')]).toEqual([
    '3,4 с',
    '3.4 秒',
    '< 0,01 s',
  ])
  expect([fineDuration(35, 'ru'), fineDuration(1_234, 'pt'), fineDuration(0, 'en')]).toEqual([
    '35 мс',
    '1,2 s',
    '0 s',
  ])
})

test('a duration is rounded once, so no part of it reaches the next unit', () => {
  expect([duration(9.97, 'en'), duration(59.7, 'en'), duration(119.6, 'en')]).toEqual([
    '10 s',
    '1 min 0 s',
    '2 min 0 s',
  ])
  expect([fineDuration(999.7, 'en'), elapsed(59.9, 'en'), elapsed(125.9, 'en')]).toEqual([
    '1.0 s',
    '59 s',
    '2 min 5 s',
  ])
})

test('sizes have the decimal separator and the symbols of the language', () => {
  expect([fileSize(900, 'en'), fileSize(1_536, 'en'), fileSize(1_536, 'de')]).toEqual([
    '900 B',
    '1.5 KB',
    '1,5 KB',
  ])
  expect([fileSize(1_536, 'fr'), fileSize(20_480, 'ru'), fileSize(3 * 1_024 ** 3, 'fr')]).toEqual([
    '1,5 Ko',
    '20 КБ',
    '3,0 Go',
  ])
})

test('a date looks the same with and without its time', () => {
  const moment = '2026-03-05T12:00:00Z'
  for (const language of ['en', 'de', 'fr', 'ja', 'zh', 'zh-Hant'])
    expect(fullTime(moment, language)).toContain(fullDay(moment, language))
})

test('the value of a field with a date or a time is written as dates and times are; what is no value is empty', () => {
  expect(momentText('date', '2026-03-05', 'de')).toBe('05.03.2026')
  expect(momentText('time', '18:05', 'de')).toBe('18:05')
  expect(momentText('time', '18:05', 'en')).toMatch(/^6:05\sPM$/)
  expect(momentText('datetime-local', '2026-03-05T18:05', 'zh-CN')).toBe('2026年3月5日 18:05')
  expect(momentText('date', '', 'de')).toBe('')
})

test('after a full-width colon there is no space', () => {
  expect(gapAfter('失败：')).toBe('')
  expect(gapAfter('failed:')).toBe(' ')
})

test('measurements are written as the language does, without a negative zero', () => {
  expect(measure(-3.4, '°C', 'en')).toBe('−3°C')
  expect(measure(-0.2, '°', 'en')).toBe('0°')
  expect(measure(12.5, 'km/h', 'ru')).toMatch(/^13\sкм\/ч$/)
  expect(measure(40, '%', 'de')).toMatch(/^40\s%$/)
  expect(measure(2, 'inch', 'en')).toBe('2 inch')
})

test('a compact number is grouped like a whole one, which stands beside it', () => {
  expect(compactNumber(7_086, 'de')).toBe('7.086')
  expect(compactNumber(7_086, 'zh-CN')).toBe('7,086')
  expect(compactNumber(7_086, 'en')).toBe('7.1K')
  expect(compactNumber(950, 'de')).toBe('950')
})

test('numbers that stand beside each other have one form, also where one of them has a short form', () => {
  for (const language of ['zh-CN', 'en', 'de']) {
    const both = [8_500, 10_000].map(numbersAlike([8_500, 10_000], language))
    expect(both).toEqual([
      new Intl.NumberFormat(language).format(8_500),
      new Intl.NumberFormat(language).format(10_000),
    ])
  }
  const million = numbersAlike([1_500_000, 20_000_000], 'zh-CN')
  expect([million(1_500_000), million(20_000_000)]).toEqual(['150万', '2,000万'])
})

test('what is used of a quota has the form of its limit', () => {
  const tokens: QuotaItem = {
    kind: 'tokens_per_day',
    group: null,
    limit: 10_000,
    used: 8_500,
    renews_at: null,
    currency: null,
  }
  expect([8_500, 10_000].map((value) => quotaAmount(tokens, value, 'zh-CN'))).toEqual([
    '8,500',
    '10,000',
  ])
})
