// How likely a text is in the languages that an encoding is used for, in bits: the fewer, the likelier.

/** The languages of an encoding: how many bits each of their characters costs, and how words are written. */
export interface Language {
  /** Bits of the characters that are not ASCII, by their UTF-16 code; 0 where `rareLetter` or `rareSymbol` counts. */
  readonly bits: Float32Array
  /**
   * `accents`: single letters between ASCII letters. `alphabet`: whole words without ASCII letters. `ideographs`: no words at
   * all, and rarely next to ASCII letters.
   */
  readonly writing: 'accents' | 'alphabet' | 'ideographs'
  /** Bits of a letter and of another character that `bits` does not name. */
  readonly rareLetter: number
  readonly rareSymbol: number
}

const ASCII_BITS = 5
const CONTROL_BITS = 30
const PRIVATE_BITS = 25
/** A character that the decoder replaced. In UTF-8, where the other characters prove the encoding, it counts less. */
const REPLACED_BITS = 40
const REPLACED_UTF8_BITS = 20
const UTF8_CHARACTER_BITS = 6
/** What is unusual next to each other: each costs this many bits. */
const UNUSUAL = {
  ideographBesideLetter: 5,
  accentBesideAccent: 3,
  mixedAlphabets: 6,
  capitalAfterSmall: 5,
  symbolInWord: 8,
  finalInWord: 8,
} as const

/** Bits of a text in UTF-8, which proves itself: random bytes are almost never valid. */
export function bitsAsUtf8(text: string): number {
  let bits = 0
  for (const character of text)
    bits +=
      character === '\ufffd'
        ? REPLACED_UTF8_BITS
        : character < '\x80'
          ? bitsOfAscii(character)
          : UTF8_CHARACTER_BITS
  return bits
}

const bitsOfAscii = (character: string): number =>
  character >= ' ' || character === '\n' || character === '\t' || character === '\r'
    ? ASCII_BITS
    : CONTROL_BITS

const LETTER = /\p{L}/u
const CAPITAL = /\p{Lu}/u
const SMALL = /\p{Ll}/u
/** Forms that Hebrew letters have only at the end of a word. */
const FINALS = new Set('םןךףץ')
/** Between the letters of a word, but no letters. */
const JOINERS = new Set(['’', '‘', '\u00ad', '·', 'ー'])

/** Bits of a text that was decoded from one of the encodings of the language. Stops counting above `limit`. */
export function bitsOf(text: string, language: Language, limit = Number.POSITIVE_INFINITY): number {
  let bits = 0
  let before = ' '
  let beforeThat = ' '
  for (const character of text) {
    bits += character < '\x80' ? bitsOfAscii(character) : bitsOfOther(character, language)
    bits += bitsOfNeighbours(beforeThat, before, character, language)
    beforeThat = before
    before = character
    if (bits > limit) break
  }
  return bits
}

function bitsOfOther(character: string, language: Language): number {
  const known = language.bits[character.codePointAt(0) ?? 0] ?? 0
  if (known !== 0) return known
  if (character === '\ufffd') return REPLACED_BITS
  if (/\p{Cc}/u.test(character)) return CONTROL_BITS
  if (/[\p{Co}\p{Cn}]/u.test(character)) return PRIVATE_BITS
  return LETTER.test(character) ? language.rareLetter : language.rareSymbol
}

function bitsOfNeighbours(
  beforeThat: string,
  before: string,
  character: string,
  { writing }: Language,
): number {
  const isAscii = character < '\x80'
  const wasAscii = before < '\x80'
  if (isAscii && wasAscii) return 0
  const isLetter = LETTER.test(character)
  const wasLetter = LETTER.test(before)
  if (writing === 'ideographs')
    return isLetter && wasLetter && isAscii !== wasAscii ? UNUSUAL.ideographBesideLetter : 0
  // A symbol is only known to be in a word when the letter after it is seen.
  if (isLetter && !wasLetter && !wasAscii && LETTER.test(beforeThat) && !JOINERS.has(before))
    return UNUSUAL.symbolInWord
  if (!isLetter || !wasLetter) return 0
  return (
    (SMALL.test(before) && CAPITAL.test(character) ? UNUSUAL.capitalAfterSmall : 0) +
    (FINALS.has(before) ? UNUSUAL.finalInWord : 0) +
    (writing === 'accents'
      ? isAscii || wasAscii
        ? 0
        : UNUSUAL.accentBesideAccent
      : isAscii !== wasAscii
        ? UNUSUAL.mixedAlphabets
        : 0)
  )
}

