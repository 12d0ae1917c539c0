// The type of every language's texts: the keys of the English ones, with the language's plural forms.

type PluralForm = Intl.LDMLPluralRule

/**
 * The texts `English` in another language: the same keys, and for each text with a count (`…_one` and `…_other` in English)
 * one key per plural form of that language, as `Intl.PluralRules` names them.
 */
export type Translation<English, Forms extends PluralForm> = {
  readonly [Key in keyof English as Key extends `${infer Base}_one` | `${infer Base}_other`
    ? `${Base}_${Forms}`
    : Key]: English[Key] extends string ? string : Translation<English[Key], Forms>
}
