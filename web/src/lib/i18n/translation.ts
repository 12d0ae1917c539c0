// The shape that the texts of every language have: the keys of the English ones, with the language's own plural forms.

type PluralForm = Intl.LDMLPluralRule

/**
 * The texts `English` in another language: the same keys, and for each text with a number (`…_one` and `…_other` in English)
 * one per plural form of that language, as `Intl.PluralRules` names them.
 */
export type Translation<English, Forms extends PluralForm> = {
  readonly [Key in keyof English as Key extends `${infer Base}_one` | `${infer Base}_other`
    ? `${Base}_${Forms}`
    : Key]: English[Key] extends string ? string : Translation<English[Key], Forms>
}
