// The words of the page: those of its readers, not those of its authors.
import { describe, expect, test } from 'vitest'
import { areaTexts, flat, pageTexts } from '../support/page/texts.ts'

/** The texts that match `words`, apart from those of `exempt` keys. */
const saying = (texts: [string, string][], words: RegExp, exempt = /^$/): [string, string][] =>
  texts.filter(([key, text]) => words.test(text) && !exempt.test(key))

/** All texts of a Chinese page. */
const chineseTexts = (language: 'zh' | 'zh-Hant'): [string, string][] =>
  flat({
    ...pageTexts(language),
    refusals: areaTexts(language, 'refusals'),
    findings: areaTexts(language, 'findings'),
  })

describe('the words of the page', () => {
  test('are not our own in English: no iterations, runs as things, passages, strictness or text from outside', () => {
    const texts = flat(pageTexts('en'))
    const refusals = flat({ refusals: areaTexts('en', 'refusals') })
    expect(saying([...texts, ...refusals], /(from outside|outside text)/i)).toEqual([])
    expect(saying(texts, /iteration|\bpassages?\b|\bstrictness: /i)).toEqual([])
    expect(
      saying(
        texts,
        /\b(the|this|that|a|last|recent|active|inspect)\s+runs?\b|^runs?\s(?=inspector)/i,
      ),
    ).toEqual([])
    expect(saying(texts, /\}\} thinking/)).toEqual([])
  })

  test('are one for each thing in Chinese', () => {
    const texts = chineseTexts('zh')
    const ours =
      /批准|审批|运行详情|最近的运行|这次运行|迭代|首个 token|第二重|双重验证|撤销链接|自动检测|移除|按名称附加|保存提示词|外部内容|外部文本|严格级别/
    expect(saying(texts, ours)).toEqual([])
    // A quota is written as "0 / 8".
    expect(saying(texts, /已用 \{\{/)).toEqual([])
    // A name before 的 is in quotation marks; numbers, sizes and addresses are not.
    expect(saying(texts, /\{\{(name|url|model|tool)\}\} 的/)).toEqual([])
    // "您" and "你" are never mixed.
    expect(saying(texts, /您/)).toEqual([])
    // 地址 alone can be an address of the network, of a page or of mail.
    expect(saying(texts, /(?<!IP |邮箱|收信|网络|API )地址/)).toEqual([])
    const byKey = new Map(texts)
    expect(byKey.get('admin.detail.address')).toBe('IP 地址')
    expect(byKey.get('webhooks.url')).toBe('网址')
  })

  test('are Traditional Chinese where one character or word of Simplified Chinese is several', () => {
    const texts = chineseTexts('zh-Hant')
    // 只, 准, 后, 签, 项目 and 用户 with the wrong one of their two counterparts.
    const misread = /隻能|獲準|天后|籤名|留空的專案|使用者名稱空間/
    expect(saying(texts, misread)).toEqual([])
    expect(saying(texts, /(?<!IP |網路|API )位址/)).toEqual([])
    expect(saying(texts, /您/)).toEqual([])
  })
})