const CODES = 0x10000

/** Each entry is a text whose characters cost that many bits. The first entry of a character counts. */
function bitsFrom(
  ...tiers: readonly (readonly [bits: number, characters: string])[]
): Float32Array {
  const bits = new Float32Array(CODES)
  for (const [cost, characters] of tiers)
    for (let index = 0; index < characters.length; index += 1) {
      const code = characters.charCodeAt(index)
      if (code >= 0x80 && bits[code] === 0) bits[code] = cost
    }
  return bits
}

/** Capitals of the letters cost `extra` more bits than the small ones. */
function withCapitals(bits: Float32Array, extra: number): Float32Array {
  for (const [code, cost] of bits.entries()) {
    if (cost === 0) continue
    const capital = String.fromCharCode(code).toUpperCase()
    const capitalCode = capital.charCodeAt(0)
    if (capital.length === 1 && bits[capitalCode] === 0) bits[capitalCode] = cost + extra
  }
  return bits
}

/** The characters of the rows of a double-byte encoding, such as its first level, which holds the characters of daily use. */
function rows(
  encoding: string,
  [firstRow, lastRow]: readonly [number, number],
  [firstCell, lastCell]: readonly [number, number],
): string {
  const bytes: number[] = []
  for (let row = firstRow; row <= lastRow; row += 1)
    for (let cell = firstCell; cell <= lastCell; cell += 1) bytes.push(row, cell)
  return new TextDecoder(encoding).decode(Uint8Array.from(bytes)).replaceAll('\ufffd', '')
}

const WESTERN_SIGNS = '“”‘’–—…€£§°«»¿¡\u00a0„™©®•·‚'
const CYRILLIC_SIGNS = '«»—–№“”„…\u00a0•’‘°§€©'
const IDEOGRAPHIC_SIGNS = '，。、：；？！（）“”‘’《》「」『』【】—…・〜～％'
const FULL_WIDTH =
  '０１２３４５６７８９ＡＢＣＤＥＦＧＨＩＪＫＬＭＮＯＰＱＲＳＴＵＶＷＸＹＺ\u3000×①②③④⑤⑥⑦⑧⑨⑩○●◎△▲□■☆★→←↑↓※℃￥'

/** The most frequent characters first, as frequency lists of each language agree. */
const SIMPLIFIED =
  '的一是不了在人有我他这个们中来上大为和国地到以说时要就出会可也你对生能而子那得于着下自之年过发后作里用道行所然家种事成方多经么去法学如都同现当没动面起看定天分还进好小部其些主样理心她本前开但因只从想实日军者意无力它与长把机十民第公此已工使情明性知全三又关点正业外将两高间由问很最重并物手应战向头文体政美相见被利什二等产或新己制身果加西斯月话合回特代内信表化老给世位次度门任常先海通教儿原东声提立及比员解水名真论处走义各入几口认条平系气题活尔更别打女变四神总何电数安少报才结反受目太量再感建务做接必场件计管期市直德资命山金指克许统区保至队形社便空决治展马科司五基眼书非则听白却界达光放强即像难且权思王象完设式色路记南品住告类求据程北边死张该交规万取拉格望觉术领共确传师观清今切院让识候带导争运'
