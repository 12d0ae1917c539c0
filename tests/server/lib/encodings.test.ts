// The decoder of texts: which encoding it finds, and writing in the same one.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import {
  decodeFileName,
  decodeText,
  decodeTextAs,
  encodeText,
  encodingNamed,
} from '../../../server/lib/encodings.ts'
import { encodingsWith } from '../../../web/src/lib/encodings.ts'

const fixture = (name: string): Buffer =>
  readFileSync(join(import.meta.dirname, '../../fixtures/documents', name))

const FILES = [
  ['namen-ansi.txt', 'windows-1252', 'Düsseldorf'],
  ['villes-ansi.csv', 'windows-1252', 'théâtre'],
  ['zh-gbk.csv', 'gb18030', '张三'],
  ['notice-gbk.txt', 'gb18030', '下周一放假'],
  ['memo-big5.txt', 'big5', '會議紀錄'],
  ['uriage-sjis.csv', 'shift_jis', '山田太郎'],
  ['mail-eucjp.txt', 'euc-jp', '会議は来週'],
  ['memo-euckr.csv', 'euc-kr', '홍길동'],
  ['pismo-1251.txt', 'windows-1251', 'Заседание'],
] as const

const TEXTS = [
  ['windows-1252', 'Müller'],
  ['windows-1252', 'Es ist schön, dass ihr da wart. Grüße aus München'],
  ['windows-1252', 'It’s a “test” – really…'],
  ['windows-1252', 'São Paulo não é a capital'],
  ['windows-1252', 'Ærø, Ålborg og Københavns smørrebrød'],
  ['windows-1252', 'LE CAFÉ EST FERMÉ À NOËL'],
  ['windows-1252', '1234;Größe;5 °C;§ 3;12 €'],
  ['windows-1252', 'ÅÄÖ åäö'],
  ['windows-1252', 'Buchstaben: äöüß ÄÖÜ, æøå'],
  ['windows-1251', 'Нет'],
  ['gb18030', '你好'],
  ['gb18030', 'ABC公司,发票号码12345'],
  ['shift_jis', '売上データ 2026年1月'],
  ['shift_jis', 'テスト'],
  ['euc-jp', 'こんにちは'],
  ['euc-kr', '안녕하세요'],
  ['big5', '您好，這是測試'],
  ['windows-1251', 'Привет'],
  ['windows-1251', 'ПРОТОКОЛ ЗАСЕДАНИЯ'],
  ['windows-1251', 'Іван Франко, Київ, ґрунт'],
  ['koi8-u', 'Привет, как дела?'],
  ['ibm866', 'Привет, как дела? Договор № 5'],
  ['windows-1250', 'Zażółć gęślą jaźń'],
  ['windows-1250', 'Příliš žluťoučký kůň'],
  ['iso-8859-2', 'Zażółć gęślą jaźń, dziś jest piątek'],
  ['windows-1253', 'Καλημέρα κόσμε'],
  ['windows-1254', 'Şişli İstanbul’da güzel bir yer, ığdır'],
  ['windows-1255', 'שלום עולם, זה מסמך'],
  ['windows-1255', 'מחיר כולל מע״מ'],
  ['windows-1252', '2½ Tassen Mehl'],
  ['windows-1256', 'مرحبا بالعالم'],
  ['windows-1257', 'Ąžuolas, šeši žąsyčiai'],
  ['macintosh', 'Grüße aus München, schöne Tage'],
  ['utf-16le', 'Hello world'],
  ['utf-16be', 'Hello world\nsecond line'],
  ['utf-16le', '姓名,城市\n张三,北京'],
  ['utf-16be', 'こんにちは世界'],
] as const

