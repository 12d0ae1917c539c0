// Text as a person must see it before approving a call: invisible and reordering characters are escaped.

/** Control and format characters (bidirectional ones among them), fillers, variation selectors, lone carriage returns. */
const HIDDEN =
  /(?!\ufe0f)\p{Default_Ignorable_Code_Point}|(?![\t\n\r])\p{Cc}|\p{Cf}|\p{Zl}|\p{Zp}|\u2800|\r(?!\n)/gu
/** A zero-width joiner between two of these forms a combined emoji and hides nothing. */
const PICTURE = /\p{Extended_Pictographic}/u

/** Hidden characters are escaped as in JSON (`\u202e`), so that JSON text keeps its value. */
export const visibleText = (text: string): string =>
  text.replace(HIDDEN, (character, offset: number) => {
    const before = text.slice(Math.max(0, offset - 3), offset)
    const after = text.slice(offset + 1, offset + 3)
    if (character === '\u200d' && PICTURE.test(before) && PICTURE.test(after)) return character
    return [...Array(character.length).keys()]
      .map((index) => `\\u${character.charCodeAt(index).toString(16).padStart(4, '0')}`)
      .join('')
  })

/** Escapes hidden characters in every string within a JSON value. */
export function visibleValue<Value>(value: Value): Value {
  return JSON.parse(JSON.stringify(value), (_key, inner: unknown) =>
    typeof inner === 'string' ? visibleText(inner) : inner,
  ) as Value // the reviver replaces strings with strings and does not change the structure
}
