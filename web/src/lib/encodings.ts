// The encodings of text files that a person can choose, with the languages they are used for, in those languages.

/** The names as in the Encoding Standard, the most usual first. */
const ENCODINGS: readonly { value: string; label: string }[] = [
  { value: 'utf-8', label: 'UTF-8' },
  { value: 'utf-16le', label: 'UTF-16 LE' },
  { value: 'utf-16be', label: 'UTF-16 BE' },
  { value: 'windows-1252', label: 'Windows-1252 · English, Deutsch, Français, Español' },
  { value: 'gb18030', label: 'GB18030, GBK · 简体中文' },
  { value: 'big5', label: 'Big5 · 繁體中文' },
  { value: 'shift_jis', label: 'Shift_JIS · 日本語' },
  { value: 'euc-jp', label: 'EUC-JP · 日本語' },
  { value: 'iso-2022-jp', label: 'ISO-2022-JP · 日本語' },
  { value: 'euc-kr', label: 'EUC-KR · 한국어' },
  { value: 'windows-1251', label: 'Windows-1251 · Русский, Українська, Български' },
  { value: 'koi8-u', label: 'KOI8-U · Русский, Українська' },
  { value: 'ibm866', label: 'IBM866 · Русский' },
  { value: 'iso-8859-5', label: 'ISO-8859-5 · Русский' },
  { value: 'x-mac-cyrillic', label: 'Mac Cyrillic · Русский, Українська' },
  { value: 'windows-1250', label: 'Windows-1250 · Polski, Čeština, Magyar' },
  { value: 'iso-8859-2', label: 'ISO-8859-2 · Polski, Čeština, Magyar' },
  { value: 'windows-1253', label: 'Windows-1253 · Ελληνικά' },
  { value: 'iso-8859-7', label: 'ISO-8859-7 · Ελληνικά' },
  { value: 'windows-1254', label: 'Windows-1254 · Türkçe' },
  { value: 'windows-1255', label: 'Windows-1255 · עברית' },
  { value: 'windows-1256', label: 'Windows-1256 · العربية' },
  { value: 'windows-1257', label: 'Windows-1257 · Eesti, Latviešu, Lietuvių' },
  { value: 'windows-1258', label: 'Windows-1258 · Tiếng Việt' },
  { value: 'windows-874', label: 'Windows-874 · ไทย' },
  { value: 'iso-8859-15', label: 'ISO-8859-15 · Français, Suomi' },
  { value: 'macintosh', label: 'Mac Roman' },
]

/** The name of an encoding for people, without its languages. */
export const encodingName = (name: string): string =>
  ENCODINGS.find(({ value }) => value === name)?.label.split(' · ')[0] ?? name.toUpperCase()

/** Whether a text may have been read in the wrong encoding. */
export const hasEncodingChoice = (encoding: string, text: string): boolean =>
  encoding !== 'utf-8' || text.includes('\ufffd')

/** The encodings to choose from, including the one in use. */
export const encodingsWith = (name: string): readonly { value: string; label: string }[] =>
  ENCODINGS.some(({ value }) => value === name)
    ? ENCODINGS
    : [{ value: name, label: name.toUpperCase() }, ...ENCODINGS]
