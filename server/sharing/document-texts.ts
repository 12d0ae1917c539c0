// The server's own words in shared pages and exported files, in the reader's language.
import { translations } from './document-translations.ts'

const english = {
  shared: 'Shared conversation',
  copied: 'Copy of',
  user: 'User',
  assistant: 'Assistant',
  thinking: 'Thinking',
  call: 'Tool call',
  result: 'Result',
  sources: 'Sources',
  attachment: 'Attachment',
  colon: ': ',
  bytes: (count: number): string => `(${count} bytes)`,
  password: 'This conversation is protected by a password.',
  field: 'Password',
  open: 'Open',
  wrong: 'The password is incorrect.',
  tooMany: 'Too many attempts. Wait a while, then try again.',
  continue: 'Continue in NanoClaw',
  gone: 'This link no longer works',
  goneText: 'It may have expired, or its owner revoked it.',
  written: 'Written by people and language models. Check important information.',
}
/** The texts of exported and shared documents in one language. */
export type DocumentTexts = typeof english
const chinese: DocumentTexts = {
  shared: '分享的对话',
  copied: '副本生成于',
  user: '用户',
  assistant: '助手',
  thinking: '思考过程',
  call: '工具调用',
  result: '结果',
  sources: '来源',
  attachment: '附件',
  colon: '：',
  bytes: (count) => `（${count} 字节）`,
  password: '这个对话受密码保护。',
  field: '密码',
  open: '打开',
  wrong: '密码不正确。',
  tooMany: '尝试次数过多，请过一会儿再试。',
  continue: '在 NanoClaw 中继续',
  gone: '此链接已失效',
  goneText: '它可能已到期，或已被分享者撤回。',
  written: '内容由用户和语言模型撰写，重要信息请自行核实。',
}

const traditional: DocumentTexts = {
  shared: '分享的對話',
  copied: '副本建立於',
  user: '使用者',
  assistant: '助理',
  thinking: '思考過程',
  call: '工具呼叫',
  result: '結果',
  sources: '來源',
  attachment: '附件',
  colon: '：',
  bytes: (count) => `（${count} 位元組）`,
  password: '這個對話受密碼保護。',
  field: '密碼',
  open: '開啟',
  wrong: '密碼不正確。',
  tooMany: '嘗試次數過多，請稍後再試。',
  continue: '在 NanoClaw 中繼續',
  gone: '此連結已失效',
  goneText: '它可能已到期，或已由分享者停止分享。',
  written: '內容由使用者和語言模型撰寫，重要資訊請自行查證。',
}

export const documentTexts = {
  en: english,
  'zh-CN': chinese,
  'zh-TW': traditional,
  ...translations,
} satisfies Record<string, DocumentTexts>

/** A language of documents as a tag for `lang` and `Content-Language`. */
export type DocumentLanguage = keyof typeof documentTexts

const isTag = (tag: string): tag is DocumentLanguage => Object.hasOwn(documentTexts, tag)
const TAGS = Object.keys(documentTexts).filter(isTag)

/** The language that is written for "pt" or "pt-PT": "pt-BR"; for "zh-HK" or "zh-Hant": "zh-TW". */
const tagOf = (wanted: string): DocumentLanguage | undefined =>
  /^zh-(hant|tw|hk|mo)/.test(wanted)
    ? 'zh-TW'
    : TAGS.find((tag) => tag.split('-')[0] === wanted.split('-')[0])

/** Number of languages of a header that are considered. */
const MAX_LANGUAGES = 20

/** The language that a reader prefers. @param accepted the header `Accept-Language`. */
export function documentLanguage(accepted: string | undefined): DocumentLanguage {
  const wanted = (accepted ?? '').split(',', MAX_LANGUAGES).map((one) => {
    const [tag = '', ...parameters] = one.split(';').map((part) => part.trim().toLowerCase())
    const weight = parameters.find((parameter) => parameter.startsWith('q='))
    return { tag: tagOf(tag), weight: weight === undefined ? 1 : Number(weight.slice(2)) }
  })
  const best = wanted
    .filter(({ tag, weight }) => tag !== undefined && weight > 0)
    .reduce<(typeof wanted)[number] | undefined>(
      (found, one) => (found === undefined || one.weight > found.weight ? one : found),
      undefined,
    )
  return best?.tag ?? 'en'
}