/** Frequent in tables, forms and programs, where a single word must tell the encoding. */
const SIMPLIFIED_TERMS =
  '登录密码客户编辑版备注订单按钮菜释称址邮箱额价述置配查询删修添存消返搜索载印错误警测试束姓龄薪城京州项票银账付库仓递函循环符串组服器网站页链图片视频音键盘屏幕窗框列选择复粘贴剪撤销帮助退册验证限角审批附签章职岗考勤假休迟排课级绩采购售供输货款税率折扣优惠券余欠贷润预算凭汇币尺寸颜材质包装序约违责联络聊群送抄草稿垃圾归档读未写引构型调默异步线池栈块锁端协议域缓'
const TRADITIONAL =
  '的一是不了在人有我他這個們中來上大為和國地到以說時要就出會可也你對生能而子那得於著下自之年過發後作裡用道行所然家種事成方多經麼去法學如都同現當沒動面起看定天分還進好小部其些主樣理心她本前開但因只從想實日軍者意無力它與長把機十民第公此已工使情明性知全三又關點正業外將兩高間由問很最重並物手應戰向頭文體政美相見被利什二等產或新己制身果加西斯月話合回特代內信表化老給世位次度門任常先海通教兒原東聲提立及比員解水名真論處走義各入幾口認條平系氣題活爾更別打女變四神總何電數安少報才結反受目太量再感建務做接必場件計管期市直德資命山金指克許統區保至隊形社便空決治展馬科司五基眼書非則聽白卻界達光放強即像難且權思王象完設式色路記南品住告類求據程北邊死張該交規萬取議錄紀單灣臺台請謝'
const KANJI =
  '日一国会人年大十二本中長出三同時政事自行社見月分議後前民生連五発間対上部東者党地合市業内相方四定今回新場金員九入選立開手米力学問高代明実円関決子動京全目表戦経通外最言氏現理調体化田当八六約主題下首意法不来作性的要用制治度務強気小七成期公野協取都和統以機平総加山思家話世受区領多県続進正安設保改数記院女初北午指権心界支第産結百派点教報済書府活原先共得解名交資予川向際査勝面委告軍文反元重近千考判認画海参売利組知案道信策集在件団別物側任引使求所次水半品昨論計死官増係感特情投示変打男基私各始島直両朝革価式確村提運終挙果西勢減台広容必応演電歳住争談能無再位置企真流格有疑口過局少放税検藤町常校料沢裁状工建語球営空職証土与急止送援供可役構木割聞身費付施切由説転食比'
const SYLLABLES =
  '이다는을가에의하고은지한로를기사도서자시나리어대인그아정스있라부니해수들과으일만전주게보제구장상것여원면세공었적동안성오비신관모음우경마국치저조유소했학생되중위연며선와실드트때분문당말무내물요재방등금용업계산민교회년월입출명길홍김박최'

/** Counts only the first characters of a frequency list as most frequent. */
const MOST_FREQUENT = 100

const split = (list: string): readonly [most: string, often: string] => [
  list.slice(0, MOST_FREQUENT),
  list.slice(MOST_FREQUENT),
]

const ideographs = (bits: Float32Array): Language => ({
  bits,
  writing: 'ideographs',
  rareLetter: 22,
  rareSymbol: 14,
})

/** Builds each language when it is first needed: the tables of the East Asian ones take some milliseconds. */
function once<T>(build: () => T): () => T {
  let built: { value: T } | undefined
  return () => {
    built ??= { value: build() }
    return built.value
  }
}

