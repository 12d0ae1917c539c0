// Text is split into the same search words when it is indexed and when it is queried.
import { describe, expect, test } from 'vitest'
import {
  furtherWords,
  hasPart,
  indexWords,
  queryWords,
  withoutArticle,
} from '../../../server/lib/words.ts'

const asked = (text: string) =>
  queryWords(text).map(({ word, prefix }) => (prefix ? `${word}*` : word))

describe('words', () => {
  test('case, accents, full width and plurals make no difference', () => {
    expect(indexWords('Vacation Policies, Wörld!')).toEqual(['vacation', 'policy', 'world'])
    expect(asked('policy WORLD')).toEqual(['policy', 'world'])
  })

  test('Chinese is found by any two neighbouring characters, and by one', () => {
    expect(indexWords('年假十二天')).toEqual(['年假', '假十', '十二', '二天', '天'])
    expect(asked('十二天')).toEqual(['十二', '二天'])
    expect(asked('年')).toEqual(['年*'])
    expect(indexWords('用API的时间8点')).toEqual(['用', 'api', '的时', '时间', '间', '8', '点'])
  })

  test('every word of a question is among the index words of the same text', () => {
    const text = '标准工作时间为每天8小时,API v2 的弹性上班时间为上午八点。'
    const stored = new Set(indexWords(text))
    for (const { word } of queryWords(text)) expect(stored).toContain(word)
  })

  test('stop words of a question are left out unless it has no others', () => {
    expect(asked('How many days of vacation do we have?')).toEqual(['many', 'day', 'vacation'])
    expect(asked('to be or not to be')).not.toEqual([])
  })

  test('punctuation alone is not a word, and a question has a limited number of words', () => {
    expect(asked('"*( AND ) --;')).toEqual(['and'])
    expect(indexWords('…')).toEqual([])
    expect(queryWords(Array.from({ length: 500 }, (_, i) => `w${i}x`).join(' '))).toHaveLength(32)
  })

  test('each emoji is a word, whatever its skin and style, and asked for only if there is nothing else', () => {
    expect(indexWords('👍🏽👍 ❤️ 🇩🇪!')).toEqual(['👍', '👍', '❤', '🇩🇪'])
    expect(asked('🎉')).toEqual(['🎉'])
    expect(asked('a party 🎉')).toEqual(['party'])
  })

  test('vowel marks of Arabic, its lengthening line and points of Hebrew make no difference', () => {
    expect(indexWords('كِتَابٌ كتـــاب')).toEqual(['كتاب', 'كتاب'])
    expect(indexWords('שָׁלוֹם')).toEqual(['שלום'])
    expect(withoutArticle('والكتاب')).toBe('كتاب')
    expect(withoutArticle('الله')).toBe('الله')
  })

  test('the ends of compounds are indexed, but not those of short words, names of files and checksums', () => {
    const parts = [...furtherWords(['haustürschlüssel'])].map((part) => part.slice(1))
    expect(parts).toEqual(expect.arrayContaining(['schlüssel', 'türschlüssel']))
    expect([...furtherWords(['schlüssel', 'e3b0c44298fc1c149afb', '今天'])]).toEqual([])
    expect(hasPart('haustürschlüssel', 'schlüss')).toBe(true)
    expect(hasPart('haustürschlüssel', 'haus')).toBe(false)
  })

  test('characters outside the basic plane stay whole', () => {
    expect(indexWords('𠮷野家')).toEqual(['𠮷野', '野家', '家'])
  })
})
