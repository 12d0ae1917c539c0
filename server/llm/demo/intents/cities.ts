// The cities that the demo model knows: their names in each of the page's languages, and their time zones.

/**
 * English, German, French, Spanish, Portuguese, Russian (as after "in"), Japanese, Korean, Simplified and Traditional Chinese;
 * equal names once, and none that is also a usual word ("seul").
 */
const CITIES: readonly (readonly [timezone: string, ...names: string[]])[] = [
  ['Asia/Tokyo', 'tokyo', 'tokio', 'tóquio', 'токио', '東京', '도쿄', '东京'],
  [
    'Asia/Shanghai',
    ...['shanghai', 'schanghai', 'shangai', 'xangai', 'шанхае', '上海', '상하이'],
    ...['beijing', 'peking', 'pékin', 'pekín', 'pequim', 'пекине', '北京', '베이징'],
  ],
  ['Asia/Taipei', 'taipei', 'taipeh', 'taipéi', 'тайбэе', '台北', '臺北', '타이베이'],
  ['Asia/Seoul', 'seoul', 'séoul', 'seúl', 'сеуле', 'ソウル', '서울', '首尔', '首爾'],
  [
    'Asia/Singapore',
    ...['singapore', 'singapur', 'singapour', 'singapura', 'сингапуре'],
    ...['シンガポール', '싱가포르', '新加坡'],
  ],
  ['Asia/Kolkata', 'delhi', 'дели', 'デリー', '델리', '德里'],
  ['Asia/Dubai', 'dubai', 'dubaï', 'dubái', 'дубае', 'ドバイ', '두바이', '迪拜', '杜拜'],
  ['Europe/London', ...['london', 'londres', 'лондоне', 'ロンドン', '런던', '伦敦', '倫敦']],
  ['Europe/Berlin', 'berlin', 'berlín', 'berlim', 'берлине', 'ベルリン', '베를린', '柏林'],
  ['Europe/Paris', 'paris', 'parís', 'париже', 'パリ', '파리', '巴黎'],
  ['Europe/Madrid', 'madrid', 'madri', 'мадриде', 'マドリード', '마드리드', '马德里', '馬德里'],
  ['Europe/Rome', 'rome', 'rom', 'roma', 'риме', 'ローマ', '로마', '罗马', '羅馬'],
  [
    'Europe/Vienna',
    'vienna',
    'wien',
    'vienne',
    'viena',
    'вене',
    'ウィーン',
    '비엔나',
    '维也纳',
    '維也納',
  ],
  [
    'Europe/Zurich',
    ...['zurich', 'zürich', 'zúrich', 'zurique', 'цюрихе', 'チューリッヒ', '취리히'],
    ...['苏黎世', '蘇黎世'],
  ],
  [
    'Europe/Lisbon',
    'lisbon',
    'lissabon',
    'lisbonne',
    'lisboa',
    'лиссабоне',
    'リスボン',
    '리스본',
    '里斯本',
  ],
  [
    'Europe/Moscow',
    'moscow',
    'moskau',
    'moscou',
    'moscú',
    'москве',
    'モスクワ',
    '모스크바',
    '莫斯科',
  ],
  [
    'America/New_York',
    ...['new york', 'nueva york', 'nova york', 'nova iorque', 'нью-йорке'],
    ...['ニューヨーク', '뉴욕', '纽约', '紐約'],
  ],
  [
    'America/Los_Angeles',
    ...[
      'los angeles',
      'los ángeles',
      'лос-анджелесе',
      'ロサンゼルス',
      '로스앤젤레스',
      '洛杉矶',
      '洛杉磯',
    ],
    ...['san francisco', 'сан-франциско', 'サンフランシスコ', '샌프란시스코', '旧金山', '舊金山'],
  ],
  [
    'America/Mexico_City',
    ...['mexico city', 'mexiko-stadt', 'mexico', 'ciudad de méxico', 'cidade do méxico', 'мехико'],
    ...['メキシコシティ', '멕시코시티', '墨西哥城'],
  ],
  [
    'America/Sao_Paulo',
    ...['são paulo', 'sao paulo', 'сан-паулу', 'サンパウロ', '상파울루', '圣保罗', '聖保羅'],
  ],
  ['Australia/Sydney', 'sydney', 'sídney', 'сиднее', 'シドニー', '시드니', '悉尼', '雪梨'],
  ['UTC', 'utc'],
]

interface City {
  /** As in the message, but in English if a language declines it. */
  name: string
  timezone: string
}

/** Scripts in which a word has no spaces around it, or has a particle behind it. */
const IS_JOINED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u
const isLetter = (character: string | undefined): boolean => /\p{L}/u.test(character ?? '')

/** Where a text has the name as a word; -1 if nowhere. */
function placeOf(name: string, text: string): number {
  for (let at = text.indexOf(name); at >= 0; at = text.indexOf(name, at + 1))
    if (IS_JOINED.test(name) || !(isLetter(text[at - 1]) || isLetter(text[at + name.length])))
      return at
  return -1
}

/** The first known city of a message. */
export function cityIn(message: string): City | undefined {
  const text = message.toLowerCase()
  // Lower case can have another length (İ): then places in one are not those in the other.
  const shown = text.length === message.length ? message : text
  const found = CITIES.flatMap(([timezone, ...names]) =>
    names.map((name) => ({ at: placeOf(name, text), name, english: names[0] ?? name, timezone })),
  )
    .filter(({ at }) => at >= 0)
    .sort((one, other) => one.at - other.at || other.name.length - one.name.length)[0]
  if (found === undefined) return undefined
  const { at, name, english, timezone } = found
  // No service finds a declined name.
  const isDeclined = /\p{Script=Cyrillic}/u.test(name)
  return { name: isDeclined ? english : shown.slice(at, at + name.length), timezone }
}