/** The languages of the usual encodings. */
export const LANGUAGES = {
  western: once(
    (): Language => ({
      bits: withCapitals(
        bitsFrom(
          [6, 'é'],
          [6.5, 'èàáíóüäöñçß'],
          [7, 'åøæ'],
          [7.5, 'úãêâ'],
          [8, 'õôî' + WESTERN_SIGNS],
          [9, 'ìòùûëï½'],
          [10, '¼¾±×²³µº'],
          [11, 'œšž'],
          [12, 'ðþýÿ'],
        ),
        3,
      ),
      writing: 'accents',
      rareLetter: 14,
      rareSymbol: 13,
    }),
  ),
  turkish: once(
    (): Language => ({
      bits: bitsFrom([6.5, 'ıüşğçöİ'], [9, 'ŞĞÇÖÜâîû' + WESTERN_SIGNS], [12, 'éèàáíóäñß']),
      writing: 'accents',
      rareLetter: 15,
      rareSymbol: 13,
    }),
  ),
  central: once(
    (): Language => ({
      bits: withCapitals(
        bitsFrom(
          [6.5, 'áéíóöüąęłśżćńěščžőű'],
          [7, 'řýůú'],
          [8, 'źťďňăâîşţäß' + WESTERN_SIGNS],
          [9.5, 'đôľ'],
          [11, 'ĺŕ'],
        ),
        3,
      ),
      writing: 'accents',
      rareLetter: 14,
      rareSymbol: 13,
    }),
  ),
  baltic: once(
    (): Language => ({
      bits: withCapitals(bitsFrom([7, 'ąčęėįšųūžāēģīķļņõäöü'], [8, WESTERN_SIGNS]), 3),
      writing: 'accents',
      rareLetter: 14,
      rareSymbol: 13,
    }),
  ),
  cyrillic: once(
    (): Language => ({
      bits: withCapitals(
        bitsFrom(
          [3.7, 'оеаин'],
          [4.3, 'тсрвл'],
          [5, 'кмдпу'],
          [6, 'яыьгзбчй'],
          [7.2, 'хжшюцщэф'],
          [9, 'ёіїєґъ' + CYRILLIC_SIGNS],
          [10, 'ўјљњћђџ'],
        ),
        0.7,
      ),
      writing: 'alphabet',
      rareLetter: 15,
      rareSymbol: 14,
    }),
  ),
  greek: once(
    (): Language => ({
      bits: withCapitals(
        bitsFrom(
          [3.8, 'αοιετσν'],
          [4.8, 'ηυρπκμλς'],
          [6, 'ωδγόίάέή'],
          [7.5, 'θχφβύώξζψ'],
          [9, 'ϊϋΐΰ' + CYRILLIC_SIGNS],
        ),
        2,
      ),
      writing: 'alphabet',
      rareLetter: 15,
      rareSymbol: 14,
    }),
  ),
  hebrew: once(
    (): Language => ({
      bits: bitsFrom(
        // Every fourth word or so ends with a final form.
        [3.2, 'םן'],
        [3.6, 'יוהל'],
        [4.2, 'אר'],
        [4.6, 'תבמשנ'],
        [5.2, 'ךףץ'],
        [5.4, 'דעקחפכ'],
        [6, 'גטסזצ״׳'],
        [9, CYRILLIC_SIGNS],
      ),
      writing: 'alphabet',
      rareLetter: 15,
      rareSymbol: 14,
    }),
  ),
  arabic: once(
    (): Language => ({
      bits: bitsFrom(
        [3.5, 'ال'],
        [4.4, 'يمنورت'],
        [5.2, 'بعدهسفكقةح'],
        [6.4, 'أجشصخىط'],
        [8, 'ذضثزغظئإءآؤ،؟؛ـ'],
        [9, CYRILLIC_SIGNS],
      ),
      writing: 'alphabet',
      rareLetter: 15,
      rareSymbol: 14,
    }),
  ),
  thai: once(
    (): Language => ({
      bits: bitsFrom(
        [4.8, 'านรอกเงม่้ยลวด'],
        [6.2, 'ทสตะปบคหแจพชขใไัิีุูื์ำึ'],
        [8, 'โผถซณฟศธษญฉภฐฏฎฬฮฤๆฯ็๋๊ํ'],
        [9, '๐๑๒๓๔๕๖๗๘๙' + CYRILLIC_SIGNS],
      ),
      writing: 'alphabet',
      rareLetter: 15,
      rareSymbol: 14,
    }),
  ),
  simplified: once(() => {
    const [most, often] = split(SIMPLIFIED)
    return ideographs(
      bitsFrom(
        [6, IDEOGRAPHIC_SIGNS],
        [7.5, most],
        [9.5, often + SIMPLIFIED_TERMS],
        [10.5, FULL_WIDTH],
        // GB 2312: level 1 in rows 16 to 55, level 2 in rows 56 to 87.
        [13.3, rows('gb18030', [0xb0, 0xd7], [0xa1, 0xfe])],
        [18, rows('gb18030', [0xd8, 0xf7], [0xa1, 0xfe])],
      ),
    )
  }),
  traditional: once(() => {
    const [most, often] = split(TRADITIONAL)
    return ideographs(
      bitsFrom(
        [6, IDEOGRAPHIC_SIGNS],
        [7.5, most],
        [9.5, often],
        [10.5, FULL_WIDTH],
        // Big5: level 1 in rows A4 to C6, level 2 in rows C9 to F9.
        [13.6, rows('big5', [0xa4, 0xc6], [0x40, 0x7e]) + rows('big5', [0xa4, 0xc6], [0xa1, 0xfe])],
        [19, rows('big5', [0xc9, 0xf9], [0x40, 0x7e]) + rows('big5', [0xc9, 0xf9], [0xa1, 0xfe])],
      ),
    )
  }),
  japanese: once(() => {
    const [most, often] = split(KANJI)
    return ideographs(
      bitsFrom(
        [6, IDEOGRAPHIC_SIGNS + 'のにはをたがでとしるれいなてさっかもらすありこまだ'],
        [
          7.5,
          'うくきつけよそせどえおわやみめちじべげびぶぎぐござずぜぞづねばひふへほぼむゃゅょろんゆ',
        ],
        [8.5, 'ーンスルトリアイドクラレタロフテコシジマサプバム'],
        [
          9.5,
          'ァィウェエォオカガキギグケゲゴザズセゼソゾダチッツデナニヌネノハパヒビピブヘベペホボポミメモャヤュユョヨワヴ',
        ],
        [9, most],
        [10, often],
        [10.5, FULL_WIDTH],
        [10, 'ｱｲｳｴｵｶｷｸｹｺｻｼｽｾｿﾀﾁﾂﾃﾄﾅﾆﾇﾈﾉﾊﾋﾌﾍﾎﾏﾐﾑﾒﾓﾔﾕﾖﾗﾘﾙﾚﾛﾜｦﾝﾞﾟｰｯｬｭｮ｡｢｣､･ｧｨｩｪｫ'],
        // JIS X 0208: level 1 in rows 16 to 47, level 2 in rows 48 to 84.
        [13.8, rows('euc-jp', [0xb0, 0xcf], [0xa1, 0xfe])],
        [19, rows('euc-jp', [0xd0, 0xf4], [0xa1, 0xfe])],
      ),
    )
  }),
  korean: once(() => {
    const [most, often] = split(SYLLABLES)
    return ideographs(
      bitsFrom(
        [7, most],
        [8.5, often],
        [9, IDEOGRAPHIC_SIGNS],
        [11, FULL_WIDTH],
        // KS X 1001: syllables in rows 16 to 40, Chinese characters in rows 42 to 93.
        [12.6, rows('euc-kr', [0xb0, 0xc8], [0xa1, 0xfe])],
        [19, rows('euc-kr', [0xca, 0xfd], [0xa1, 0xfe])],
      ),
    )
  }),
  /** Everything that UTF-16 is used for: each character costs as much as in the language that uses it most. */
  any: once((): Language => {
    const tables = [
      LANGUAGES.western,
      LANGUAGES.central,
      LANGUAGES.cyrillic,
      LANGUAGES.greek,
      LANGUAGES.simplified,
      LANGUAGES.traditional,
      LANGUAGES.japanese,
      LANGUAGES.korean,
    ].map((build: () => Language) => build().bits)
    const bits = new Float32Array(CODES)
    for (const table of tables)
      for (let code = 0; code < CODES; code += 1) {
        const cost = table[code] ?? 0
        const least = bits[code] ?? 0
        if (cost !== 0 && (least === 0 || cost + 1 < least)) bits[code] = cost + 1
      }
    return { ...ideographs(bits), rareLetter: 20 }
  }),
} as const