describe('the encoding of a text without a mark', () => {
  test.each(FILES)('is found in %s: %s', (name, encoding, text) => {
    const decoded = decodeText(fixture(name))
    expect(decoded?.encoding).toEqual({ name: encoding, bom: false })
    expect(decoded?.text).toContain(text)
  })

  test.each(TEXTS)('is found as %s for “%s”', (name, text) => {
    const bytes = encodeText(text, { name, bom: false })
    expect(bytes).not.toBeNull()
    expect(decodeText(bytes ?? Buffer.of())).toEqual({ text, encoding: { name, bom: false } })
  })

  test.each([
    ['gb18030', '注释 登录 密码 客户 编号 版本 备注 订单 按钮 菜单 账户 库存 仓库 支付 搜索'],
    ['big5', '登入 密碼 客戶 編號 版本 訂單 選單 註解'],
    ['euc-kr', '이름 주소 전화 날짜 번호 고객 주문 회사'],
    ['windows-1251', 'Имя Адрес Дата Цена'],
  ])('is found as %s when one word of a file is not ASCII: %s', (name, words) => {
    const wrong = words.split(' ').filter((word) => {
      const texts = [`// ${word}\nint main() { return 0; }\n`, `id,${word}\n1,2\n`]
      return texts.some((text) => {
        const bytes = encodeText(text, { name, bom: false })
        return decodeText(bytes ?? Buffer.of())?.text !== text
      })
    })
    expect(wrong).toEqual([])
  })

  test('stays UTF-8 when a long text has a bad byte, which becomes one U+FFFD', () => {
    const text = 'Größe und Übung sind schön. '.repeat(3_000)
    const bytes = Buffer.concat([Buffer.from(text), Buffer.of(0xe9), Buffer.from(text)])
    expect(decodeText(bytes)).toEqual({
      text: `${text}\ufffd${text}`,
      encoding: { name: 'utf-8', bom: false },
    })
  })

  test('is found when the first character that shows it comes late in a long text', () => {
    const text = `${'plain line\n'.repeat(20_000)}Grüße aus Köln\n${'plain line\n'.repeat(20_000)}`
    expect(decodeText(Buffer.from(text, 'latin1'))).toMatchObject({
      text,
      encoding: { name: 'windows-1252' },
    })
  })

  test('is ISO-2022-JP when its escape sequences switch to Japanese', () => {
    const bytes = Buffer.from('\x1b$B2q5D\x1b(B at 10', 'latin1')
    expect(decodeText(bytes)).toMatchObject({
      text: '会議 at 10',
      encoding: { name: 'iso-2022-jp' },
    })
  })

  test.each([
    ['a page', '<!doctype html>\n<meta charset="windows-1250">', 'windows-1250'],
    ['XML', '<?xml version="1.0" encoding="ISO-8859-2"?>\n<a>', 'iso-8859-2'],
    ['a style sheet', '@charset "windows-1250";\n', 'windows-1250'],
    ['a program', '#!/usr/bin/python\n# -*- coding: cp1250 -*-\n', 'windows-1250'],
  ])('is the one that %s declares, if the bytes fit it', (_, beginning, name) => {
    const text = `${beginning} Łódź`
    const bytes = encodeText(text, { name, bom: false }) ?? Buffer.of()
    expect(decodeText(bytes)).toEqual({ text, encoding: { name, bom: false } })
    const other = beginning.replace(/windows-1250|ISO-8859-2|cp1250/, 'shift_jis')
    const wrong = Buffer.from(`${other} \xff`, 'latin1')
    expect(decodeText(wrong)?.encoding.name).not.toBe('shift_jis')
  })

  test('is that of Windows when a page declares the ISO standard that it extends', () => {
    const text = '<meta charset="iso-8859-2"> Žluťoučký kůň, příští týden'
    const bytes = encodeText(text, { name: 'windows-1250', bom: false }) ?? Buffer.of()
    expect(decodeText(bytes)).toMatchObject({ text, encoding: { name: 'windows-1250' } })
  })

  test('can be chosen on the page, whichever is found', () => {
    const choices = encodingsWith('utf-8').map(({ value }) => value)
    expect(TEXTS.map(([name]) => name).filter((name) => !choices.includes(name))).toEqual([])
    expect(choices.filter((name) => encodingNamed(name) !== name)).toEqual([])
  })

  test('is none for binary bytes', () => {
    for (const bytes of [
      Buffer.from('\x89PNG\r\n\x1a\n\0\0\0\rIHDR', 'latin1'),
      Buffer.alloc(64),
      Buffer.of(1, 2, 0, 3),
      fixture('travel.docx'),
    ])
      expect(decodeText(bytes)).toBeNull()
  })
})

describe('a byte order mark', () => {
  test.each(['utf-8', 'utf-16le', 'utf-16be'])('of %s decides, and is written again', (name) => {
    const encoding = { name, bom: true }
    const bytes = encodeText('Grüße, 你好', encoding)
    expect(decodeText(bytes ?? Buffer.of())).toEqual({ text: 'Grüße, 你好', encoding })
  })
})

describe('a text in another encoding', () => {
  test.each(FILES)('is written as it was read (%s)', (name) => {
    const bytes = fixture(name)
    const { text, encoding } = decodeText(bytes) ?? { text: '', encoding: { name: '', bom: false } }
    expect(encodeText(text, encoding)).toEqual(bytes)
  })

  test('is not written when it has characters that the encoding lacks', () => {
    expect(encodeText('Grüße 你好', { name: 'windows-1252', bom: false })).toBeNull()
    expect(encodeText('naïve 😀', { name: 'shift_jis', bom: false })).toBeNull()
    expect(encodeText('会議', { name: 'iso-2022-jp', bom: false })).toBeNull()
  })

  test('has characters beyond U+FFFF in GB18030', () => {
    const bytes = encodeText('好😀', { name: 'gb18030', bom: false })
    expect(bytes && new TextDecoder('gb18030').decode(bytes)).toBe('好😀')
  })

  test('is decoded as requested, and not at all when the bytes do not fit', () => {
    const bytes = fixture('zh-gbk.csv')
    expect(decodeTextAs(bytes, 'GBK')?.text).toContain('张三')
    expect(decodeTextAs(bytes, 'utf-8')).toBeNull()
    expect(() => decodeTextAs(bytes, 'nonsense')).toThrow(RangeError)
  })
})

test.each([
  ['Übersicht für Müller.txt', [0x9a, 0x81, 0x81]],
  ['Grüße.md', [0x81, 0xe1]],
  ['Résumé à lire.txt', [0x82, 0x82, 0x85]],
])('the name %s of an archive is read in the code page of DOS', (name, high) => {
  let at = 0
  const bytes = Array.from(name, (character) =>
    character < '\x80' ? character.charCodeAt(0) : (high[at++] ?? 0),
  )
  expect(decodeFileName(Uint8Array.from(bytes))).toBe(name)
})

test.each([
  ['ibm866', 'Договор и смета.txt'],
  ['gb18030', '会议纪要.md'],
  ['shift_jis', '議事録.txt'],
])('a name of an archive in %s is read: %s', (encoding, name) => {
  const bytes = encodeText(name, { name: encoding, bom: false })
  expect(decodeFileName(bytes ?? Buffer.of())).toBe(name)
})
